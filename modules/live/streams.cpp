#include "modules/live/streams.hpp"

#include "modules/lib/origin/origin.hpp"
#include "modules/live/rights.hpp"
#include "modules/live/tickets.hpp"

#include <algorithm>

namespace svc::live {

void Streams::refuse_other_sites(const RouteCall& call, Told told) const {
    const http::Request& request = call.request();
    const Caller& caller = *call.caller();
    if (!caller.session_id || ticket_in(request)) return;  // sent on purpose
    const auto origin = request.header("origin");
    if (allows(origin)) return;
    const bool unsaid = origin.empty() && told == Told::always;
    if (!unsaid && !from_another_site(kernel_.base_url(), request)) return;
    throw Failure(
        Fault::csrf,
        "A stream that is signed in by cookie may be opened by our own pages only, and by those of "
        "`live.allowed_origins`; others use a ticket."
    );
}

bool Streams::allows(std::string_view origin) const {
    return names_one_of(allowed_origins_, origin);
}

/// A ticket is all that such a page needs, and no other site has it; a cookie is for those sites
/// alone that the operator trusts.
http::Headers Streams::for_other_sites(const http::Request& request) const {
    const auto origin = request.header("origin");
    http::Headers headers{{"Vary", "Origin"}};
    if (origin.empty()) return headers;
    if (allows(origin)) {
        headers.emplace_back("Access-Control-Allow-Origin", origin);
        headers.emplace_back("Access-Control-Allow-Credentials", "true");
    } else if (ticket_in(request)) {
        headers.emplace_back("Access-Control-Allow-Origin", "*");
    }
    return headers;
}

void Streams::refuse_head(const RouteCall& call) const {
    if (call.request().method == "GET") return;
    throw Failure(Fault::wrong_method, "A stream is opened by GET.").with_header("Allow", "GET");
}

void Streams::redeem_ticket(const RouteCall& call) const {
    if (const auto ticket = ticket_in(call.request())) redeem(kernel_, *ticket);
}

boards::BoardCaller Streams::caller_of(const RouteCall& call) const {
    const Caller& caller = *call.caller();
    if (!caller.org_id) not_found("workspace");
    return boards::BoardCaller::of(caller, *caller.org_id);
}

Viewer& Streams::enter(Feed& feed, const RouteCall& call) const {
    const std::lock_guard lock(feed.mutex());
    return feed.enter(caller_of(call), ref_of(*call.caller()));
}

/// Said before the stream begins, where a status can say it.
void Streams::require_board(const boards::BoardCaller& caller, const Uuid& board) const {
    std::optional<boards::BoardRole> role;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(caller.org, {});
        role = ask_roles(tx, caller.org, {{caller, board}})().front();
    });
    if (!role) not_found("board");
}

bool is_kind_filter(std::string_view text) {
    if (text == "*") return true;
    const auto is_word = [](std::string_view word) {
        return !word.empty() && std::ranges::all_of(word, [](char each) {
            return (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9') || each == '_';
        });
    };
    const auto dot = text.find('.');
    if (text.size() > longest_kind || dot == text.npos || !is_word(text.substr(0, dot)))
        return false;
    const auto verb = text.substr(dot + 1);
    return verb == "*" || is_word(verb);
}

}  // namespace svc::live
