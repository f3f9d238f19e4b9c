// Attachments: files that hang on cards themselves.

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/files/files.hpp"

namespace svc::files {

namespace {

/// A card, and what the caller may do with it.
struct CardAccess {
    std::optional<boards::BoardRole> role;
    Uuid board_id;
    bool board_is_archived = false;
    bool board_in_trash = false;
    bool in_trash = false;
    bool attached = false;  ///< the file that was asked about hangs on it
};
SVC_RECORD(
    CardAccess, (role), (board_id), (board_is_archived), (board_in_trash), (in_trash), (attached)
);

constexpr Sql see_card{"files.see_card", R"(
    SELECT c.board_id, b.is_archived AS board_is_archived, b.in_trash AS board_in_trash,
        c.in_trash,
        EXISTS (
            SELECT FROM file_places l
            WHERE l.org_id = $1 AND l.file_id = $6 AND l.holder_id = c.id) AS attached,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE c.org_id = $1 AND c.id = $5)"};

constexpr Sql list_of_card{"files.list_attachments", R"(
    SELECT v.*, l.id AS place_id
    FROM file_places l
    JOIN file_view v ON v.org_id = $1 AND v.id = l.file_id
    WHERE l.org_id = $1 AND l.holder_id = $2 AND v.deleted_at IS NULL
      AND ($3::uuid IS NULL OR l.id < $3)
    ORDER BY l.id DESC
    LIMIT $4)"};

constexpr Sql attach_to_card{"files.attach", R"(
    INSERT INTO file_places (org_id, file_id, holder_id, card_id, id)
    SELECT f.org_id, f.id, $3, $3, $4 FROM files f
    WHERE f.org_id = $1 AND f.id = $2 AND f.deleted_at IS NULL
    FOR SHARE
    ON CONFLICT (org_id, file_id, holder_id) DO NOTHING)"};

constexpr Sql detach_from_card{"files.detach", R"(
    DELETE FROM file_places WHERE org_id = $1 AND file_id = $2 AND holder_id = $3)"};

DeferredRows<CardAccess> see_card_with(
    Call& call, const Uuid& card, const std::optional<Uuid>& file
) {
    return boards::BoardCaller::of(call).later<CardAccess>(call.tx(), see_card, card, file);
}

void require_changeable(const std::optional<CardAccess>& seen) {
    if (!seen || seen->board_in_trash) not_found("card");
    boards::require(seen->role, boards::BoardRole::editor, "card");
    if (seen->board_is_archived) throw boards::board_archived();
    if (seen->in_trash) throw boards::card_in_trash();
}

// ------------------------------------------------------------------------------------- list

struct AttachmentsQuery {
    boards::CardRef card_id;
    Paging paging;
};
SVC_RECORD(
    AttachmentsQuery, (card_id, "Its id, or its key such as ENG-42."), (paging, "", flatten)
);

struct Attached {
    File file;
    std::optional<Uuid> object_id;
    Uuid place_id;
};
SVC_RECORD(Attached, (file, "", flatten), (object_id), (place_id));

Page<File> list(Call& call, const AttachmentsQuery& in) {
    const auto after = call.after(in.paging);
    const Uuid id = boards::id_of(call, in.card_id);
    auto card = see_card_with(call, id, std::nullopt);
    auto rows = call.tx().later<Attached>(
        list_of_card,
        call.org(),
        id,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    const auto seen = card.one();
    if (!seen) not_found("card");
    boards::require(seen->role, boards::BoardRole::viewer, "card");
    auto page = call.page(rows.all(), in.paging, [](const Attached& last) {
        return std::vector{last.place_id.str()};
    });
    Page<File> shown{{}, page.next_cursor};
    for (Attached& each : page.results) {
        FileAccess file;
        file.file = std::move(each.file);
        file.object_id = each.object_id;
        shown.results.push_back(call.use<Service>().shown(file));
    }
    return shown;
}

// ----------------------------------------------------------------------------------- attach

struct AttachFileRequest {
    boards::CardRef card_id;
    Uuid file_id;
};
SVC_RECORD(
    AttachFileRequest,
    (card_id, "The card to attach it to: its id, or its key such as ENG-42."),
    (file_id, "A file that you uploaded and committed, or one on a card that you may see.")
);

Answer<File> attach(Call& call, const AttachFileRequest& in) {
    const Uuid id = boards::id_of(call, in.card_id);
    auto card = see_card_with(call, id, in.file_id);
    auto files = see(call, {in.file_id});
    const auto on = card.one();
    require_changeable(on);
    const auto seen = files.one();
    if (!seen || !seen->visible())
        throw wrong_field(call, "file_id", "you may attach no such file");
    if (seen->file.status != FileStatus::available)
        throw wrong_field(call, "file_id", "the upload has not been committed");
    if (seen->file.purpose != Purpose::attachment)
        throw wrong_field(call, "file_id", "it was uploaded for another purpose");
    if (on->attached) return {200, call.use<Service>().shown(*seen)};
    const Event event = change_of(file_created, *seen, id, on->board_id);
    call.check(event);
    call.tx().queue(attach_to_card, call.org(), in.file_id, id, new_uuid());
    call.emit(event);
    return {201, call.use<Service>().shown(*seen)};
}

// ----------------------------------------------------------------------------------- detach

struct AttachmentId {
    boards::CardRef card_id;
    Uuid file_id;
};
SVC_RECORD(
    AttachmentId,
    (card_id, "The card it is attached to: its id, or its key such as ENG-42."),
    (file_id, "The attached file.")
);

void detach(Call& call, const AttachmentId& in) {
    const Uuid id = boards::id_of(call, in.card_id);
    auto card = see_card_with(call, id, in.file_id);
    auto files = see(call, {in.file_id});
    const auto on = card.one();
    require_changeable(on);
    const auto seen = files.one();
    if (!on->attached || !seen) not_found("attachment");
    const Event event = change_of(file_deleted, *seen, id, on->board_id);
    call.check(event);
    call.tx().queue(detach_from_card, call.org(), in.file_id, id);
    call.emit(event);
}

}  // namespace

const Operation list_attachments{
    .name = "list_attachments",
    .route = "GET /v1/cards/{card_id}/attachments",
    .summary = "List the files that are attached to a card, newest first.",
    .description = "Files that its content or its comments show are not among them.",
    .access = Access::board_viewer,
    .handler = list,
};

const Operation attach_file{
    .name = "attach_file",
    .route = "POST /v1/cards/{card_id}/attachments",
    .summary = "Attach a file to a card.",
    .description =
        "From then on everybody who sees the card may download it. A repeat changes nothing (200).",
    .access = Access::board_editor,
    .status = 201,
    .also = {200},
    .idempotent = true,
    .under_lease = true,
    .handler = attach,
};

const Operation detach_file{
    .name = "detach_file",
    .route = "DELETE /v1/cards/{card_id}/attachments/{file_id}",
    .summary = "Detach a file from a card; it is kept while attached elsewhere.",
    .description =
        "The file is kept while it is attached to other cards; otherwise it stays with its "
        "uploader until it is deleted or has been attached to no card for a month.",
    .access = Access::board_editor,
    .status = 204,
    .destructive = true,
    .under_lease = true,
    .handler = detach,
};

}  // namespace svc::files
