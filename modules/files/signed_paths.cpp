#include "modules/files/signed_paths.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

namespace svc::files {

std::string SignedPaths::signature_of(const Kernel& kernel, std::string_view path) const {
    constexpr std::size_t bytes = 16;
    return "s=" + base64(kernel.sign(purpose_, path).substr(0, bytes));
}

std::string SignedPaths::address(const Kernel& kernel, std::string_view path) const {
    return kernel.base_url() + std::string(folder_) + std::string(path) + '?' +
           signature_of(kernel, path);
}

std::optional<std::string_view> SignedPaths::path_of(
    const Kernel& kernel, const http::Request& request
) const {
    const auto path = request.path.substr(folder_.size());
    if (!same_secret(request.query, signature_of(kernel, path))) return std::nullopt;
    return path;
}

void SignedPaths::add_route(Kernel& kernel, std::function<http::Answer(const http::Request&)> serve)
    const {
    kernel.add(Route{
        .method = "GET",
        .path = std::string(folder_) + "*",
        .handle = [serve = std::move(serve)](RouteCall& call) { return serve(call.request()); },
    });
}

std::optional<Uuid> take_id(std::string_view& path, char behind) {
    constexpr std::size_t size = 36;
    if (path.size() <= size || path[size] != behind) return std::nullopt;
    const auto id = Uuid::parse(path.substr(0, size));
    path.remove_prefix(behind == '/' ? size + 1 : size);
    return id;
}

}  // namespace svc::files
