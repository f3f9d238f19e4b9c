// Completing leases: one, or many in one call.

#include "modules/boards/api/bodies.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/holder_request.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/watcher.hpp"
#include "svc/attempt.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace svc::queue {

namespace {

struct Completion {
    std::string lease_token;
    std::optional<Uuid> target_column_id;
    std::optional<LeaseResultData> result;
    std::optional<LeaseCost> cost;
    std::optional<std::string> comment;
};
SVC_RECORD(
    Completion,
    (lease_token, token_doc, length(1, 100), secret),
    (target_column_id, "Where the card goes; where its column sends completed cards if left out."),
    (result, "What came of it: an object of at most 64 KiB."),
    (cost, "What it cost, as far as you know; kept with the attempt."),
    (comment,
     "Said about the card, as Markdown, as create_comment does.",
     length(1, boards::CardComments::most_characters))
);

struct CompleteLeaseRequest {
    Uuid lease_id;
    Completion completion;
};
SVC_RECORD(CompleteLeaseRequest, (lease_id), (completion, "", flatten));

constexpr std::size_t largest_result = 64 << 10;

bool fits(const Completion& in) { return !in.result || in.result->text.size() <= largest_result; }

/// A comment that is to be made once the card is where it goes.
std::unique_ptr<boards::CardComments::Comment> comment_of(Call& call, const std::string& markdown) {
    auto* comments = call.kernel().find<boards::CardComments>();
    if (!comments)
        throw wrong_field(call, "comment", "the module for comments (content) is not enabled");
    return comments->read(call, "comment", markdown);
}

/// Tells at the end, with one statement, of what a call has done.
class TellingAtTheEnd final : public Actor {
public:
    explicit TellingAtTheEnd(Call& call) : call_(call) {}
    PrincipalRef who() const override { return ref_of(call_.caller()); }
    void check(const Event& event) override { call_.check(event); }
    void emit(const Event& event) override {
        Event& kept = events_.emplace_back(event);
        const auto own = event.card_id ? requests_.find(*event.card_id) : requests_.end();
        kept.request_id = own == requests_.end() ? present_ : own->second;
    }
    void after_commit(std::function<void()> then) override { call_.after_commit(std::move(then)); }
    void tell() { call_.emit_all(std::exchange(events_, {})); }

    /// What happens to this card, and what else follows from it until the next one, is recorded
    /// under the request that asked for it.
    void now_about(const Uuid& card, const std::string& request_id) {
        requests_[card] = present_ = request_id;
    }

private:
    Call& call_;
    std::vector<Event> events_;
    std::map<Uuid, std::string> requests_;
    std::string present_;
};

/// One of the leases that a call completes.
class OneOfThem {
public:
    OneOfThem(
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
        if (!fits(in))
            throw wrong_field(call, "result", "a result takes at most 64 KiB");
        if (in.comment) comment_ = comment_of(call, *in.comment);
    }

    boards::MoveWish wish() const { return {token_.card(), in_.target_column_id}; }

    /// Once its card was looked at. Where it goes, or why not.
    void decide(HeldCard found, Actor& actor) {
        request_.emplace(
            call_,
            lease_,
            token_,
            in_.target_column_id,
            boards::MoveReason::completed,
            std::move(found)
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

    /// Nothing when the lease was over already.
    const std::optional<Ending>& ending() const { return ending_; }
    void write_move(TellingAtTheEnd& actor) {
        actor.now_about(token_.card(), request_id_);
        request_->move().write(actor);
    }
    bool has_comment() const { return ending_ && comment_; }
    void write_comment() { comment_->write(call_, *card_, request_->held().now); }

    LeaseResult result() { return again_ ? *again_ : request_->result(ending_->after, *card_); }
    AsJson<Lease> lease() const { return again_ ? again_->lease : AsJson(ending_->after); }

private:
    Call& call_;
    const std::optional<Uuid> lease_;
    const Completion& in_;
    const std::string request_id_;
    const LeaseToken token_;
    std::unique_ptr<boards::CardComments::Comment> comment_;
    std::optional<HolderRequest> request_;
    std::optional<LeaseResult> again_;
    std::optional<Ending> ending_;
    std::optional<boards::Card> card_;
};

std::vector<HeldCard> look_at_all(Call& call, const std::vector<boards::MoveWish>& cards) {
    const auto caller = boards::BoardCaller::of(call);
    return look_at(call, caller, cards, boards::MoveReason::completed);
}

/// Does what was decided of these leases, whose cards were looked at together.
void carry_out(Call& call, const std::vector<OneOfThem*>& leases, TellingAtTheEnd& actor) {
    if (leases.empty()) return;
    for (OneOfThem* each : leases) each->write_move(actor);
    for (OneOfThem* each : leases) {
        if (!each->has_comment()) continue;
        actor.tell();  // of the move first
        each->write_comment();
    }
    std::vector<Ending> endings;
    for (const OneOfThem* each : leases) endings.push_back(*each->ending());
    end_leases(call.kernel(), call.tx(), actor, call.org(), endings);
    actor.tell();
}

OneOfThem complete_one(Call& call, const std::optional<Uuid>& lease, const Completion& in) {
    OneOfThem one(call, lease, in, call.request_id());
    TellingAtTheEnd actor(call);
    one.decide(std::move(look_at_all(call, {one.wish()}).front()), actor);
    if (one.ending()) carry_out(call, {&one}, actor);
    return one;
}

LeaseResult complete(Call& call, const CompleteLeaseRequest& in) {
    return complete_one(call, in.lease_id, in.completion).result();
}

// ------------------------------------------------------------------- several calls, each for one

std::optional<std::string> completions_alike(Call& call, const CompleteLeaseRequest& in) {
    // What may be refused once something is written is completed by itself.
    const bool hooked = call.has_hooks(lease_completed) || call.has_hooks(boards::card_moved);
    const bool plain = !in.completion.comment && LeaseToken::parse(in.completion.lease_token);
    return plain && !hooked ? std::optional<std::string>("") : std::nullopt;
}

/// Those that are refused, and those behind another of the same card, go by themselves.
std::vector<std::optional<LeaseResult>> complete_each(
    Call& call, std::span<const JointRequest<CompleteLeaseRequest>> requests
) {
    std::vector<boards::MoveWish> cards;
    std::vector<std::pair<std::size_t, OneOfThem>> together;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto& [in, request_id] = requests[i];
        if (!fits(in.completion)) continue;
        OneOfThem one(call, in.lease_id, in.completion, request_id);
        const Uuid card = one.wish().card;
        if (std::ranges::find(cards, card, &boards::MoveWish::card) != cards.end()) continue;
        cards.push_back(one.wish());
        together.emplace_back(i, std::move(one));
    }
    auto found = look_at_all(call, cards);
    TellingAtTheEnd actor(call);
    std::vector<OneOfThem*> ending;
    std::vector<std::pair<std::size_t, OneOfThem*>> answered;
    for (std::size_t at = 0; at < together.size(); ++at) {
        auto& [i, one] = together[at];
        if (!found[at].row) continue;
        try {
            one.decide(std::move(found[at]), actor);
        } catch (const Failure& failure) {
            if (failure.status() >= 500) throw;
            continue;
        }
        answered.emplace_back(i, &one);
        if (one.ending()) ending.push_back(&one);
    }
    carry_out(call, ending, actor);
    std::vector<std::optional<LeaseResult>> results(requests.size());
    for (const auto& [i, one] : answered) results[i] = one->result();
    return results;
}

// -------------------------------------------------------------------------- many in one call

struct CompleteLeasesRequest {
    std::vector<Completion> leases;
};
SVC_RECORD(
    CompleteLeasesRequest, (leases, "Each by its token, whatever its board.", length(1, 25))
);

struct CompletedLease {
    std::int64_t index = 0;
    std::int64_t status = 200;
    std::optional<AsJson<Lease>> lease;
    std::optional<JsonText> error;
};
SVC_RECORD(
    CompletedLease,
    (index, "Its place among the leases of the request, beginning with 0."),
    (status, "What complete_lease would have answered."),
    (lease, "As it is now; null when it was not completed."),
    (error, "The body of the refusal; null when it went well.")
);

struct LeaseBatch {
    Object<"lease_batch"> object;
    std::int64_t succeeded_count = 0;
    std::int64_t failed_count = 0;
    std::vector<CompletedLease> results;
};
SVC_RECORD(
    LeaseBatch,
    (object),
    (succeeded_count, "How many are completed, by this call or before."),
    (failed_count, "How many were refused; their leases are as they were."),
    (results, "One for each lease of the request, in the same order.")
);

class Batch {
public:
    Batch(Call& call, const std::vector<Completion>& leases) : call_(call), leases_(leases) {
        batch_.results.resize(leases.size());
        for (std::size_t i = 0; i < leases.size(); ++i)
            batch_.results[i].index = static_cast<std::int64_t>(i);
    }

    LeaseBatch run() {
        complete_together();
        for (const std::size_t i : alone_) complete_alone(i);
        for (const CompletedLease& each : batch_.results)
            ++(each.error ? batch_.failed_count : batch_.succeeded_count);
        return std::move(batch_);
    }

private:
    InputPart part(std::size_t i) { return InputPart(call_, "\"leases\"," + std::to_string(i)); }

    /// Runs `step` of this lease; what refuses it is its answer.
    void step_of(std::size_t i, const std::function<void()>& step) {
        const auto within = part(i);
        try {
            step();
        } catch (const Failure& failure) {
            if (failure.status() >= 500) throw;
            refuse(i, failure);
        }
    }

    void refuse(std::size_t i, const Failure& failure) {
        call_.note<EndedHere>().tokens.erase(leases_[i].lease_token);
        CompletedLease& done = batch_.results[i];
        done.status = failure.status();
        done.error = JsonText{failure.body(call_.request_id())};
    }

    /// All but those that may be refused once something is written, and those that come behind
    /// another of the same card: these are looked at, which locks them in the order in which all
    /// lock, and completed behind the others.
    void complete_together() {
        const bool hooked = call_.has_hooks(lease_completed) || call_.has_hooks(boards::card_moved);
        std::vector<boards::MoveWish> cards;
        std::vector<std::pair<std::size_t, std::optional<OneOfThem>>> together;
        for (std::size_t i = 0; i < leases_.size(); ++i)
            step_of(i, [&] {
                std::optional<OneOfThem> one;
                const bool by_itself = hooked || leases_[i].comment;
                const auto token = token_of(call_, std::nullopt, leases_[i].lease_token);
                const bool again =
                    std::ranges::find(cards, token.card(), &boards::MoveWish::card) != cards.end();
                if (by_itself || again) alone_.push_back(i);
                else one.emplace(call_, std::nullopt, leases_[i], call_.request_id());
                if (again) return;
                cards.push_back({token.card(), leases_[i].target_column_id});
                together.emplace_back(i, std::move(one));
            });
        if (cards.empty()) return;
        auto found = look_at_all(call_, cards);
        TellingAtTheEnd actor(call_);
        std::vector<OneOfThem*> ending;
        for (std::size_t at = 0; at < together.size(); ++at) {
            auto& [i, one] = together[at];
            if (!one) continue;
            if (!found[at].row) {  // of no right to the board, or of no lease
                alone_.push_back(i);
                continue;
            }
            step_of(i, [&] { one->decide(std::move(found[at]), actor); });
            if (batch_.results[i].error) continue;
            batch_.results[i].lease = one->lease();
            if (one->ending()) ending.push_back(&*one);
        }
        carry_out(call_, ending, actor);
    }

    void complete_alone(std::size_t i) {
        const auto within = part(i);
        const auto failure = attempt(call_.tx(), [&] {
            batch_.results[i].lease = complete_one(call_, std::nullopt, leases_[i]).lease();
        });
        if (!failure) return;
        batch_.results[i].lease.reset();
        refuse(i, *failure);
    }

    Call& call_;
    const std::vector<Completion>& leases_;
    LeaseBatch batch_;
    std::vector<std::size_t> alone_;
};

LeaseBatch complete_all(Call& call, const CompleteLeasesRequest& in) {
    return Batch(call, in.leases).run();
}

}  // namespace

const Operation complete_lease{
    .name = "complete_lease",
    .route = "POST /v1/leases/{lease_id}:complete",
    .summary = "Complete a lease and move its card to the next column.",
    .description =
        "Ends the lease and moves the card to `target_column_id`, or to where its "
        "column sends completed cards; naming a column takes the right to edit the board. "
        "`comment` is said about the card in the same moment. Asking again gives the lease as it "
        "ended and the card as it is now. 409 `lease_lost` when the lease ended otherwise, 409 "
        "`wip_limit_reached` when the target is full.",
    .access = Access::member,
    .idempotent = true,
    .worker = true,
    .handler = complete,
    .joint_handler = {completions_alike, complete_each},
};

const Operation complete_leases{
    .name = "complete_leases",
    .route = "POST /v1/leases:complete",
    .summary = "Complete up to 25 leases in one call, each by its token.",
    .description =
        "Each lease is completed as by complete_lease, or refused by itself: then `results` has "
        "the refusal and the others are completed all the same. Asking again gives the leases as "
        "they ended.",
    .access = Access::member,
    .idempotent = true,
    .body_limit = 4 << 20,
    .handler = complete_all,
};

}  // namespace svc::queue
