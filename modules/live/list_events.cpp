#include "modules/live/list_events.hpp"

#include "modules/live/hub.hpp"
#include "modules/live/rights.hpp"
#include "modules/live/streams.hpp"
#include "svc/as_json.hpp"
#include "svc/org_events.hpp"

namespace svc::live {

namespace {

struct ListEventsRequest {
    std::int64_t after = 0;
    std::optional<Uuid> board_id;
    std::optional<std::vector<std::string>> kinds;
    std::int64_t wait_seconds = 0;
    std::int64_t page_size = 25;
};
SVC_RECORD(
    ListEventsRequest,
    (after,
     "The `sequence` that the last answer ended with; 0 for the first event that is kept.",
     range(0, std::numeric_limits<std::int64_t>::max() / 2),
     defaulted),
    (board_id, "Only what happens on this board."),
    (kinds,
     "Only these: kinds, `noun.*` or `*`. Name it several times for several.",
     length(1, most_kinds),
     items_up_to(longest_kind)),
    (wait_seconds,
     "How long to wait for an event when there is none. Does not wait when the caller has as many "
     "calls waiting as the server allows.",
     range(0, 45),
     defaulted),
    (page_size, "How many events to return at most.", range(1, 100), defaulted)
);

struct EventList {
    Object<"list"> object;
    std::string type = "event";
    std::vector<AsJson<EventEnvelope>> results;
    std::int64_t sequence = 0;
    bool has_more = false;
    std::optional<std::int64_t> gap_before;
};
SVC_RECORD(
    EventList,
    (object, "Always \"list\"."),
    (type, "Always \"event\"."),
    (results, "The events, oldest first: the same bytes as webhooks and streams get."),
    (sequence, "How far this answer looked: give it as `after` to go on."),
    (has_more, "More is there already. False: ask again, with `wait_seconds`."),
    (gap_before,
     "The events between `after` and this sequence are no longer kept; null when none are missing.")
);

/// The roles that decide which of the events the caller sees.
class Roles {
public:
    Roles(Call& call, const boards::BoardCaller& caller) : call_(call), caller_(caller) {}

    void ask(const EventPage& page) {
        std::vector<RoleQuestion> questions;
        for (const StoredEvent& each : page.events)
            if (each.board_id && roles_.try_emplace(*each.board_id).second)
                questions.push_back({caller_, *each.board_id});
        if (questions.empty()) return;
        const auto answers = ask_roles(call_.tx(), caller_.org, questions)();
        for (std::size_t i = 0; i < answers.size(); ++i) roles_[questions[i].board] = answers[i];
    }
    bool sees(const StoredEvent& event) const {
        const auto found = event.board_id ? roles_.find(*event.board_id) : roles_.end();
        const auto role = found == roles_.end() ? std::nullopt : found->second;
        const Audience audience = audience_of(call_.kernel(), event.kind);
        return may_see(audience, event.board_id.has_value(), role, caller_.role);
    }

private:
    Call& call_;
    const boards::BoardCaller& caller_;
    std::map<Uuid, std::optional<boards::BoardRole>> roles_;
};

Filter filter_of(const Call& call, const ListEventsRequest& in) {
    Filter filter{in.board_id, in.kinds.value_or(std::vector<std::string>{})};
    if (!std::ranges::all_of(filter.kinds, is_kind_filter))
        throw wrong_field(
            call,
            "kinds",
            "Should be kinds, `noun.*` or `*`, each in a parameter of its own",
            FieldPlace::query
        );
    return filter;
}

/// What the call waits by, if it has waited already. Null where it cannot: in a batch, say.
std::shared_ptr<void>* kept_wait(Call& call) try {
    return &call.own_work();
} catch (const Failure&) {
    return nullptr;
}

/// Nothing when the caller's role is another by now: they may see other events.
EventWait* wait_in(const std::shared_ptr<void>* kept, const boards::BoardCaller& caller) {
    auto* wait = kept ? static_cast<EventWait*>(kept->get()) : nullptr;
    return wait && wait->viewer().caller().role == caller.role ? wait : nullptr;
}

EventList list(Call& call, const ListEventsRequest& in) {
    const auto caller = boards::BoardCaller::of(call);
    const Filter filter = filter_of(call, in);
    auto* kept = in.wait_seconds > 0 ? kept_wait(call) : nullptr;
    EventWait* wait = wait_in(kept, caller);
    auto read = read_events(
        call.tx(),
        caller.org,
        {.after = wait ? wait->looked_to() : in.after,
         .board = filter.board,
         .kinds = filter.kinds,
         .count = in.page_size}
    );
    if (in.board_id && !ask_roles(call.tx(), caller.org, {{caller, *in.board_id}})().front())
        not_found("board");
    const EventPage page = read();
    Roles roles(call, caller);
    roles.ask(page);
    EventList out;
    for (const StoredEvent& each : page.events) {
        if (!roles.sees(each)) continue;
        out.results.emplace_back().text = each.envelope;
    }
    if (in.after > page.last) {  // never given, as after a restore
        out.sequence = page.last;
        out.gap_before = page.last + 1;
        return out;
    }
    if (kept && out.results.empty() && page.is_last()) {
        if (!wait) *kept = call.use<Hub>().wait_of(caller, ref_of(call.caller()), filter);
        if ((wait = wait_in(kept, caller))) {
            wait->begin(page.to);
            call.wait_for(wait->topic(), std::chrono::seconds(in.wait_seconds), Awaited::announced);
        }
    }
    out.sequence = page.to;
    out.has_more = !page.is_last();
    if (in.after > 0 && page.is_gap(in.after)) out.gap_before = page.oldest;
    return out;
}

}  // namespace

const Operation list_events{
    .name = "list_events",
    .route = "GET /v1/events",
    .summary = "List what happened in the workspace after an event that you know.",
    .description =
        "The events that the caller may see, oldest first, for as long as events are kept. Go on "
        "with `after` set to the answer's `sequence`; `wait_seconds` waits for the next. An answer "
        "looks at 1,000 events at most, so with a filter it may be empty and yet have more. "
        "Streams "
        "(`/v1/ws`, `/v1/sse`) give the same events as they happen.",
    .access = Access::member,
    .handler = list,
};

}  // namespace svc::live
