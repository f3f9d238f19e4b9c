#include "notes.hpp"

namespace svc::notes {

namespace {

struct Note {
    Object<"note"> object;
    Uuid id;
    std::string text;
    Timestamp created_time;
    std::int64_t version = 1;
};
SVC_RECORD(
    Note,
    (object, "Always \"note\"."),
    (id, "Of the note."),
    (text, "The text."),
    (created_time, "When it was written."),
    (version, "Rises with every change.")
);

struct CreateNoteRequest {
    std::string text;
};
SVC_RECORD(CreateNoteRequest, (text, "The text.", length(1, 500), trimmed));

constexpr Sql insert_note{"notes.insert_note", R"(
    INSERT INTO notes (org_id, id, text, created_by)
    VALUES ($1, $2, $3, $4)
    RETURNING id, text, created_time, version)"};

Note create(Call& call, const CreateNoteRequest& in) {
    const auto note =
        *call.tx().one<Note>(insert_note, call.org(), new_uuid(), in.text, call.caller().id);
    call.emit(created(note_created, note));
    return note;
}

// Newest first: ids made later sort later.
constexpr Sql list_page{"notes.list_notes", R"(
    SELECT id, text, created_time, version FROM notes
    WHERE org_id = $1 AND ($2::uuid IS NULL OR id < $2)
    ORDER BY id DESC
    LIMIT $3)"};

Page<Note> list(Call& call, const Paging& paging) {
    const auto after = call.after(paging);
    const auto id = after ? std::optional(after->at(0)) : std::nullopt;
    auto notes = call.tx().all<Note>(list_page, call.org(), id, paging.page_size + 1);
    return call.page(std::move(notes), paging, [](const Note& last) {
        return std::vector{last.id.str()};
    });
}

}  // namespace

const EventKind note_created{
    "note.created", "note", "Somebody has written a note.", &record_of<Note>};

const Operation create_note{
    .name = "create_note",
    .route = "POST /v1/notes",
    .summary = "Write a note",
    .access = Access::member,
    .status = 201,
    .handler = create,
};

const Operation list_notes{
    .name = "list_notes",
    .route = "GET /v1/notes",
    .summary = "List the notes, newest first",
    .access = Access::member,
    .handler = list,
};

}  // namespace svc::notes
