// A board as strangers see it who have a share link.

#include "modules/auth/api.hpp"
#include "modules/boards/api/board.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/board/board.hpp"
#include "modules/boards/column/pages.hpp"
#include "modules/boards/lib/public_text.hpp"
#include "modules/boards/lib/share_token.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/property/copied_values.hpp"
#include "modules/boards/sharing/share_links.hpp"

#include <array>

namespace svc::boards {

namespace {

// --------------------------------------------------------------------------------- the shapes

struct SharedCard {
    Uuid id;
    std::string key;
    std::string title;
    AsJson<std::vector<LabelRef>> labels;
    AsJson<std::vector<PrincipalRef>> assignees;
    SVC_CARD_MEMBERS;
    AsJson<std::map<std::string, JsonText>> properties;
    bool properties_omitted = false;
    std::optional<Timestamp> completed_at;
    Timestamp created_time;
    Timestamp last_edited_time;
    std::optional<std::string> markdown;
};
SVC_RECORD(
    SharedCard,
    (id),
    (key, "Its name for people, such as ENG-42."),
    (title, "One line of text."),
    (labels, "Of those the board has, by name and color."),
    (assignees, "People and agents, by name."),
    SVC_CARD_SHOWN,
    (properties, "Values of the properties that are not hidden, by name."),
    (properties_omitted,
     "True: the values take more than 4 KiB together and are left out here; `card_id` shows them. "
     "Absent otherwise.",
     omit_empty),
    (completed_at, "When it reached a column of kind `done`; null until then."),
    (created_time),
    (last_edited_time),
    (markdown,
     "What is written on it; null where several cards are shown. Files in it are named and not "
     "linked.")
);

struct SharedColumn {
    Uuid id;
    std::string name;
    Color color{};
    ColumnKind kind{};
    std::int64_t position = 0;
    std::optional<std::int64_t> wip_limit;
    std::int64_t card_count = 0;
    std::vector<SharedCard> cards;
    std::optional<std::string> next_cursor;
};
SVC_RECORD(
    SharedColumn,
    (id),
    (name, "What people call it."),
    (color, "How people see it."),
    (kind, "What being here means."),
    (position, "Counted from the left, beginning with 0."),
    (wip_limit, "How many cards may stand here at once; null: any number."),
    (card_count, "How many cards stand here; where one card is shown, 1."),
    (cards, "The first of them, from top to bottom."),
    (next_cursor, "Send it as `start_cursor` to get this column alone with the cards that follow.")
);

struct SharedBoard {
    Object<"shared_board"> object;
    std::string name;
    std::optional<std::string> description;
    std::optional<orgs::Icon> icon;
    AsJson<std::vector<PropertyDefinition>> properties;
    AsJson<std::vector<Label>> labels;
    std::vector<SharedColumn> columns;
    std::optional<Timestamp> expires_at;
};
SVC_RECORD(
    SharedBoard,
    (object),
    (name, "What people call it."),
    (description, "What it is for; null when nobody said."),
    (icon, "Shown before its name: an emoji, or a picture."),
    (properties, "Those that are not hidden."),
    (labels, "The labels its cards may carry."),
    (columns, "From left to right; where one card is shown, the column that it is in."),
    (expires_at, "When the link stops working.")
);

// ------------------------------------------------------------------------------- what is read

constexpr Sql open_link{"boards.open_share_link", R"(
    SELECT l.id, l.board_id, l.card_id, l.password_hash, l.hidden_properties, l.expires_at
    FROM share_links l
    JOIN boards b ON b.org_id = $1 AND b.id = l.board_id AND NOT b.in_trash
    WHERE l.org_id = $1 AND l.digest = $2 AND l.revoked_at IS NULL
        AND (l.expires_at IS NULL OR l.expires_at > now()))"};

struct OpenLink {
    Uuid id;
    Uuid board_id;
    std::optional<Uuid> card_id;
    std::optional<std::string> password_hash;
    std::vector<Uuid> hidden_properties;
    std::optional<Timestamp> expires_at;
};
SVC_RECORD(
    OpenLink,
    (id),
    (board_id),
    (card_id),
    (password_hash, "", secret),
    (hidden_properties),
    (expires_at)
);

// $3: one column alone; $4: that of one card.
constexpr Sql see_columns{"boards.shared_columns", R"(
    SELECT v.id, v.name, v.color, v.kind, v.position, v.wip_limit,
        CASE WHEN $4::uuid IS NULL THEN v.card_count ELSE 1 END AS card_count,
        '[]'::jsonb AS cards, NULL AS next_cursor
    FROM column_view v
    WHERE v.org_id = $1 AND v.board_id = $2 AND NOT v.in_trash
        AND ($3::uuid IS NULL OR v.id = $3)
        AND ($4::uuid IS NULL OR v.id = (
            SELECT c.column_id FROM cards c
            WHERE c.org_id = $1 AND c.id = $4 AND NOT c.is_archived AND NOT c.in_trash))
    ORDER BY v.order_key, v.id)"};

constexpr std::string_view shared_cards = R"(
    SELECT p.found, p.omitted AS properties_omitted,
        CASE WHEN p.omitted THEN '{}' ELSE v.properties END AS properties,
        v.id, v.key, v.title, v.labels, v.assignees, v.completed_at, v.created_time,
        v.last_edited_time, NULL AS markdown, p.column_id, p.position AS place)" SVC_CARD_COLUMNS(
    "v."
) R"(
    FROM chosen p
    CROSS JOIN LATERAL (
        SELECT * FROM card_view s WHERE s.org_id = $1 AND s.id = p.id OFFSET 0
    ) v
    ORDER BY p.total)";
constexpr Sql see_cards{"boards.shared_cards", SqlText<chosen_cards, shared_cards>::view};

struct LinkedCard {
    SharedCard card;
    Uuid column_id;
    std::string place;
    std::int64_t found = 0;
};
SVC_RECORD(LinkedCard, (card, "", flatten), (column_id), (place), (found));

struct SharedBoardQuery {
    std::string token;
    std::optional<std::string> password;
    std::optional<Uuid> card_id;
    Paging paging;
};
SVC_RECORD(
    SharedBoardQuery,
    (token, "What the link's `url` ends in.", secret),
    (password, "The link's password, if it has one.", in_header("x-svc-share-password"), secret),
    (card_id, "One card of those that the link shows, to see it alone and what is written on it."),
    (paging, "", flatten)
);

// ---------------------------------------------------------------------------------- the gate

/// One answer for links that never were, that were taken back and that have run out.
[[noreturn]] void no_such_link() { not_found("share link"); }

Failure locked(std::string_view reason, const std::string& message) {
    return Failure(Fault::restricted, message).with("reason", std::string(reason));
}

void admit(Call& call) {
    auto& views = call.use<SharedViews>();
    views.require(
        views.count(network_of(call.client_address()), call.request_id()),
        "This is asked for too often; try again in a minute."
    );
}

void require_password(Call& call, const OpenLink& link, const std::optional<std::string>& given) {
    if (!link.password_hash) return;
    if (!given || given->empty())
        throw locked("password_required", "The link asks for a password: X-Svc-Share-Password.");
    const bool right = given->size() <= 512 && call.use<auth::PasswordService>().matches(
                                                   call,
                                                   {.what = "share_link_password",
                                                    .subject = link.id.str(),
                                                    .password = *given,
                                                    .hash = *link.password_hash}
                                               );
    if (!right) throw locked("wrong_password", "This is not the link's password.");
}

// ------------------------------------------------------------------------------- what is shown

/// What the link hides, and what no stranger sees: addresses, and files, which are opened by their
/// links.
std::vector<PropertyDefinition> visible(const Board& board, const OpenLink& link) {
    auto properties = board.properties.parsed();
    std::erase_if(properties, [&](const PropertyDefinition& each) {
        return each.type == PropertyType::email || each.type == PropertyType::files ||
               std::ranges::find(link.hidden_properties, each.id) != link.hidden_properties.end();
    });
    return properties;
}

class Showing {
public:
    Showing(Call& call, const Uuid& org, const OpenLink& link, const SharedBoardQuery& in)
        : call_(call),
          link_(link),
          only_(only_card(link, in)),
          from_(column_place_of(call, in.paging)),
          board_(see_whole_board(call.tx(), BoardCaller::of_system(org), link.board_id)),
          columns_(
              call.tx().later<SharedColumn>(see_columns, org, link.board_id, from_.column, only_)
          ),
          cards_(later_chosen<LinkedCard>(
              call.tx(), see_cards, org, link.board_id, from_, in.paging, only_
          )) {
        auto* bodies = call.kernel().find<CardBodies>();
        if (only_ && bodies) markdown_ = bodies->markdown(call.tx(), org, *only_);
    }

    SharedBoard run() {
        const auto board = board_.one();
        if (!board || board->in_trash) no_such_link();
        const auto properties = visible(*board, link_);
        definitions_.emplace(board->labels.parsed(), properties);
        SharedBoard shared;
        shared.name = board->name;
        shared.description = board->description;
        shared.icon = board->icon;
        shared.properties = AsJson(properties);
        shared.labels = board->labels;
        shared.columns = columns_.all();
        shared.expires_at = link_.expires_at;
        if (link_.card_id && shared.columns.empty()) no_such_link();
        if (only_ && shared.columns.empty()) not_found("card");
        for (LinkedCard& each : cards_.all()) put(std::move(each), shared.columns);
        for (SharedColumn& each : shared.columns)
            each.next_cursor = pages_.cursor(call_, each.id, each.card_count);
        return shared;
    }

private:
    static std::optional<Uuid> only_card(const OpenLink& link, const SharedBoardQuery& in) {
        if (link.card_id && in.card_id && *in.card_id != *link.card_id) not_found("card");
        return link.card_id ? link.card_id : in.card_id;
    }

    void put(LinkedCard row, std::vector<SharedColumn>& columns) {
        const auto column = std::ranges::find(columns, row.column_id, &SharedColumn::id);
        if (column == columns.end()) return;  // it came in between
        // By id: a card may not have followed the change of a name yet.
        row.card.labels = AsJson(definitions_->as_defined(row.card.labels.parsed()));
        auto values = definitions_->as_defined(row.card.properties.parsed());
        for (auto& [name, value] : values) value = with_whole_words(value);
        row.card.properties = AsJson(values);
        if (markdown_) row.card.markdown = with_whole_words(markdown_());
        if (!pages_.take(row.card)) return;
        pages_.shown(row.column_id, std::move(row.place), row.card.id, row.found);
        column->cards.push_back(std::move(row.card));
    }

    Call& call_;
    const OpenLink& link_;
    const std::optional<Uuid> only_;
    const ColumnPlace from_;
    DeferredRows<Board> board_;
    DeferredRows<SharedColumn> columns_;
    DeferredRows<LinkedCard> cards_;
    std::function<std::string()> markdown_;
    std::optional<DefinitionIndex> definitions_;  // that are shown
    ColumnPages pages_{from_};
};

AsJson<SharedBoard> open(Call& call, const SharedBoardQuery& in) {
    admit(call);
    const auto token = ShareToken::parse(in.token);
    if (!token) no_such_link();
    call.tx().set_scope(token->org(), std::nullopt);
    const auto link = call.tx().one<OpenLink>(open_link, token->org(), token->digest());
    if (!link) no_such_link();
    require_password(call, *link, in.password);
    AsJson<SharedBoard> shared(Showing(call, token->org(), *link, in).run());
    shared.text = public_text(shared.text);
    call.after_commit([&views = call.use<Views>(), seen = Views::Link{token->org(), link->id}] {
        views.note(seen);
    });
    return shared;
}

constexpr std::array<std::pair<const char*, const char*>, 3> discreet{{
    {"Referrer-Policy", "no-referrer"},  // the address is the secret
    {"Cache-Control", "no-store"},
    {"X-Robots-Tag", "noindex"},
}};

AsJson<SharedBoard> get(Call& call, const SharedBoardQuery& in) {
    for (const auto& [name, value] : discreet) call.add_header(name, value);
    try {
        return open(call, in);
    } catch (const Failure& failure) {
        Failure refusal = failure;
        for (const auto& [name, value] : discreet)
            refusal = std::move(refusal).with_header(name, value);
        throw refusal;
    }
}

const Operation get_shared_board{
    .name = "get_shared_board",
    .route = "GET /v1/shared/{token}",
    .summary = "View a shared board; no account is needed.",
    .description =
        "The board with its columns and the first `page_size` cards of each, 1 MiB of cards "
        "altogether; or the one card the "
        "link is for, or `card_id` names, with what is written on it. Of people it shows names "
        "alone. E-mail addresses and tokens in any text are replaced by `[hidden]`. A link "
        "that never was, was revoked or has expired is 404. One with a password is 403 with the "
        "reason `password_required` or `wrong_password`; wrong ones are counted.",
    .access = Access::anyone,
    .refuses = {403},
    .tool = false,
    .handler = get,
};

// ------------------------------------------------------------------------- not let in elsewhere

/// Refuses those who hold up a share link in place of a token.
class ShareLinkHolders final : public Authenticator {
public:
    std::string_view name() const override { return "share_link"; }
    std::optional<Credential> recognise(const http::Request& request) const override {
        const std::string_view sent = request.header("authorization");
        const auto at = sent.find(' ');
        const auto token = sent.substr(std::min(sent.size(), at + 1));
        if (at == sent.npos || !token.starts_with(ShareToken::prefix)) return std::nullopt;
        throw Failure(
            Fault::restricted,
            "A share link shows what it was made for and is good for nothing else."
        );
    }
    std::function<std::optional<Caller>()> identify(Tx&, const Credential&, const Caller*)
        const override {
        return [] { return std::optional<Caller>(); };
    }
};

}  // namespace

void add_shared_board(Kernel& kernel) {
    static const ShareLinkHolders holders;
    kernel.add(holders);
    kernel.add(get_shared_board);
}

}  // namespace svc::boards
