// Share links, as those see them who hand them out.

#include "modules/boards/sharing/share_links.hpp"
#include "modules/boards/api/named_cards.hpp"

#include "modules/auth/api.hpp"
#include "modules/boards/lib/share_token.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

constexpr EventKind share_link_created{
    .name = "share_link.created",
    .object = "share_link",
    .summary = "A board can be seen by a link.",
    .record = &record_of<ShareLink>,
    .at = at::board,
    .said_audience = Audience::admins,
};
constexpr EventKind share_link_revoked{
    .name = "share_link.revoked",
    .object = "share_link",
    .summary = "A share link was revoked.",
    .record = &record_of<ShareLink>,
    .at = at::board,
    .vetoable = false,
    .said_audience = Audience::admins,
};

// ------------------------------------------------------------------------------- handing out

struct CreateShareLinkRequest {
    Uuid board_id;
    std::optional<CardRef> card_id;
    std::optional<std::string> password;
    std::optional<Timestamp> expires_at;
    std::optional<std::vector<std::string>> hidden_properties;
};
SVC_RECORD(
    CreateShareLinkRequest,
    (board_id),
    (card_id, "A card of the board, to show that one alone: its id, or its key such as ENG-42."),
    // Trimmed: it comes back in a header, which loses what stands around it.
    (password, "Asked of whoever opens the link.", length(8, 128), trimmed, secret),
    (expires_at, "When it is to stop working."),
    (hidden_properties,
     "Properties of the board that it leaves out, by id or by name. E-mail addresses and files are "
     "left out anyway.",
     length(0, 100),
     items_up_to(100))
);

constexpr Sql find_card{"boards.card_to_share", R"(
    SELECT now() AS now,
        $3::uuid IS NULL OR EXISTS (
            SELECT FROM cards c
            WHERE c.org_id = $1 AND c.board_id = $2 AND c.id = $3 AND NOT c.in_trash) AS there)"};

struct CardToShare {
    Timestamp now;
    bool there = false;
};
SVC_RECORD(CardToShare, (now), (there));

constexpr Sql find_hidden{"boards.properties_to_hide", R"(
    SELECT p.id
    FROM unnest($3::text[]) WITH ORDINALITY w (wanted, n)
    LEFT JOIN properties p
        ON p.org_id = $1 AND p.board_id = $2
        AND (p.id::text = lower(w.wanted) OR p.name_key = lower(w.wanted COLLATE "und-x-icu"))
    ORDER BY w.n)"};

struct HiddenFound {
    std::optional<Uuid> id;
};
SVC_RECORD(HiddenFound, (id));

constexpr Sql insert_link{"boards.insert_share_link", R"(
    INSERT INTO share_links (
        org_id, id, board_id, card_id, digest, password_hash, hidden_properties, expires_at,
        created_by, last_edited_by)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9))"};

constexpr std::string_view links = R"(
    SELECT l.org_id, l.id, l.board_id, l.card_id, 'viewer' AS role,
        l.password_hash IS NOT NULL AS has_password, l.hidden_properties, l.expires_at,
        l.revoked_at, l.view_count, l.created_time, l.created_by, l.last_edited_time,
        l.last_edited_by, l.version, NULL AS url
    FROM share_links l
    WHERE l.org_id = $1)";
constexpr std::string_view page_of_links = R"(
        AND l.board_id = $2 AND ($3::uuid IS NULL OR l.id < $3)
    ORDER BY l.id DESC
    LIMIT $4)";
constexpr Sql some_links{"boards.list_share_links", SqlText<links, page_of_links>::view};

constexpr std::string_view that_link = " AND l.id = $5 AND";
constexpr std::string_view link_for_update = "l.board_id) FOR UPDATE OF l";
constexpr Sql lock_link{
    "boards.lock_share_link", SqlText<links, that_link, if_admin, link_for_update>::view};

constexpr Sql see_board_of_link{"boards.see_board_of_share_link", R"(
    SELECT b.key, b.is_archived, b.in_trash, now() AS now,
        )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role
    FROM share_links l
    JOIN boards b ON b.org_id = $1 AND b.id = l.board_id
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE l.org_id = $1 AND l.id = $5)"};

constexpr Sql revoke_link{"boards.revoke_share_link", R"(
    UPDATE share_links
    SET revoked_at = now(), last_edited_time = now(), last_edited_by = $3, version = version + 1
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql count_views{"boards.count_views", R"(
    UPDATE share_links SET view_count = view_count + $3 WHERE org_id = $1 AND id = $2)"};

void require_admin(const std::optional<BoardAccess>& board, std::string_view thing) {
    if (!board || board->in_trash) not_found(thing);
    require(board->role, BoardRole::admin, thing);
}

std::vector<std::string> ids_of(Call& call, std::vector<HiddenFound> found) {
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (!found[i].id)
            throw wrong_item(call, "hidden_properties", i, "the board has no such property");
        const std::string id = found[i].id->str();
        if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    }
    return ids;
}

ShareLink create(Call& call, const CreateShareLinkRequest& in) {
    std::optional<std::string> hash;
    if (in.password) hash = call.use<auth::PasswordService>().hash(call, *in.password);
    Tx& tx = call.tx();
    auto wanted = in.card_id;
    if (wanted) find_ids(call, {&*wanted});
    auto seen = BoardCaller::of(call).later<BoardAccess>(tx, see_board, in.board_id);
    auto card = tx.later<CardToShare>(find_card, call.org(), in.board_id, id_in(wanted));
    auto hidden = tx.later<HiddenFound>(
        find_hidden,
        call.org(),
        in.board_id,
        in.hidden_properties.value_or(std::vector<std::string>{})
    );
    require_admin(seen.one(), "board");
    const CardToShare found = card.one_or_retry();
    if (!found.there) throw wrong_field(call, "card_id", "the board has no such card");
    if (in.expires_at && *in.expires_at <= found.now)
        throw wrong_field(call, "expires_at", "this is in the past");

    const ShareToken token(call.org());
    ShareLink link;
    link.id = new_uuid();
    link.org_id = call.org();
    link.board_id = in.board_id;
    link.card_id = id_in(wanted);
    link.has_password = hash.has_value();
    link.hidden_properties = AsJson(ids_of(call, hidden.all()));
    link.expires_at = in.expires_at;
    link.created_time = link.last_edited_time = found.now;
    link.created_by = link.last_edited_by = AsJson(ref_of(call.caller()));
    link.url = call.kernel().base_url() + "/shared/" + token.str();

    const Event made = created(share_link_created, link).on_board(in.board_id);
    call.check(made);
    tx.queue(
        insert_link,
        link.org_id,
        link.id,
        link.board_id,
        link.card_id,
        token.digest(),
        hash,
        link.hidden_properties.text,
        link.expires_at,
        link.created_by.text
    );
    call.emit(made);
    return link;
}

// ----------------------------------------------------------------------------------- listing

struct ShareLinksQuery {
    Uuid board_id;
    Paging paging;
};
SVC_RECORD(ShareLinksQuery, (board_id), (paging, "", flatten));

Page<ShareLink> list(Call& call, const ShareLinksQuery& in) {
    const auto after = call.after(in.paging);
    auto seen = BoardCaller::of(call).later<BoardAccess>(call.tx(), see_board, in.board_id);
    auto found = call.tx().later<ShareLink>(
        some_links,
        call.org(),
        in.board_id,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    require_admin(seen.one(), "board");
    return call.page(found.all(), in.paging, [](const ShareLink& last) {
        return std::vector{last.id.str()};
    });
}

// ------------------------------------------------------------------------------- taking back

struct ShareLinkId {
    Uuid share_link_id;
};
SVC_RECORD(ShareLinkId, (share_link_id));

void revoke(Call& call, const ShareLinkId& in) {
    Tx& tx = call.tx();
    auto found = BoardCaller::of(call).later<ShareLink>(tx, lock_link, in.share_link_id);
    auto seen = BoardCaller::of(call).later<BoardAccess>(tx, see_board_of_link, in.share_link_id);
    const auto board = seen.one();
    require_admin(board, "share link");
    const auto before = found.one();
    if (!before) not_found("share link");
    if (before->revoked_at) return;
    call.require_version(before->version);
    ShareLink after = *before;
    after.revoked_at = after.last_edited_time = board->now;
    after.last_edited_by = AsJson(ref_of(call.caller()));
    after.version += 1;
    const Event event = changed(share_link_revoked, *before, after).on_board(after.board_id);
    call.check(event);
    tx.queue(revoke_link, call.org(), after.id, after.last_edited_by.text);
    call.emit(event);
}

const Operation create_share_link{
    .name = "create_share_link",
    .route = "POST /v1/boards/{board_id}/share-links",
    .summary = "Create a share link that shows the board, or one card, to whoever has it.",
    .description =
        "What it leads to can be read and not changed, without e-mail addresses, tokens, files and "
        "the properties that are hidden. The `url` is in this answer alone; whoever has it needs "
        "no "
        "account, but the password if there is one.",
    .access = Access::board_admin,
    .status = 201,
    .body_limit = 64 << 10,
    .handler = create,
};

const Operation list_share_links{
    .name = "list_share_links",
    .route = "GET /v1/boards/{board_id}/share-links",
    .summary = "List a board's share links, newest first.",
    .description = "Those that were revoked or have expired as well.",
    .access = Access::board_admin,
    .handler = list,
};

const Operation revoke_share_link{
    .name = "revoke_share_link",
    .route = "DELETE /v1/share-links/{share_link_id}",
    .summary = "Revoke a share link; it stops working at once.",
    .access = Access::board_admin,
    .status = 204,
    .destructive = true,
    .idempotent = true,
    .versioned = true,
    .handler = revoke,
};

}  // namespace

void Views::write_down(Kernel& kernel) {
    std::map<Link, std::int64_t> counts;
    {
        const std::scoped_lock lock(mutex_);
        counts.swap(counts_);
    }
    for (const auto& each : counts)
        kernel.transact(Tx::Mode::write, [&each](Tx& tx) {
            const auto& [link, count] = each;
            tx.set_scope(link.org, std::nullopt);
            tx.queue(count_views, link.org, link.id, count);
        });
}

void add_share_links(Kernel& kernel) {
    for (const EventKind* each : {&share_link_created, &share_link_revoked}) kernel.add(*each);
    for (const Operation* each : {&create_share_link, &list_share_links, &revoke_share_link})
        kernel.add(*each);
    kernel.every("boards.count_views", std::chrono::seconds(5), [&kernel] {
        kernel.use<Views>().write_down(kernel);
    });
}

}  // namespace svc::boards
