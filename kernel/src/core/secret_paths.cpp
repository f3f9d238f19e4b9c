#include "core/secret_paths.hpp"

#include "svc/http.hpp"

#include <stdexcept>

namespace svc::core {

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
    return std::string(path);
}

}  // namespace svc::core
