// Files: looking at them, their keys and links.

#include "modules/files/files.hpp"
#include "modules/boards/api/access.hpp"

#include "modules/files/inspections.hpp"
#include "modules/files/lib/disposition.hpp"

#include <set>

namespace svc::files {

namespace {

// The boards that its cards are on decide who sees it. Of a board in the trash nobody sees
// anything. A file may hang on thousands of cards: these are found by a list of ids, and each board
// is asked about once, so that no planner compares each of one with all of the other.
constexpr Sql see_files{"files.see_files", R"(
    SELECT v.*, v.uploader = $2 AS own, h.cards, h.seen, h.editable, h.archived,
        h.trashed, now() AS now
    FROM file_view v
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(c.cards), 0)::bigint AS cards,
            coalesce(sum(c.cards) FILTER (WHERE r.role IS NOT NULL), 0)::bigint AS seen,
            coalesce(sum(c.cards) FILTER (WHERE r.role IN ('editor', 'admin')), 0)::bigint
                AS editable,
            coalesce(sum(c.cards) FILTER (WHERE b.is_archived), 0)::bigint AS archived,
            coalesce(sum(c.trashed), 0)::bigint AS trashed
        FROM (
            SELECT k.board_id, count(*) AS cards, count(*) FILTER (WHERE k.in_trash) AS trashed
            FROM cards k
            WHERE k.org_id = $1 AND k.id = ANY (ARRAY(
                SELECT l.card_id FROM file_places l WHERE l.org_id = $1 AND l.file_id = v.id))
            GROUP BY k.board_id
        ) c
        CROSS JOIN LATERAL (
            SELECT x.visibility, x.created_by, x.is_archived, x.in_trash FROM boards x
            WHERE x.org_id = $1 AND x.id = c.board_id
            OFFSET 0
        ) b
        )" SVC_BOARD_GRANT_BY_KEY("c.board_id") R"(
        CROSS JOIN LATERAL (
            SELECT CASE WHEN NOT b.in_trash THEN
                )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( END AS role
        ) r
    ) h
    WHERE v.org_id = $1 AND v.id = ANY ($5::uuid[]) AND v.deleted_at IS NULL)"};

constexpr Sql leave_places{"files.leave_places", R"(
    DELETE FROM file_places
    WHERE org_id = $1 AND card_id = $2 AND holder_id = ANY ($3::uuid[])
        AND (file_id, holder_id) NOT IN (
            SELECT w.file_id, w.holder_id
            FROM unnest($4::uuid[], $5::uuid[]) w (file_id, holder_id)))"};

// Whoever deletes the file waits until it hangs there, and whoever finds it deleted hangs nothing.
constexpr Sql take_place{"files.take_place", R"(
    INSERT INTO file_places (org_id, file_id, holder_id, card_id, id)
    SELECT f.org_id, f.id, w.holder_id, $2, w.id
    FROM unnest($3::uuid[], $4::uuid[], $5::uuid[]) w (file_id, holder_id, id)
    JOIN files f ON f.org_id = $1 AND f.id = w.file_id AND f.deleted_at IS NULL
    FOR SHARE OF f
    ON CONFLICT (org_id, file_id, holder_id) DO UPDATE SET card_id = excluded.card_id)"};

constexpr Sql find_own{"files.find_own_upload", R"(
    SELECT f.id FROM files f
    WHERE f.org_id = $1 AND f.id = $2 AND f.created_by = $3 AND f.purpose = $4
      AND f.status = 'available' AND f.deleted_at IS NULL)"};

constexpr Sql find_available{"files.find_available", R"(
    SELECT f.id, f.object_id, f.filename, f.content_type FROM files f
    WHERE f.org_id = $1 AND f.id = $2 AND f.status = 'available' AND f.deleted_at IS NULL)"};

}  // namespace

std::string prefix_of(const Uuid& org, const Uuid& file) {
    return org.str() + '/' + file.str() + '/';
}
std::string incoming_key(const Uuid& org, const Uuid& file) {
    return prefix_of(org, file) + "incoming";
}
std::string object_key(const Uuid& org, const Uuid& file, const Uuid& object) {
    return prefix_of(org, file) + object.str();
}

DeferredRows<FileAccess> see(Call& call, const std::vector<Uuid>& ids) {
    return boards::BoardCaller::of(call).later<FileAccess>(call.tx(), see_files, ids);
}

// ------------------------------------------------------------------------------ the service

Failure no_store() { return Failure(Fault::unavailable, "This server has no store for files."); }

Service::Service(Kernel& kernel, const Settings& settings)
    : kernel_(kernel), settings_(settings), inspections_(std::make_unique<Inspections>(*this)) {}

Service::~Service() = default;

void Service::start() { inspections_->start(); }
void Service::stop() noexcept { inspections_->stop(); }

ObjectStore& Service::store() const {
    if (auto* store = kernel_.find<ObjectStore>()) return *store;
    throw no_store();
}

std::function<std::vector<FileRef>()> Service::find(Call& call, const std::vector<Uuid>& ids)
    const {
    return [later = see(call, ids)]() mutable {
        std::vector<FileRef> found;
        for (const FileAccess& each : later.all())
            if (each.visible() && each.file.status == FileStatus::available)
                found.push_back(each.ref());
        return found;
    };
}

void Service::attach(Tx& tx, const Uuid& org, const Uuid& card, const Shown& shown) const {
    if (shown.empty()) return;
    std::vector<Uuid> holders, files, holders_of_files, ids;
    for (const auto& [holder, shows] : shown) {
        holders.push_back(holder);
        for (const Uuid& file : std::set<Uuid>(shows.begin(), shows.end())) {
            files.push_back(file);
            holders_of_files.push_back(holder);
            ids.push_back(new_uuid());
        }
    }
    tx.queue(leave_places, org, card, holders, files, holders_of_files);
    if (!files.empty()) tx.queue(take_place, org, card, files, holders_of_files, ids);
}

std::optional<Link> Service::link(const Uuid& org, const FileRef& file) const {
    return link(org, file, {Timestamp::now().micros + settings_.link_minutes * 60 * 1'000'000});
}

std::optional<Link> Service::link(const Uuid& org, const FileRef& file, const Timestamp& until)
    const {
    const auto* store = kernel_.find<ObjectStore>();
    if (!store) return std::nullopt;
    const auto url = store->download_url(
        {.key = object_key(org, file.id, file.object_id),
         .content_type = file.content_type,
         .disposition = disposition_of(file.content_type, file.filename),
         .until = until}
    );
    return Link{url, until};
}

std::function<bool()> Service::is_available(Call& call, const Uuid& id, Purpose purpose) const {
    auto found = call.tx().queue(find_own, call.org(), id, call.caller().id, purpose);
    return [found]() mutable { return found.rows() > 0; };
}

std::optional<Link> Service::link_for_operator(Tx& tx, const Uuid& org, const Uuid& id) const {
    const auto kept = tx.one<FileRef>(find_available, org, id);
    return kept ? link(org, *kept) : std::nullopt;
}

File Service::shown(const FileAccess& seen) const {
    File file = seen.file;
    if (file.status != FileStatus::available || !seen.object_id) return file;
    if (auto found = link(*file.org_id, seen.ref())) {
        file.url = std::move(found->url);
        file.url_expires_at = found->expires_at;
    }
    return file;
}

// ------------------------------------------------------------------------------------- read

namespace {

File get(Call& call, const FileId& in) {
    const auto seen = see(call, {in.file_id}).one();
    if (!seen || !seen->visible()) not_found("file");
    return call.use<Service>().shown(*seen);
}

// ------------------------------------------------------------------------------------ delete

// What was just being hung up hangs there by then.
constexpr std::string_view own_or_placed = R"(
    SELECT f.id FROM files f
    WHERE f.org_id = $1 AND f.id = $5
        AND (f.created_by = $2 OR EXISTS (
            SELECT FROM cards c
            WHERE c.org_id = $1 AND c.id = ANY (ARRAY(
                    SELECT l.card_id FROM file_places l
                    WHERE l.org_id = $1 AND l.file_id = f.id))
                AND)";
constexpr std::string_view for_update = "c.board_id))) FOR UPDATE OF f";
constexpr Sql lock_file{
    "files.lock_file", SqlText<own_or_placed, boards::if_editor, for_update>::view};

constexpr Sql drop_file{"files.delete_file", R"(
    WITH unhung AS (
        DELETE FROM file_places WHERE org_id = $1 AND file_id = $2
    )
    UPDATE files
    SET deleted_at = now(), sweep_at = now(), version = version + 1
    WHERE org_id = $1 AND id = $2 AND deleted_at IS NULL)"};

constexpr Sql attached_to{"files.cards_of_file", R"(
    SELECT c.id AS card_id, c.board_id
    FROM cards c
    WHERE c.org_id = $1 AND c.id = ANY (ARRAY(
        SELECT l.card_id FROM file_places l
        WHERE l.org_id = $1 AND l.file_id = $2 AND l.holder_id = l.card_id)))"};

/// That one request detaches it from, with an event of each card: what that costs is to stay below
/// a second of the processors' time.
constexpr std::int64_t most_cards = 2'500;

struct Place {
    Uuid card_id;
    Uuid board_id;
};
SVC_RECORD(Place, (card_id), (board_id));

void remove(Call& call, const FileId& in) {
    Tx& tx = call.tx();
    boards::BoardCaller::of(call).lock(tx, lock_file, in.file_id);
    auto later = see(call, {in.file_id});
    auto attached = tx.later<Place>(attached_to, call.org(), in.file_id);
    const auto seen = later.one();
    if (!seen || !seen->visible()) not_found("file");
    if (seen->editable < seen->cards)
        throw Failure(
            Fault::restricted,
            "The file is attached to a card that you may not edit, so you cannot delete it."
        );
    if (seen->archived > 0) throw boards::board_archived();
    if (seen->trashed > 0) throw boards::card_in_trash();
    if (seen->cards > most_cards)
        throw Failure(
            Fault::conflict,
            "The file is attached to more than 2,500 cards; detach it from some of them first."
        )
            .with("reason", "too_many_cards");
    const auto places = attached.all();
    std::vector<Event> events;
    for (const Place& each : places)
        events.push_back(change_of(file_deleted, *seen, each.card_id, each.board_id));
    for (const Event& each : events) call.check(each);
    tx.queue(drop_file, call.org(), in.file_id);
    call.emit_all(events);
    call.emit(
        {.kind = &file_removed,
         .id = in.file_id,
         .version = seen->version + 1,
         .name = seen->file.filename}
    );
}

}  // namespace

Event change_of(
    const EventKind& kind, const FileAccess& seen, const Uuid& card, const Uuid& board
) {
    const bool gone = &kind == &file_deleted;
    const FileChange on_card{
        .id = seen.file.id,
        .card_id = card,
        .filename = seen.file.filename,
        .content_type = seen.file.content_type,
        .size_bytes = seen.file.size_bytes,
        .version = seen.version};
    FileChange off_card = on_card;
    off_card.card_id.reset();
    Event event = gone ? changed(kind, on_card, off_card) : created(kind, on_card);
    event.name = seen.file.filename;
    return std::move(event).on_board(board).of_card(card);
}

const Operation get_file{
    .name = "get_file",
    .route = "GET /v1/files/{file_id}",
    .summary = "Read a file: what it is, and where to download it.",
    .description =
        "Whoever uploaded a file sees it until it is attached to a card; then those who see the "
        "card do. "
        "`url` works for some minutes, for anybody who has it.",
    .access = Access::member,
    .handler = get,
};

const Operation delete_file{
    .name = "delete_file",
    .route = "DELETE /v1/files/{file_id}",
    .summary = "Delete a file for good.",
    .description =
        "Detaches it from every card, all of which you have to be allowed to edit, and "
        "removes its bytes. 409 while it is attached to more than 2,500 cards.",
    .access = Access::member,
    .status = 204,
    .destructive = true,
    .handler = remove,
};

}  // namespace svc::files
