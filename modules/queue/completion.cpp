#include "modules/queue/completion.hpp"

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/queue/watcher.hpp"

namespace svc::queue {

namespace {

constexpr std::size_t largest_result = 64 << 10;

/// A comment that is to be made once the card is where it goes.
std::unique_ptr<boards::CardComments::Comment> comment_of(Call& call, const std::string& markdown) {
    auto* comments = call.kernel().find<boards::CardComments>();
    if (!comments)
        throw wrong_field(call, "comment", "the module for comments (content) is not enabled");
    return comments->read(call, "comment", markdown);
}

/// Does what was decided of these leases, whose cards were looked at together.
void carry_out(Call& call, const std::vector<LeaseCompletion*>& leases, TellingAtTheEnd& actor) {
    if (leases.empty()) return;
    for (LeaseCompletion* each : leases) each->move().write(actor);
    for (LeaseCompletion* each : leases) {
        if (!each->has_comment()) continue;
        actor.tell();  // of the move first
        each->write_comment();
    }
    std::vector<Ending> endings;
    for (const LeaseCompletion* each : leases) endings.push_back(*each->ending());
    end_leases(call.kernel(), call.tx(), actor, call.org(), endings);
    actor.tell();
}

}  // namespace

void TellingAtTheEnd::emit(const Event& event) {
    Event& kept = events_.emplace_back(event);
    // A card's own events name it as what they are about.
    const Uuid& card = event.card_id ? *event.card_id : event.id;
    const auto asked_by = requests_.find(event.because_of.value_or(card));
    if (asked_by != requests_.end()) kept.request_id = asked_by->second;
}

LeaseCompletion::LeaseCompletion(
    Call& call,
    const std::optional<Uuid>& lease,
    const Completion& in,
    const std::string& request_id
)
    : call_(call),
      lease_(lease),
      in_(in),
      request_id_(request_id),
      token_(token_of(call, lease, in.lease_token)) {
    if (in.result && in.result->text.size() > largest_result)
        throw wrong_field(call, "result", "a result takes at most 64 KiB");
    if (in.comment) comment_ = comment_of(call, *in.comment);
}

void LeaseCompletion::decide(HeldCard found, TellingAtTheEnd& actor) {
    actor.record_under(token_.card(), request_id_);
    request_.emplace(
        call_, lease_, token_, in_.target_column_id, boards::MoveReason::completed, std::move(found)
    );
    if ((again_ = request_->answered(LeaseState::completed))) return;
    request_->require_open_board();
    if (in_.target_column_id) request_->require(boards::BoardRole::editor);
    if (in_.comment) request_->require(boards::BoardRole::viewer);
    boards::Move& move = request_->move();
    if (in_.target_column_id && !move.to())
        throw wrong_field(call_, "target_column_id", "the card's board has no such column");
    const QueueRow& held = request_->held();
    Lease after = ended(lease_of(call_.org(), held), LeaseState::completed, held.now);
    after.result = in_.result;
    after.cost = in_.cost;
    request_->check(lease_completed, after);
    // Where there is nowhere to go it stays; either way its work here is done.
    auto [card, standing] = settled_in(
        move.to() ? move.decide(actor) : *move.card(), move.to(), held.now, std::nullopt
    );
    card_ = std::move(card);
    ending_ = Ending{&lease_completed, std::move(after), held, std::move(standing)};
}

bool completions_are_asked_about(Call& call) {
    return call.has_hooks(lease_completed) || call.has_hooks(boards::card_moved);
}

void complete_together(Call& call, const std::vector<LeaseOfCard>& cards, const Decide& decide) {
    std::vector<boards::MoveWish> wishes;
    for (const LeaseOfCard& each : cards) wishes.push_back(each.card);
    const auto caller = boards::BoardCaller::of(call);
    auto found = look_at(call, caller, wishes, boards::MoveReason::completed);
    TellingAtTheEnd actor(call);
    std::vector<LeaseCompletion*> leases;
    for (std::size_t at = 0; at < cards.size(); ++at) {
        LeaseCompletion* lease = cards[at].lease;
        if (lease && decide(at, std::move(found[at]), actor) && lease->ending())
            leases.push_back(lease);
    }
    carry_out(call, leases, actor);
}

LeaseCompletion complete_one(Call& call, const std::optional<Uuid>& lease, const Completion& in) {
    LeaseCompletion one(call, lease, in, call.request_id());
    complete_together(
        call,
        {{one.wish(), &one}},
        [&](std::size_t, HeldCard found, TellingAtTheEnd& actor) {
            one.decide(std::move(found), actor);
            return true;
        }
    );
    return one;
}

}  // namespace svc::queue
