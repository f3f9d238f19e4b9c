#include "svc/module.hpp"

#include "modules/queue/brief.hpp"
#include "modules/queue/card_events.hpp"
#include "modules/queue/lib/alarms.hpp"
#include "modules/queue/lib/token.hpp"
#include "modules/queue/metrics.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/rights.hpp"
#include "modules/queue/sweeper.hpp"
#include "modules/queue/taking.hpp"
#include "modules/queue/watcher.hpp"

#include <sodium.h>

namespace svc::queue {

struct Settings {
    std::int64_t sweep_milliseconds = 1000;
    std::int64_t outcome_hours = 168;
};
SVC_RECORD(
    Settings,
    (sweep_milliseconds,
     "How often expired leases and ended pauses are looked for.",
     range(50, 60000),
     defaulted),
    (outcome_hours,
     "How long it is remembered that a lease was released or revoked, to answer whoever repeats "
     "it. Attempts are kept as long as their card.",
     range(1, 8760),
     defaulted)
);

namespace {

/// What a worker does on the card that it holds, and says so.
bool changes_a_leased_card(const Call& call, const EventKind& kind) {
    constexpr std::string_view objects[]{"card", "file", "block", "comment"};
    return !call.named_lease().empty() &&
           std::ranges::find(objects, kind.object) != std::end(objects);
}

}  // namespace

class Queue final : public Module, public LeaseTokens {
public:
    void open(Kernel& kernel) override {
        if (sodium_init() < 0) throw std::runtime_error("libsodium did not initialise");
        const Settings settings = kernel.settings<Settings>();
        kernel_ = &kernel;
        sweeps_ = std::chrono::milliseconds(settings.sweep_milliseconds);
        kernel.tag("queue", "Columns as work queues: claim a card, complete it, release it.");
        for (const Operation* each :
             {&claim_next_card,
              &claim_from_board,
              &renew_lease,
              &complete_lease,
              &complete_leases,
              &fail_lease,
              &release_lease,
              &hold_card,
              &requeue_card,
              &revoke_lease,
              &get_lease,
              &list_leases,
              &get_agent_work,
              &list_queues,
              &get_queue,
              &get_queue_depths,
              &explain_claim})
            kernel.add(*each);
        for (const EventKind* each :
             {&lease_claimed,
              &lease_completed,
              &lease_failed,
              &lease_expired,
              &lease_released,
              &lease_revoked,
              &card_exhausted,
              &card_held,
              &card_requeued})
            kernel.add(*each);
        kernel.veto(changes_a_leased_card, check_named_lease);
        kernel.offer<LeaseTokens>(*this);
        kernel.offer(hints_);
        kernel.offer(known_limits_);
        kernel.offer(pauses_);
        own_watcher_.watcher = make_watcher(kernel);
        kernel.offer(own_watcher_);
        kernel.use<boards::Moves>().watch(*own_watcher_.watcher);
        kernel.listen([&kernel](std::span<const StoredEvent> batch) {
            wake_for_others(kernel, batch);
        });
        hear_wakes(kernel);
        watch_rights(kernel, rights_);
        kernel.use<boards::Briefs>().add(*brief_source_);
        kernel.use<Upkeep>().add_metrics([&kernel] { return queue_metrics(kernel); });
        run_jobs(kernel, std::chrono::hours(settings.outcome_hours));
    }

    void start() override {
        pauses_.alarms.start();
        expiries_.start();
    }
    void stop() noexcept override {
        pauses_.alarms.stop();
        expiries_.stop();
    }

    std::optional<Uuid> card_of(std::string_view token) const override {
        const auto parsed = LeaseToken::parse(token);
        return parsed ? std::optional(parsed->card()) : std::nullopt;
    }

private:
    void run_jobs(Kernel& kernel, std::chrono::hours outcomes_kept) {
        kernel.every("queue.expire_leases", sweeps_, [this, &kernel] {
            expire_leases(kernel, expiries_, sweeps_);
        });
        kernel.every("queue.end_pauses", sweeps_, [&kernel] { end_pauses(kernel); });
        kernel.every("queue.look_at_rights", sweeps_, [this, &kernel] {
            rights_.end_leases(kernel);
        });
        add_forgetting(kernel, outcomes_kept);
        add_sampling(kernel);
    }

    Hints hints_;
    KnownLimits known_limits_;
    OwnWatcher own_watcher_;
    NarrowedRights rights_;
    Kernel* kernel_ = nullptr;
    std::chrono::milliseconds sweeps_{};
    // Each a thread of its own: workers that are gone by the hundred hold up nobody's pause.
    PauseAlarms pauses_{Alarms([this](const Alarms::Place& place) {
        end_pauses_of(*kernel_, place.org, place.column);
    })};
    Alarms expiries_{[this](const Alarms::Place& place) {
        expire_leases_of(*kernel_, place.org, expiries_, sweeps_);
    }};
    const std::unique_ptr<boards::BriefSource> brief_source_ = make_brief_source();
};

}  // namespace svc::queue

SVC_MODULE(svc::queue::Queue, "queue", "boards");
