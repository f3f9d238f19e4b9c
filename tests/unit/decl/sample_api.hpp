#pragma once

#include "decl/input.hpp"
#include "samples.hpp"

/// A small API with an operation of every kind, for the tests of the documents made of it.
namespace svc::test {

struct Icon {
    std::string emoji;
    std::optional<std::string> name;
};
SVC_RECORD(Icon, (emoji, "One emoji.", length(1, 16)), (name, "What it is called.", omit_empty));

struct BoardResponse {
    Object<"board"> object;
    Uuid id;
    std::string name;
    Mood mood = Mood::calm;
    std::optional<Icon> icon;
    std::optional<std::string> note;
    std::map<std::string, std::string> metadata;
    JsonText settings;
    PrincipalRef created_by;
    Timestamp created_time;
    std::int64_t version = 1;
};
SVC_RECORD(
    BoardResponse,
    (object, "Always \"board\"."),
    (id, "Of the board."),
    (name, "What people call it."),
    (mood, "How it is."),
    (icon, "Its picture, if it has one."),
    (note, "Only where there is one.", omit_empty),
    (metadata, "Whatever its makers keep with it."),
    (settings, "Any JSON."),
    (created_by, "Who made it."),
    (created_time, "When it was made."),
    (version, "Rises with every change.")
);

struct SignupRequest {
    Email email;
    std::string password;
    std::optional<std::string> name;
};
SVC_RECORD(
    SignupRequest,
    (email, "Where the mail to verify it goes."),
    (password, "Eight characters or more.", length(8, 128), secret),
    (name, "What people call you.", length(1, 120))
);

struct CreateBoardRequest {
    std::string name;
    std::string key;
    Mood mood = Mood::eager;
    std::optional<Icon> icon;
    std::vector<std::string> labels;
    std::string id;
};
SVC_RECORD(
    CreateBoardRequest,
    (name, "What people call it.", length(1, 200), trimmed),
    (key, "In front of card numbers.", matches("[A-Z][A-Z0-9]{1,9}")),
    (mood, "How it is.", defaulted),
    (icon, "Its picture."),
    (labels, "Up to three.", length(0, 3), items_up_to(60), defaulted),
    (id, "Taken so that an answer can be sent back; ignored.", read_only)
);

struct UpdateBoardRequest {
    Uuid board_id;
    Patch<std::string> name;
    Patch<std::optional<Icon>> icon;
    Patch<std::optional<std::int64_t>> limit;
    Patch<std::optional<Mood>> mood;
};
SVC_RECORD(
    UpdateBoardRequest,
    (board_id),
    (name, "What people call it.", length(1, 200)),
    (icon, "Its picture; null removes it."),
    (limit, "How many cards; null lifts it.", range(1, 1000)),
    (mood, "How it is; null when nobody knows.")
);

struct BoardPath {
    Uuid board_id;
};
SVC_RECORD(BoardPath, (board_id));

struct ListBoardsQuery {
    Paging paging;
    std::optional<std::string> text;
    std::vector<Mood> mood;
};
SVC_RECORD(
    ListBoardsQuery,
    (paging, "", flatten),
    (text, "Only boards whose name holds this.", length(1, 100)),
    (mood, "Only boards in one of these moods.", defaulted)
);

struct MoveRequest {
    Uuid board_id;
    std::optional<Uuid> after_id;
    std::optional<Uuid> org_id;
    std::optional<std::string> lease;
};
SVC_RECORD(
    MoveRequest,
    (board_id),
    (after_id, "The board to stand behind; left out, it goes to the front."),
    (org_id, "The workspace.", in_query),
    (lease, "A lease token.", in_header("x-svc-lease"))
);

struct BatchItem {
    std::string op;
    std::optional<CreateBoardRequest> create;
    std::vector<Icon> icons;
};
SVC_RECORD(
    BatchItem,
    (op, "What to do.", length(1, 20)),
    (create, "What to make."),
    (icons, "Pictures to add.", defaulted)
);
struct BatchRequest {
    std::vector<BatchItem> items;
    bool dry_run = false;
};
SVC_RECORD(
    BatchRequest,
    (items, "One by one.", length(1, 100)),
    (dry_run, "Only say what would be done.", defaulted)
);

struct AlreadyThere {
    Object<"already_there"> object;
    std::string name;
};
SVC_RECORD(AlreadyThere, (object, "Always \"already_there\"."), (name, "As sent."));

struct CallbackQuery {
    std::optional<std::string> state;
    std::optional<std::string> code;
};
SVC_RECORD(CallbackQuery, (state, "Ours.", length(0, 500)), (code, "Theirs.", length(0, 2000)));

using Either = std::variant<BoardResponse, AlreadyThere>;

inline BoardResponse sign_up(Call&, const SignupRequest&) { return {}; }
inline void log_out(Call&, const Nothing&) {}
inline void finish_sign_in(Call&, const CallbackQuery&) {}
inline Page<BoardResponse> list_boards(Call&, const ListBoardsQuery&) { return {}; }
inline Answer<Either> create_board(Call&, const CreateBoardRequest&) {
    return {200, AlreadyThere{}};
}
inline BoardResponse get_board(Call&, const BoardPath&) { return {}; }
inline BoardResponse update_board(Call&, const UpdateBoardRequest&) { return {}; }
inline void delete_board(Call&, const BoardPath&) {}
inline BoardResponse move_board(Call&, const MoveRequest&) { return {}; }
inline Page<BoardResponse> batch_boards(Call&, const BatchRequest&) { return {}; }

inline const Operation sample_operations[] = {
    {.name = "sign_up",
     .route = "POST /v1/auth/signup",
     .summary = "Make an account.",
     .access = Access::anyone,
     .status = 201,
     .refuses = {401},
     .tool = false,
     .handler = sign_up},
    {.name = "log_out",
     .route = "POST /v1/auth/logout",
     .summary = "End this session.",
     .access = Access::anyone,
     .status = 204,
     .handler = log_out},
    {.name = "finish_sign_in",
     .route = "GET /v1/auth/google/callback",
     .summary = "Where the identity provider sends people back to.",
     .access = Access::anyone,
     .status = 302,
     .handler = finish_sign_in},
    {.name = "list_boards",
     .route = "GET /v1/boards",
     .summary = "List boards.",
     .names_org = true,
     .handler = list_boards},
    {.name = "create_board",
     .route = "POST /v1/boards",
     .summary = "Create a board.",
     .description = "A board with no columns.\n\nThe key must be free.",
     .access = Access::admin,
     .status = 201,
     .also = {200},
     .handler = create_board},
    {.name = "get_board",
     .route = "GET /v1/boards/{board_id}",
     .summary = "Read a board.",
     .access = Access::board_viewer,
     .handler = get_board},
    {.name = "update_board",
     .route = "PATCH /v1/boards/{board_id}",
     .summary = "Change a board.",
     .access = Access::board_editor,
     .versioned = true,
     .handler = update_board},
    {.name = "delete_board",
     .route = "DELETE /v1/boards/{board_id}",
     .summary = "Put a board into the trash.",
     .access = Access::board_admin,
     .status = 204,
     .versioned = true,
     .handler = delete_board},
    {.name = "move_board",
     .route = "POST /v1/boards/{board_id}:move",
     .summary = "Move a board.",
     .access = Access::board_editor,
     .handler = move_board},
    {.name = "batch_boards",
     .route = "POST /v1/boards:batch",
     .summary = "Do many things at once.",
     .handler = batch_boards},
};

inline const Operation& sample_operation(std::string_view name) {
    for (const Operation& operation : sample_operations)
        if (operation.name == name) return operation;
    throw std::logic_error("no sample operation " + std::string(name));
}

inline decl::OpenApiInput sample_api() {
    decl::OpenApiInput in{
        .base_url = "https://board.example.org",
        .tags = {{"boards", "Boards and what is on them."}, {"auth", "Signing in and out."}},
        .operations = {}};
    for (const Operation& operation : sample_operations)
        in.operations.push_back(
            {&operation, operation.path().starts_with("/v1/auth") ? "auth" : "boards"}
        );
    return in;
}

}  // namespace svc::test
