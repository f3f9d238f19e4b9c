// Completing many leases by one call.

#include "modules/queue/completion.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/watcher.hpp"
#include "svc/attempt.hpp"

#include <list>
#include <set>
#include <utility>

namespace svc::queue {

namespace {

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
        complete_all_but_alone();
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
    void complete_all_but_alone() {
        const bool asked = completions_are_asked_about(call_);
        std::list<LeaseCompletion> leases;
        std::vector<std::size_t> numbers;  // of the leases whose cards these are
        std::vector<LeaseOfCard> cards;
        std::set<Uuid> seen;
        for (std::size_t i = 0; i < leases_.size(); ++i)
            step_of(i, [&] {
                LeaseCompletion* one = nullptr;
                const auto token = token_of(call_, std::nullopt, leases_[i].lease_token);
                const bool again = seen.contains(token.card());
                if (asked || leases_[i].comment || again) alone_.push_back(i);
                else
                    one = &leases.emplace_back(call_, std::nullopt, leases_[i], call_.request_id());
                if (again) return;
                seen.insert(token.card());
                numbers.push_back(i);
                cards.push_back({{token.card(), leases_[i].target_column_id}, one});
            });
        if (cards.empty()) return;
        complete_together(
            call_,
            cards,
            [&](std::size_t at, HeldCard found, TellingAtTheEnd& actor) {
                return decide(numbers[at], *cards[at].lease, std::move(found), actor);
            }
        );
    }

    bool decide(std::size_t i, LeaseCompletion& one, HeldCard found, TellingAtTheEnd& actor) {
        if (!found.row) {  // of no right to the board, or of no lease
            alone_.push_back(i);
            return false;
        }
        step_of(i, [&] { one.decide(std::move(found), actor); });
        if (batch_.results[i].error) return false;
        batch_.results[i].lease = one.lease();
        return true;
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
