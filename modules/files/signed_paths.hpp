#pragma once

#include "svc/kernel.hpp"

/// Addresses of ours that lead to the store: `<folder><path>?s=<signature>`. Whoever has one may
/// follow it, as long as what the path says lets them.
namespace svc::files {

class SignedPaths {
public:
    /// `folder` begins and ends with a slash; `purpose` keeps the signatures of one folder from
    /// being good for another.
    constexpr SignedPaths(std::string_view folder, std::string_view purpose)
        : folder_(folder), purpose_(purpose) {}

    std::string address(const Kernel& kernel, std::string_view path) const;
    /// The path that the request asks for; nothing when it is not signed.
    std::optional<std::string_view> path_of(const Kernel& kernel, const http::Request& request)
        const;
    /// Everything below the folder is given by `serve`.
    void add_route(Kernel& kernel, std::function<http::Answer(const http::Request&)> serve) const;

private:
    std::string signature_of(const Kernel& kernel, std::string_view path) const;

    std::string_view folder_, purpose_;
};

/// Takes the id that a path begins with, and the slash behind it; another sign stays.
std::optional<Uuid> take_id(std::string_view& path, char behind);

}  // namespace svc::files
