#include "core/secret_paths.hpp"

#include "svc/http.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

namespace svc::core {

namespace {

/// As long as tokens are, and nothing that has an id.
bool may_be_token(std::string_view segment) {
    constexpr std::size_t shortest = 40;
    return segment.size() >= shortest && std::ranges::all_of(segment, [](unsigned char each) {
               return std::isalnum(each) || each == '_' || each == '-';
           });
}

/// A path that nothing answers may be that of a token, not quite as it is written.
std::string without_tokens(std::string_view path) {
    std::string out;
    for (std::size_t at = 0; at <= path.size();) {
        const auto end = std::min(path.find_first_of("/:", at), path.size());
        const auto segment = path.substr(at, end - at);
        out += may_be_token(segment) ? "***" : segment;
        if (end < path.size()) out += path[end];
        at = end + 1;
    }
    return out;
}

}  // namespace

SecretPaths::SecretPaths(const std::vector<Declared>& operations) {
    for (const Declared& each : operations) {
        const Operation& operation = *each.operation;
        const std::string_view path = operation.path();
        for (auto begin = path.find('{'); begin != path.npos; begin = path.find('{', begin + 1)) {
            const auto name = path.substr(begin + 1, path.find('}', begin) - begin - 1);
            const Field* field = operation.handler.input->find(name);
            if (!field || !field->rules.secret) continue;
            if (path.find('{') != begin)
                throw std::logic_error(
                    "a secret behind another parameter of a path: " + std::string(path)
                );
            constexpr std::string_view interface = "/v1";
            const std::string_view stem = path.substr(0, begin);
            stems_.emplace_back(stem);
            if (stem.starts_with(interface)) stems_.emplace_back(stem.substr(interface.size()));
        }
    }
}

std::string SecretPaths::shown(std::string_view path) const {
    std::string plain(path);
    // Escapes may spell the stem; of a path that is no text nothing is served.
    if (path.find('%') != path.npos) plain = http::decode(path, http::Decode::path).value_or(plain);
    for (const std::string& stem : stems_) {
        if (!plain.starts_with(stem)) continue;
        const auto end = std::min(plain.find_first_of("/:", stem.size()), plain.size());
        return stem + "***" + plain.substr(end);
    }
    return without_tokens(path);
}

}  // namespace svc::core
