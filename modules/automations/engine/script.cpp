#include "modules/automations/engine/script.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace svc::automations {

namespace {

std::string read_source(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw std::runtime_error("script " + file.string() + ": cannot be read");
    std::string source(std::istreambuf_iterator<char>(stream), {});
    if (source.size() > longest_source)
        throw std::runtime_error(
            "script " + file.string() + ": is longer than " + std::to_string(longest_source) +
            " bytes"
        );
    return source;
}

std::runtime_error fault_at(const Script& script, std::int64_t line, const std::string& what) {
    return std::runtime_error("script " + script.name + ":" + std::to_string(line) + ": " + what);
}

}  // namespace

/// A name-based UUID (version 8 of RFC 9562): two FNV-1a hashes of the name.
Uuid script_id(std::string_view name) {
    std::array<std::uint8_t, 16> bytes{};
    for (std::size_t half = 0; half < 2; ++half) {
        std::uint64_t hash = 0xcbf2'9ce4'8422'2325 ^ (half * 0x9e37'79b9'7f4a'7c15);
        for (const unsigned char letter : name) hash = (hash ^ letter) * 0x0000'0100'0000'01b3;
        for (std::size_t i = 0; i < 8; ++i)
            bytes[half * 8 + i] = static_cast<std::uint8_t>(hash >> (56 - 8 * i));
    }
    bytes[6] = static_cast<std::uint8_t>(0x80 | (bytes[6] & 0x0F));
    bytes[8] = static_cast<std::uint8_t>(0x80 | (bytes[8] & 0x3F));
    return Uuid(bytes);
}

bool Script::binds_to(std::string_view when, std::string_view kind) const {
    return std::ranges::any_of(binds, [&](const Bind& bind) {
        return bind.when == when && kind_matches(bind.event, kind);
    });
}

Script load_script(const std::filesystem::path& file, const Sandbox& sandbox) {
    Script script;
    script.name = file.filename();
    script.id = script_id(script.name);
    script.source = read_source(file);
    script.digest = hex(sha256(script.source));
    Ended ended = sandbox.run({.mode = Mode::load, .name = script.name, .source = script.source});
    if (!ended.error.empty()) throw std::runtime_error("script " + ended.error);
    if (ended.binds.empty())
        throw std::runtime_error("script " + script.name + ": binds to no event");
    script.binds = std::move(ended.binds);
    script.operations = named_operations(script.source);
    return script;
}

void require_declared(const Script& script, const Declarations& declared) {
    constexpr const char* hint = " (is its module enabled?)";
    for (const auto& [when, event, line] : script.binds) {
        if (!declared.has_kind(event))
            throw fault_at(script, line, "unknown event kind " + event + hint);
        if (when == "before" && !declared.has_refusable_kind(event))
            throw fault_at(
                script, line, "nobody may refuse " + event + "; bind to it with svc.after"
            );
    }
    for (const auto& [name, line] : script.operations)
        if (!declared.has_operation(name))
            throw fault_at(script, line, "unknown operation " + name + hint);
}

std::vector<Script> load_scripts(
    const std::filesystem::path& folder,
    const std::vector<std::string>& names,
    const Sandbox& sandbox,
    const Declarations& declared
) {
    std::vector<Script> scripts;
    for (const std::string& name : names) {
        Script script = load_script(folder / name, sandbox);
        require_declared(script, declared);
        scripts.push_back(std::move(script));
    }
    std::ranges::sort(scripts, {}, &Script::name);
    const auto twice = std::ranges::adjacent_find(scripts, {}, &Script::name);
    if (twice != scripts.end())
        throw std::runtime_error("script " + twice->name + ": is listed twice");
    return scripts;
}

}  // namespace svc::automations
