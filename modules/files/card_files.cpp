#include "modules/files/card_files.hpp"

#include "modules/files/signed_paths.hpp"

#include <charconv>

namespace svc::files {

namespace {

constexpr SignedPaths paths("/card-files/", "files.card_file");

// The holder is the card itself, but its id says version 8: as what is attached to the card it
// would be among the attachments.
constexpr Sql leave_values{"files.leave_values", R"(
    DELETE FROM file_places p
    USING cards c
    WHERE p.org_id = $1 AND c.org_id = $1 AND c.id = ANY ($2::uuid[]) AND p.card_id = c.id
        AND p.holder_id = overlay(c.id::text placing '8' from 15)::uuid
        AND NOT EXISTS (
            SELECT FROM jsonb_path_query(c.properties, '$.*.files[*].file_id') v (file_id)
            WHERE (v.file_id #>> '{}')::uuid = p.file_id))"};

constexpr Sql take_values{"files.take_values", R"(
    INSERT INTO file_places (org_id, file_id, holder_id, card_id, id)
    SELECT c.org_id, f.id, overlay(c.id::text placing '8' from 15)::uuid, c.id,
        overlay(overlay(md5(f.id::text || c.id) placing '8' from 13) placing '8' from 17)::uuid
    FROM cards c
    CROSS JOIN LATERAL jsonb_path_query(c.properties, '$.*.files[*].file_id') v (file_id)
    JOIN files f
        ON f.org_id = $1 AND f.id = (v.file_id #>> '{}')::uuid AND f.deleted_at IS NULL
    WHERE c.org_id = $1 AND c.id = ANY ($2::uuid[])
    FOR SHARE OF f
    ON CONFLICT (org_id, file_id, holder_id) DO NOTHING)"};

constexpr Sql find_kept{"files.find_kept", R"(
    SELECT f.id, f.object_id, f.filename, f.content_type
    FROM files f
    WHERE f.org_id = $1 AND f.id = ANY ($2::uuid[]) AND f.status = 'available'
        AND f.deleted_at IS NULL)"};

/// What `<org>/<file>/<until>` names; `until` in seconds since 1970.
struct Named {
    Uuid org, file;
    std::int64_t until = 0;
};

std::optional<Named> parse(std::string_view path) {
    const auto org = take_id(path, '/');
    const auto file = org ? take_id(path, '/') : std::nullopt;
    if (!file) return std::nullopt;
    std::int64_t until = 0;
    const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), until);
    if (error != std::errc() || end != path.data() + path.size()) return std::nullopt;
    return Named{*org, *file, until};
}

std::int64_t seconds_now() { return Timestamp::now().micros / 1'000'000; }

}  // namespace

void ValuesOfCards::add_route(Kernel& kernel) const {
    paths.add_route(kernel, [this](const http::Request& request) { return serve(request); });
}

std::function<std::vector<boards::CardFiles::Named>()> ValuesOfCards::find(
    Call& call, const std::vector<Uuid>& ids
) {
    return [found = service_.find(call, ids)] {
        std::vector<boards::CardFiles::Named> named;
        for (const FileRef& each : found()) named.push_back({each.id, each.filename});
        return named;
    };
}

std::function<std::vector<Uuid>()> ValuesOfCards::kept(
    Tx& tx, const Uuid& org, const std::vector<Uuid>& ids
) {
    return [found = tx.later<FileRef>(find_kept, org, ids)]() mutable {
        std::vector<Uuid> kept;
        for (const FileRef& each : found.all()) kept.push_back(each.id);
        return kept;
    };
}

void ValuesOfCards::follow(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) {
    tx.queue(leave_values, org, cards);
    tx.queue(take_values, org, cards);
}

std::string ValuesOfCards::link(const Uuid& org, const Uuid& file) {
    const std::int64_t until = seconds_now() + service_.settings().link_minutes * 60;
    return paths.address(service_.kernel(), prefix_of(org, file) + std::to_string(until));
}

http::Answer ValuesOfCards::serve(const http::Request& request) const {
    const auto path = paths.path_of(service_.kernel(), request);
    const auto named = path ? parse(*path) : std::nullopt;
    if (!named || named->until <= seconds_now()) not_found("file");
    std::optional<FileRef> file;
    service_.kernel().transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(named->org, std::nullopt);
        file = tx.one<FileRef>(find_kept, named->org, std::vector{named->file});
    });
    if (!file) not_found("file");
    // No longer than the way that led here.
    const auto link = service_.link(named->org, *file, {named->until * 1'000'000});
    if (!link) throw no_store();
    http::Answer answer;
    answer.status = 302;
    answer.headers = {
        {"Location", link->url}, {"Cache-Control", "no-store"}, {"Referrer-Policy", "no-referrer"}};
    return answer;
}

}  // namespace svc::files
