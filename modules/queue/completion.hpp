#pragma once

#include "modules/boards/api/bodies.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/holder_request.hpp"

#include <map>

/// Completing leases: what one and many have in common.
namespace svc::queue {

struct Completion {
    std::string lease_token;
    std::optional<Uuid> target_column_id;
    std::optional<LeaseResultData> result;
    std::optional<LeaseCost> cost;
    std::optional<std::string> comment;
};
SVC_SHARED_RECORD(
    Completion,
    (lease_token, token_doc, length(1, 100), secret),
    (target_column_id, "Where the card goes; where its column sends completed cards if left out."),
    (result, "What came of it: an object of at most 64 KiB."),
    (cost, "What it cost, as far as you know; kept with the attempt."),
    (comment,
     "Said about the card, as Markdown, as create_comment does.",
     length(1, boards::CardComments::most_characters))
);

/// Tells at the end, with one statement, of what a call has done.
class TellingAtTheEnd final : public Actor {
public:
    explicit TellingAtTheEnd(Call& call) : call_(call) {}
    PrincipalRef who() const override { return ref_of(call_.caller()); }
    void check(const Event& event) override { call_.check(event); }
    void emit(const Event& event) override;
    void after_commit(std::function<void()> then) override { call_.after_commit(std::move(then)); }
    void tell() { call_.emit_all(std::exchange(events_, {})); }

    /// What happens to this card, and what follows from that for others, is recorded under the
    /// request that asked for it.
    void record_under(const Uuid& card, const std::string& request_id) {
        requests_[card] = request_id;
    }

private:
    Call& call_;
    std::vector<Event> events_;
    std::map<Uuid, std::string> requests_;
};

/// One of the leases that a call completes. `in` outlives it.
class LeaseCompletion {
public:
    /// Throws what is wrong with what is asked, as far as that is known without the lease.
    LeaseCompletion(
        Call& call,
        const std::optional<Uuid>& lease,
        const Completion& in,
        const std::string& request_id
    );

    boards::MoveWish wish() const { return {token_.card(), in_.target_column_id}; }

    /// Once its card was looked at: where it goes. Throws what keeps it from that.
    void decide(HeldCard found, TellingAtTheEnd& actor);

    /// Nothing when the lease was over already.
    const std::optional<Ending>& ending() const { return ending_; }
    boards::Move& move() { return request_->move(); }
    bool has_comment() const { return ending_ && comment_; }
    void write_comment() { comment_->write(call_, *card_, request_->held().now); }

    LeaseResult result() const {
        return again_ ? *again_ : request_->result(ending_->after, *card_);
    }
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

/// Whether somebody is asked who may refuse a completion once something is written.
bool completions_are_asked_about(Call& call);

/// One of the cards that are looked at together; null where no lease of it is completed here.
struct LeaseOfCard {
    boards::MoveWish card;
    LeaseCompletion* lease = nullptr;
};
/// Decides the lease of one of them, and says whether to do what was decided.
using Decide = std::function<bool(std::size_t at, HeldCard found, TellingAtTheEnd& actor)>;
/// Looks at all cards, each another, in one round trip, which locks them in the order in which all
/// lock; has each lease decided, in the order given; and completes those that are to be.
void complete_together(Call& call, const std::vector<LeaseOfCard>& cards, const Decide& decide);
/// The same for one.
LeaseCompletion complete_one(Call& call, const std::optional<Uuid>& lease, const Completion& in);

}  // namespace svc::queue
