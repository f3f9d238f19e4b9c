#include "modules/files/pictures.hpp"

#include "modules/files/lib/file_name.hpp"
#include "modules/files/signed_paths.hpp"

#include <array>

namespace svc::files {

namespace {

constexpr SignedPaths paths("/pictures/", "files.picture");
// Of the way to the bytes, which works for longer.
constexpr std::string_view cached = "private, max-age=300";

// A picture shows somebody, so it is theirs or made for that; other files are seen on cards only.
constexpr Sql find_picture{"files.find_picture", R"(
    SELECT f.id, f.object_id, f.filename, f.content_type
    FROM files f
    WHERE f.org_id = $1 AND f.id = $2 AND f.created_by = $3 AND f.status = 'available'
      AND f.deleted_at IS NULL AND f.purpose IN ('avatar', 'icon'))"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> endings{{
    {".png", "image/png"},
    {".jpg", "image/jpeg"},
    {".gif", "image/gif"},
    {".webp", "image/webp"},
}};

/// What `<org>/<file>/<object>.<ending>` names.
struct Named {
    Uuid org, file, object;
    std::string_view content_type;
};

std::optional<Named> parse(std::string_view path) {
    const auto org = take_id(path, '/');
    const auto file = org ? take_id(path, '/') : std::nullopt;
    const auto object = file ? take_id(path, '.') : std::nullopt;
    if (!object) return std::nullopt;
    for (const auto& [ending, type] : endings)
        if (path == ending) return Named{*org, *file, *object, type};
    return std::nullopt;
}

}  // namespace

void Pictures::add_route(Kernel& kernel) const {
    paths.add_route(kernel, [this](const http::Request& request) { return serve(request); });
}

std::optional<Url> Pictures::address_of(Call& call, const Uuid& file) {
    const Caller& caller = call.caller();
    if (!caller.org_id) return std::nullopt;
    const auto found = call.tx().one<FileRef>(find_picture, *caller.org_id, file, caller.id);
    if (!found) return std::nullopt;
    for (const auto& [ending, type] : endings) {
        if (type != found->content_type) continue;
        const auto path =
            object_key(*caller.org_id, found->id, found->object_id) + std::string(ending);
        return Url::parse(paths.address(service_.kernel(), path));
    }
    return std::nullopt;
}

http::Answer Pictures::serve(const http::Request& request) const {
    const auto path = paths.path_of(service_.kernel(), request);
    const auto named = path ? parse(*path) : std::nullopt;
    if (!named) not_found("picture");
    const auto link = service_.link(
        named->org,
        {.id = named->file,
         .object_id = named->object,
         .filename = "picture" + std::string(path->substr(path->rfind('.'))),
         .content_type = std::string(named->content_type)}
    );
    if (!link) throw no_store();
    http::Answer answer;
    answer.status = 302;
    answer.headers = {{"Location", link->url}, {"Cache-Control", std::string(cached)}};
    return answer;
}

}  // namespace svc::files
