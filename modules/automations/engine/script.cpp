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

// What `svc` has that is no operation.
constexpr std::string_view own_functions[]{
    "after", "before", "refuse", "log", "call", "list", "null"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

/// The names behind `svc.` in the text, each once. A guess, which is right for scripts as people
/// write them: what a comment names counts too, what is put together does not.
std::vector<std::string> operations_in(std::string_view source) {
    constexpr std::string_view mark = "svc.";
    std::vector<std::string> names;
    for (auto at = source.find(mark); at != source.npos; at = source.find(mark, at)) {
        const bool begins = at == 0 || !is_letter(source[at - 1]);
        at += mark.size();
        auto end = at;
        while (end < source.size() && is_letter(source[end])) ++end;
        const auto name = source.substr(at, end - at);
        if (!begins || name.empty() ||
            std::ranges::find(own_functions, name) != std::end(own_functions) ||
            std::ranges::find(names, name) != names.end())
            continue;
        names.emplace_back(name);
    }
    return names;
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
    script.operations = operations_in(script.source);
    return script;
}

std::string what_is_missing(const Script& script, const Declarations& declared) {
    for (const Bind& bind : script.binds)
        if (!declared.has_kind(bind.event)) return "unknown event kind " + bind.event;
    for (const std::string& name : script.operations)
        if (!declared.has_operation(name)) return "unknown operation " + name;
    return {};
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
        const std::string missing = what_is_missing(script, declared);
        if (!missing.empty())
            throw std::runtime_error(
                "script " + script.name + ": " + missing + " (is its module enabled?)"
            );
        scripts.push_back(std::move(script));
    }
    std::ranges::sort(scripts, {}, &Script::name);
    const auto twice = std::ranges::adjacent_find(scripts, {}, &Script::name);
    if (twice != scripts.end())
        throw std::runtime_error("script " + twice->name + ": is listed twice");
    return scripts;
}

}  // namespace svc::automations
