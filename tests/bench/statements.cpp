#include "statements.hpp"

#include "figure.hpp"

#include "db/programs.hpp"
#include "tests/support/program.hpp"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <map>
#include <regex>
#include <thread>

namespace svc::bench {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

/// What the literal says whose first quote is at `at`, which is then its last.
std::string read_literal(std::string_view text, std::size_t& at) {
    std::string value;
    while (++at < text.size()) {
        if (text[at] == '\'') {
            if (at + 1 >= text.size() || text[at + 1] != '\'') break;
            ++at;
        }
        value += text[at];
    }
    return value;
}

/// "$1 = 'it''s', $2 = NULL" as values.
std::vector<std::optional<std::string>> read_parameters(std::string_view detail) {
    std::vector<std::optional<std::string>> out;
    for (std::size_t at = 0; (at = detail.find(" = ", at)) != std::string_view::npos;) {
        at += 3;
        if (detail[at] != '\'') {
            out.emplace_back(std::nullopt);
            continue;
        }
        out.emplace_back(read_literal(detail, at));
    }
    return out;
}

/// Calls `each(line, message)` for what stands in the log between the marks of a recording.
template <class Each>
void read_lines(const test::Postgres& postgres, const std::string& marker, Each each_line) {
    const fs::path folder = fs::path(postgres.run("SHOW data_directory")) / "recorded";
    bool recording = false;
    std::vector<fs::path> files;
    for (const auto& each : fs::directory_iterator(folder))
        if (each.path().extension() == ".json") files.push_back(each.path());
    std::ranges::sort(files);
    for (const auto& file : files) {
        const auto text = test::read_file(file);
        for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos;
             at = end + 1) {
            boost::json::error_code problem;
            const auto line = boost::json::parse(text.substr(at, end - at), problem);
            const auto* message = problem ? nullptr : line.as_object().if_contains("message");
            if (!message) continue;
            const std::string said(message->as_string());
            if (said.find("begin " + marker) != std::string::npos) recording = true;
            if (said.find("end " + marker) != std::string::npos) recording = false;
            if (recording) each_line(line.as_object(), said);
        }
    }
}

/// Has PostgreSQL log so while `work` runs; the marker of what it logged.
std::string with_setting(
    const test::Postgres& postgres,
    const std::string& name,
    const std::string& value,
    const std::function<void()>& work
) {
    static int count = 0;
    const auto marker = "recording " + std::to_string(++count) + ".";
    const auto settle = [] { std::this_thread::sleep_for(std::chrono::milliseconds(300)); };
    const auto mark = [&](const char* what) {
        postgres.run("DO $$ BEGIN RAISE LOG '" + std::string(what) + " " + marker + "'; END $$");
    };
    postgres.run("ALTER SYSTEM SET " + name + " = '" + value + "'");
    postgres.run("SELECT pg_reload_conf()");
    settle();  // every backend has read it
    mark("begin");
    work();
    mark("end");
    postgres.run("ALTER SYSTEM RESET " + name);
    postgres.run("SELECT pg_reload_conf()");
    settle();  // the collector has written it
    return marker;
}

bool begins(const std::string& text) { return text.starts_with("BEGIN"); }
bool commits(const std::string& text) { return text.starts_with("COMMIT"); }

/// As an escape string in which pgbench finds no variable of its own.
std::string literal(const std::string& value) {
    std::string out = "E'";
    for (const char c : value) {
        if (c == '\'') out += "''";
        else if (c == '\\') out += "\\\\";
        else if (c == ':') out += "\\x3a";
        else out += c;
    }
    return out + "'";
}

/// Values that change from run to run get a variable each; the rest are constants.
class Variables {
public:
    std::string value(
        const std::optional<std::string>& once, const std::optional<std::string>& again
    ) {
        if (!once) return "NULL";
        if (const auto known = known_.find(*once); known != known_.end()) return known->second;
        if (is_list(*once) && again && is_list(*again)) return list(*once, *again);
        if (once == again) return literal(*once);
        static const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
        );
        static const std::regex number("[0-9]+");
        static const std::regex bytes(R"(\\x[0-9a-f]{32,})");
        // Digits are hexadecimal digits too, and nineteen of them are a pgbench number.
        if (std::regex_match(*once, uuid))
            return fmt::format("('0192000000007'||:{})::uuid", name(*once));
        if (std::regex_match(*once, number))  // of a card on its board
            return fmt::format("(:{})::bigint", name(*once));
        static const std::regex place("[0-9A-Za-z]{8}");
        if (again && std::regex_match(*once, place) && std::regex_match(*again, place))
            return last_place_by_time();
        if (std::regex_match(*once, bytes))
            return fmt::format(
                "('\\x'||repeat('0',{})||:{})::bytea", once->size() - 2 - 19, name(*once)
            );
        return literal(*once);
    }
    void know(const std::string& value, std::string expression) {
        known_[value] = std::move(expression);
    }
    std::string definitions() const {
        std::string out;
        for (const auto& [value, name] : names_)
            out += "\\set " + name + " random(1000000000000000000, 9223372036854775806)\n";
        return out;
    }

    /// Whether the parameter is the value, or a list with it.
    static bool names(const std::string& parameter, const std::string& value) {
        return is_list(parameter) ? std::ranges::count(elements(parameter), value) > 0
                                  : parameter == value;
    }

private:
    /// Of ids, digests, numbers or places, as PostgreSQL writes an array.
    static bool is_list(const std::string& value) {
        static const std::regex list(
            R"-(\{("?([0-9a-f-]{36}|\\\\x[0-9a-f]+|[0-9]+|[0-9A-Za-z]{8})"?,?)+\})-"
        );
        return std::regex_match(value, list);
    }
    /// As OrderKey::last_by_time(): behind all that were made before. Cards that were to come before
    /// others would not be created.
    static std::string last_place_by_time() {
        return R"((SELECT string_agg(substr(
            '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
            ((109170052792449 + (extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 64 / 1000
                - 113102438400000) / digit % 62 + 1)::int, 1), '' ORDER BY digit DESC)
            FROM unnest('{3521614606208,56800235584,916132832,14776336,238328,3844,62,1}'::bigint[]) digit))";
    }
    static std::vector<std::string> elements(const std::string& list) {
        static const std::regex element(R"-([^{},"\\]+)-");
        std::vector<std::string> out;
        for (std::sregex_iterator each(list.begin(), list.end(), element), end; each != end; ++each)
            out.push_back(each->str().starts_with('x') ? '\\' + each->str() : each->str());
        return out;
    }
    std::string list(const std::string& once, const std::string& again) {
        const auto values = elements(once), others = elements(again);
        std::string out = "ARRAY[";
        for (std::size_t i = 0; i < values.size(); ++i)
            out += (i ? "," : "") + value(values[i], i < others.size() ? others[i] : values[i]);
        return out + "]";
    }
    const std::string& name(const std::string& value) {
        auto& found = names_[value];
        if (found.empty()) found = "v" + std::to_string(names_.size());
        return found;
    }
    std::map<std::string, std::string> names_, known_;
};

/// Copies the literal so that pgbench finds no variable in it; `at` as for read_literal().
void copy_literal(const std::string& text, std::size_t& at, std::string& out) {
    const auto begin = at;
    const bool escapes = begin > 0 && (text[begin - 1] == 'E' || text[begin - 1] == 'e');
    const std::string value = read_literal(text, at);
    if (value.find(':') == value.npos) out.append(text, begin, at + 1 - begin);
    else if (escapes) throw std::runtime_error("a colon in an escape string: " + value);
    else out += literal(value);
}

std::string filled_in(const Logged& once, const Logged& again, Variables& variables) {
    std::string out;
    const auto& text = once.text;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\'') {
            copy_literal(text, at, out);
            continue;
        }
        if (text[at] != '$' || at + 1 >= text.size() || !std::isdigit(text[at + 1])) {
            out += text[at];
            continue;
        }
        std::size_t number = 0;
        while (at + 1 < text.size() && std::isdigit(text[at + 1]))
            number = number * 10 + static_cast<std::size_t>(text[++at] - '0');
        out += variables.value(once.parameters.at(number - 1), again.parameters.at(number - 1));
    }
    return out;
}

/// Each client prepares each script's statements when it first comes to them, which takes seconds;
/// the server it is compared with has done so before.
constexpr int warming_seconds = 6;

std::vector<double> rates_of_seconds(const std::string& output) {
    static const std::regex progress(R"(progress: [\d.]+ s, ([\d.]+) tps)");
    std::vector<double> out;
    for (std::sregex_iterator each(output.begin(), output.end(), progress), end; each != end;
         ++each)
        out.push_back(std::stod((*each)[1]));
    return out;
}

/// From here on the value is taken from a setting of the transaction's.
std::string asking_for(const Found& found, Variables& variables) {
    const Logged query{.text = found.query, .parameters = {found.by}};
    const Logged other{.text = found.query, .parameters = {std::string()}};
    const auto filled = filled_in(query, other, variables);
    variables.know(found.value, "current_setting('bench.found')::" + found.type);
    return "SELECT set_config('bench.found', (" + filled + ")::text, true)";
}

}  // namespace

std::vector<std::string> recording_settings() {
    return {
        "logging_collector=on",
        "log_destination=jsonlog",
        "log_directory=recorded",
        "log_filename=all.log",
        "log_rotation_size=0",
        "log_rotation_age=0"};
}

std::vector<Logged> record(const test::Postgres& postgres, const std::function<void()>& work) {
    std::vector<Logged> out;
    const auto marker = with_setting(postgres, "log_statement", "all", work);
    read_lines(postgres, marker, [&](const json::object& line, const std::string& said) {
        if (!said.starts_with("execute ") && !said.starts_with("statement: ")) return;
        Logged logged;
        logged.pid = line.at("pid").to_number<long>();
        logged.text = said.substr(said.find(": ") + 2);
        if (const auto* detail = line.if_contains("detail"))
            logged.parameters = read_parameters(std::string(detail->as_string()));
        out.push_back(std::move(logged));
    });
    return out;
}

std::vector<Slow> slower_than(
    const test::Postgres& postgres,
    std::chrono::milliseconds least,
    const std::function<void()>& work
) {
    std::vector<Slow> out;
    const auto marker =
        with_setting(postgres, "log_min_duration_statement", std::to_string(least.count()), work);
    read_lines(postgres, marker, [&](const json::object&, const std::string& said) {
        static constexpr std::string_view begin = "duration: ";
        const auto text = said.find(": ", begin.size());
        if (!said.starts_with(begin) || text == said.npos || commits(said.substr(text + 2))) return;
        out.push_back({std::stod(said.substr(begin.size())), said.substr(text + 2)});
    });
    return out;
}

std::vector<std::vector<Logged>> transactions_with(
    const std::vector<Logged>& logged, const std::string& mark, const std::string& words
) {
    const auto marked = [&](const std::vector<Logged>& transaction) {
        const auto has_mark = [&](const Logged& each) {
            return std::ranges::any_of(each.parameters, [&](const auto& value) {
                return value && value->find(mark) != std::string::npos;
            });
        };
        const auto has_words = [&](const Logged& each) {
            return each.text.find(words) != std::string::npos;
        };
        return std::ranges::any_of(transaction, has_mark) &&
               std::ranges::any_of(transaction, has_words);
    };
    std::map<long, std::vector<Logged>> open;  // by connection
    std::vector<std::vector<Logged>> out;
    for (const auto& each : logged) {
        auto& transaction = open[each.pid];
        if (begins(each.text)) transaction.clear();
        transaction.push_back(each);
        if (!commits(each.text)) continue;
        if (begins(transaction.front().text) && marked(transaction)) out.push_back(transaction);
        transaction.clear();
    }
    return out;
}

std::string pgbench_script(
    const std::vector<std::vector<Logged>>& once,
    const std::vector<std::vector<Logged>>& again,
    const std::optional<Found>& found
) {
    Variables variables;
    std::string body;
    for (std::size_t t = 0; t < once.size(); ++t) {
        if (once[t].size() != again.at(t).size())
            throw std::runtime_error("the same work took other statements the second time");
        bool missing = found && t > 0;
        body += "\\startpipeline\n";
        for (std::size_t i = 0; i < once[t].size(); ++i) {
            const auto is_found = [&](const auto& each) {
                return each && Variables::names(*each, found->value);
            };
            if (missing && std::ranges::any_of(once[t][i].parameters, is_found)) {
                missing = false;
                body += asking_for(*found, variables) + ";\n";
            }
            body += filled_in(once[t][i], again[t][i], variables) + ";\n";
        }
        body += "\\endpipeline\n";
    }
    return variables.definitions() + body;
}

PgbenchRun pgbench(
    const std::string& url, const std::vector<fs::path>& scripts, int clients, double seconds
) {
    std::vector<std::string> command{
        "sh",
        "-c",
        // Plans are kept, as the server has it.
        R"(PGOPTIONS='-c plan_cache_mode=force_generic_plan' exec "$@" 2>&1)",
        "sh",
        db::postgres_programs() / "pgbench",
        "-n",
        "-M",
        "prepared",
        "-c",
        std::to_string(clients),
        "-j",
        "1",
        "-P",
        "1",
        "-T",
        std::to_string(warming_seconds + static_cast<int>(seconds))};
    for (const auto& script : scripts) command.insert(command.end(), {"-f", script.string()});
    command.push_back(url);
    const auto finished = test::run(command);
    std::smatch processed, failed;
    if (finished.code != 0 ||
        !std::regex_search(
            finished.output,
            processed,
            std::regex(R"(number of transactions actually processed: (\d+))")
        ) ||
        !std::regex_search(
            finished.output, failed, std::regex(R"(number of failed transactions: (\d+))")
        ) ||
        failed[1] != "0")
        throw std::runtime_error("pgbench did not go well:\n" + finished.output);
    const auto rates = rates_of_seconds(finished.output);
    if (rates.size() <= warming_seconds)
        throw std::runtime_error("pgbench told no rates:\n" + finished.output);
    return {median({rates.begin() + warming_seconds, rates.end()}), std::stod(processed[1])};
}

}  // namespace svc::bench
