#include "core/config.hpp"

#include <toml++/toml.h>
#include <boost/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace svc::core {

namespace {

json::value to_json(const toml::node& node) {
    if (const auto* text = node.as_string()) return json::string(text->get());
    if (const auto* number = node.as_integer()) return number->get();
    if (const auto* number = node.as_floating_point()) return number->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* list = node.as_array()) {
        json::array out;
        for (const auto& each : *list) out.push_back(to_json(each));
        return out;
    }
    if (const auto* table = node.as_table()) {
        json::object out;
        for (const auto& [key, value] : *table) out[key.str()] = to_json(value);
        return out;
    }
    return nullptr;
}

/// MAIL_FILE for "mail-file": how a section or key is spelled in the environment.
std::string shouted(std::string_view name) {
    std::string out(name);
    std::ranges::transform(out, out.begin(), [](unsigned char c) {
        return c == '-' ? '_' : static_cast<char>(std::toupper(c));
    });
    return out;
}

std::string variable_of(
    std::string_view section, std::string_view key, const char* between = "__"
) {
    return section.empty() ? shouted(key) : shouted(section) + between + shouted(key);
}

std::string dotted(std::string_view section, std::string_view key) {
    return section.empty() ? std::string(key) : std::string(section) + "." + std::string(key);
}

std::string first_message(const Reader& reader) {
    const auto issues = json::parse(reader.issues());
    return std::string(issues.at(0).at("msg").as_string());
}

}  // namespace

struct Config::Entry {
    json::value value;
    std::string origin;  // "config/workboard.toml:12", "WORKBOARD_SERVER__PORT" or "--set"
    bool text = false;   // from the environment or a flag: "25" may be a number
};

struct Config::Sections : std::map<std::string, Section, std::less<>> {};

Config::Config(const Sources& sources) : sections_(std::make_unique<Sections>()) {
    for (const std::string& pair : sources.environment) {
        const auto equals = pair.find('=');
        if (pair.starts_with("WORKBOARD_") && equals != std::string::npos)
            environment_[pair.substr(10, equals - 10)] = pair.substr(equals + 1);
    }
    for (const auto& [key, value] : sources.flags) flags_[key] = value;
    if (sources.file.empty()) return;
    for (const auto& each : files_of(sources.file)) read_file(each);
}

Config::Config(Config&&) noexcept = default;
Config::~Config() = default;

std::vector<std::filesystem::path> Config::files_of(const std::filesystem::path& file) {
    std::vector<std::filesystem::path> files;
    const auto extra = file.parent_path() / "conf.d";
    if (std::filesystem::is_directory(extra))
        for (const auto& each : std::filesystem::directory_iterator(extra))
            if (each.path().extension() == ".toml") files.push_back(each.path());
    std::ranges::sort(files);
    files.insert(files.begin(), file);
    return files;
}

void Config::read_file(const std::filesystem::path& file) {
    toml::table table;
    std::error_code hidden;
    if (!std::filesystem::exists(file, hidden))
        throw ConfigError("there is no config file " + file.string());
    if (!std::filesystem::is_regular_file(file, hidden) || !std::ifstream(file))
        throw ConfigError("cannot read the config file " + file.string());
    try {
        table = toml::parse_file(file.string());
    } catch (const toml::parse_error& problem) {
        throw ConfigError(
            file.string() + ":" + std::to_string(problem.source().begin.line) + ": " +
            std::string(problem.description())
        );
    }
    const auto keep = [&](std::string_view section, std::string_view key, const toml::node& node) {
        const auto line = std::to_string(node.source().begin.line);
        (*sections_)[std::string(section)].insert_or_assign(
            std::string(key), Entry{to_json(node), file.string() + ":" + line}
        );
    };
    for (const auto& [key, node] : table) {
        const auto* section = node.as_table();
        if (!section) {
            keep("", key.str(), node);
            continue;
        }
        (*sections_)[std::string(key.str())];
        for (const auto& [inner, value] : *section) keep(key.str(), inner.str(), value);
    }
}

void Config::apply_environment(std::string_view section, const Record& record, Section& entries) {
    const auto take =
        [&](auto& from, const std::string& name, const std::string& origin, const Field& field) {
            const auto found = from.find(name);
            if (found == from.end()) return;
            entries.insert_or_assign(
                std::string(field.name), Entry{json::string(found->second), origin, true}
            );
            from.erase(found);
        };
    for (const Field& field : record.fields) {
        const std::string variable = variable_of(section, field.name);
        take(environment_, variable, "WORKBOARD_" + variable, field);
        const std::string flag = dotted(section, field.name);
        take(flags_, flag, "--set " + flag, field);
    }
}

void Config::read_field(
    std::string_view section, const Field& field, const Entry& entry, void* out
) {
    json::value value = entry.value;
    const auto complain = [&](const std::string& why) {
        problems_.push_back(entry.origin + ": " + dotted(section, field.name) + ": " + why);
    };
    if (field.rules.secret && value.is_string() && value.get_string().starts_with("file:")) {
        const std::string path(std::string_view(value.get_string()).substr(5));
        std::error_code hidden;
        std::ifstream file(path);
        if (!file || std::filesystem::is_directory(path, hidden))
            return complain("cannot read the file " + path);
        std::string text(std::istreambuf_iterator<char>(file), {});
        while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
        if (text.empty()) return complain("there is nothing in the file " + path);
        value = text;
    }
    Reader reader;
    reader.loose = entry.text;
    reader.read_field(field, &value, out);
    if (!reader.clean() && entry.text && value.is_string()) {
        // A list in the environment or in a flag is written with commas, or as in the file.
        json::array list;
        const std::string text(value.get_string());
        boost::system::error_code unfit;
        if (text.starts_with('[')) {
            const auto written = json::parse(text, unfit);
            if (unfit || !written.is_array())
                return complain("a list is written as a,b or as [\"a\",\"b\"], not as " + text);
            list = written.get_array();
        } else
            for (std::size_t at = 0; at <= text.size();) {
                const auto comma = std::min(text.find(',', at), text.size());
                if (comma > at) list.emplace_back(text.substr(at, comma - at));
                at = comma + 1;
            }
        Reader again;
        again.loose = true;
        json::value as_list(std::move(list));
        again.read_field(field, &as_list, out);
        if (again.clean()) return;
    }
    if (!reader.clean()) complain(first_message(reader));
}

void Config::read(std::string_view section, const Record& record, void* out) {
    known_[std::string(section)] = &record;
    Section& entries = (*sections_)[std::string(section)];
    apply_environment(section, record, entries);
    for (const auto& [key, entry] : entries) {
        const Field* field = record.find(key);
        if (field) read_field(section, *field, entry, out);
        else
            problems_.push_back(
                entry.origin + ": " + dotted(section, key) + ": there is no such setting"
            );
    }
    auto& effective = effective_[std::string(section)];
    for (const Field& field : record.fields) {
        std::string text;
        field.codec->write(field.in(out), text);
        if (field.rules.secret && text != "\"\"") text = "\"(secret)\"";
        const auto entry = entries.find(field.name);
        effective[std::string(field.name)] = {
            std::move(text), entry == entries.end() ? "" : entry->second.origin};
    }
}

/// The variable that has two underscores where this one has one.
std::string Config::variable_meant_by(std::string_view name) const {
    for (const auto& [section, record] : known_)
        for (const Field& field : record->fields)
            if (!section.empty() && variable_of(section, field.name, "_") == name)
                return variable_of(section, field.name);
    return {};
}

void Config::ignore(std::string_view section) { ignored_.emplace(section); }

void Config::check() const {
    auto problems = problems_;
    for (const auto& [section, entries] : *sections_) {
        if (known_.contains(section) || ignored_.contains(section)) continue;
        const std::string origin = entries.empty() ? "config" : entries.begin()->second.origin;
        problems.push_back(origin + ": [" + section + "]: nothing of that name has settings");
    }
    for (const auto& [name, value] : environment_)
        if (name.find("__") != std::string::npos)
            problems.push_back("WORKBOARD_" + name + ": there is no such setting");
        else if (const auto meant = variable_meant_by(name); !meant.empty())
            problems.push_back("WORKBOARD_" + name + ": write WORKBOARD_" + meant);
    for (const auto& [name, value] : flags_)
        problems.push_back("--set " + name + ": there is no such setting");
    if (problems.empty()) return;
    std::string all;
    for (const auto& each : problems) all += (all.empty() ? "" : "\n") + each;
    throw ConfigError(all);
}

std::vector<std::string> Config::settings_of(std::string_view section) const {
    std::vector<std::string> names;
    if (const auto found = known_.find(section); found != known_.end())
        for (const Field& field : found->second->fields) names.emplace_back(field.name);
    return names;
}

std::string Config::reference() const {
    std::string out =
        "# The settings of Workboard. A line that begins with `# ` and a key shows the default; "
        "take\n"
        "# the `# ` away to set it. Files conf.d/*.toml beside this one are read after it, then\n"
        "# WORKBOARD_SECTION__KEY in the environment, then flags: later ones win. Lists are "
        "written\n"
        "# with commas there: WORKBOARD_MODULES=mail,orgs,auth or --set modules=mail,orgs,auth.\n"
        "# `workboard check-config` says what is in force or what is wrong.\n"
        "# A setting marked (secret) may be \"file:/path\", so that it stands in a file of its "
        "own.\n";
    for (const auto& [section, record] : known_) {
        if (!section.empty()) out += "\n[" + section + "]\n";
        for (const Field& field : record->fields) {
            std::string value;
            field.codec->write(field.in_const(record->blank()), value);
            ((out += "\n# ") += field.rules.doc) += field.rules.secret ? " (secret)\n# " : "\n# ";
            (out += field.name) += " = " + value + "\n";
        }
    }
    return out;
}

std::string Config::describe() const {
    std::string out;
    for (const auto& [section, settings] : effective_) {
        if (!section.empty()) out += "\n[" + section + "]\n";
        for (const auto& [key, setting] : settings) {
            out += key + " = " + setting.value;
            if (!setting.source.empty()) out += "  # " + setting.source;
            out += '\n';
        }
    }
    return out;
}

}  // namespace svc::core
