#include "modules/live/tickets.hpp"

#include "svc/encoding.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace svc::live {

namespace {

constexpr std::string_view purpose = "live.ticket";
constexpr std::chrono::seconds lifetime{60};
constexpr std::string_view places[] = {"/v1/ws", "/v1/sse"};

/// All that a ticket says; sealed, so that nobody can read it or make one.
struct Ticket {
    Uuid id;
    Uuid org;
    Timestamp expires_at;
    std::string authenticator, key;
};

constexpr char between = '\n';

std::string text_of(const Ticket& ticket) {
    std::string out;
    for (const std::string& each :
         {ticket.id.str(),
          ticket.org.str(),
          std::to_string(ticket.expires_at.micros),
          ticket.authenticator,
          ticket.key})
        (out += each) += between;
    return out;
}

std::optional<Ticket> ticket_of(std::string_view text) {
    std::array<std::string_view, 5> parts;
    for (std::string_view& each : parts) {
        const auto end = text.find(between);
        if (end == text.npos) return std::nullopt;
        each = text.substr(0, end);
        text.remove_prefix(end + 1);
    }
    const auto id = Uuid::parse(parts[0]), org = Uuid::parse(parts[1]);
    std::int64_t expires = 0;
    const auto [end, problem] =
        std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), expires);
    if (!id || !org || problem != std::errc{} || end != parts[2].data() + parts[2].size())
        return std::nullopt;
    return Ticket{*id, *org, {expires}, std::string(parts[3]), std::string(parts[4])};
}

std::optional<Ticket> open(const Kernel& kernel, std::string_view sealed) {
    const auto bytes = from_base64(sealed);
    const auto text = bytes ? kernel.unseal(purpose, "", *bytes) : std::nullopt;
    return text ? ticket_of(*text) : std::nullopt;
}

Failure no_ticket() {
    return Failure(
        Fault::unauthorized,
        "The ticket is not good any more: it opens one stream, within a minute of its making."
    );
}

constexpr Sql use_up{"live.use_ticket", R"(
    INSERT INTO used_tickets (org_id, id, expires_at)
    VALUES ($1, $2, $3)
    ON CONFLICT (org_id, id) DO NOTHING)"};

// What would not be taken any more, whether it was used or not.
constexpr Sql drop_old{"live.drop_old_tickets", R"(
    DELETE FROM used_tickets
    WHERE org_id = $1 AND id IN (
        SELECT t.id FROM used_tickets t
        WHERE t.org_id = $1 AND t.expires_at < now() - interval '1 hour'
        LIMIT 100
        FOR UPDATE SKIP LOCKED))"};

struct WsTicket {
    Object<"ws_ticket"> object;
    std::string ticket;
    Timestamp expires_at;
};
SVC_RECORD(
    WsTicket,
    (object, "Always \"ws_ticket\"."),
    (ticket, "For the query of `/v1/ws` or `/v1/sse`: `?ticket=…`. It opens one stream.", secret),
    (expires_at, "Until when it opens one.")
);

WsTicket create(Call& call, const Nothing&) {
    const Uuid& org = call.org();
    const auto sign_in = call.sign_in();
    if (!sign_in)
        throw Failure(Fault::restricted, "Only who has signed in gets a ticket for a stream.");
    const Timestamp expires{Timestamp::now().micros + std::chrono::microseconds(lifetime).count()};
    const Ticket ticket{new_uuid(), org, expires, sign_in->authenticator, sign_in->key};
    return {{}, base64(call.kernel().seal(purpose, "", text_of(ticket))), expires};
}

}  // namespace

const Operation create_ws_ticket{
    .name = "create_ws_ticket",
    .route = "POST /v1/ws-tickets",
    .summary = "Create a ticket that opens one stream of events.",
    .description =
        "For pages that can neither set a header on a stream nor use our cookie: put the ticket "
        "into the address, as `/v1/ws?ticket=…` or `/v1/sse?ticket=…`, within a minute. The stream "
        "is the caller's own, in the workspace of this request.",
    .access = Access::me,
    .tool = false,
    .reads = true,
    .handler = create,
};

std::optional<std::string> ticket_in(const http::Request& request) {
    if (std::ranges::find(places, request.path) == std::end(places)) return std::nullopt;
    const auto query = http::parse_query(request.query);
    if (!query) return std::nullopt;
    for (const auto& [name, value] : *query)
        if (name == "ticket") return value;
    return std::nullopt;
}

std::optional<Credential> TicketAuthenticator::recognise(const http::Request& request) const {
    const auto sealed = ticket_in(request);
    if (!sealed) return std::nullopt;
    const auto ticket = open(kernel_, *sealed);
    if (!ticket || ticket->expires_at <= Timestamp::now()) throw no_ticket();
    return Credential{text_of(*ticket), {}};
}

std::function<std::optional<Caller>()> TicketAuthenticator::identify(
    Tx& tx, const Credential& credential, const Caller* before
) const {
    const auto ticket = ticket_of(credential.key);
    const Authenticator* by = ticket ? kernel_.find_authenticator(ticket->authenticator) : nullptr;
    if (!by || by == this) return [] { return std::nullopt; };
    return by->identify(tx, Credential{ticket->key, ticket->org}, before);
}

void redeem(Kernel& kernel, std::string_view sealed) {
    const auto ticket = open(kernel, sealed);
    if (!ticket) throw no_ticket();
    bool first = false;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(ticket->org, {});
        auto used = tx.queue(use_up, ticket->org, ticket->id, ticket->expires_at);
        tx.queue(drop_old, ticket->org);
        first = used.affected() > 0;
    });
    if (!first) throw no_ticket();
}

}  // namespace svc::live
