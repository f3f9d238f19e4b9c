#include "events/deliveries.hpp"

#include "decl/utf8.hpp"
#include "events/rows.hpp"

#include <Poco/Logger.h>

#include <array>
#include <set>

namespace svc::events {

namespace {

constexpr std::int64_t events_at_once = 20;
constexpr std::size_t longest_error = 2'000;  // bytes, of a dead letter

constexpr Sql add_deliveries{"events.add_deliveries", R"(
    INSERT INTO event_deliveries (org_id, consumer, subscriber, sequence, position)
    SELECT d.org_id, $1, d.subscriber, d.sequence, d.position
    FROM unnest($2::uuid[], $3::text[], $4::bigint[], $5::bigint[])
        AS d (org_id, subscriber, sequence, position)
    ON CONFLICT (org_id, consumer, subscriber, sequence) DO NOTHING)"};

constexpr Sql read_due{"events.read_deliveries", R"(
    SELECT d.sequence
    FROM event_deliveries d
    WHERE d.org_id = $1 AND d.consumer = $2 AND d.subscriber = $3
    ORDER BY d.sequence
    LIMIT $4)"};

// Those of them that are still kept.
constexpr Sql read_events{"events.read_delivered_events", R"(
    SELECT e.*
    FROM (
        SELECT d.org_id, d.position
        FROM event_deliveries d
        WHERE d.org_id = $1 AND d.consumer = $2 AND d.subscriber = $3
        ORDER BY d.sequence
        LIMIT $4
    ) n
    CROSS JOIN LATERAL (
        SELECT v.* FROM events v WHERE v.org_id = n.org_id AND v.position = n.position OFFSET 0
    ) e
    ORDER BY e.sequence)"};

constexpr Sql drop_handled{"events.drop_deliveries", R"(
    DELETE FROM event_deliveries
    WHERE org_id = $1 AND consumer = $2 AND subscriber = $3 AND sequence <= $4)"};

constexpr Sql add_dead_letter{"events.add_dead_letter", R"(
    INSERT INTO event_dead_letters (org_id, consumer, subscriber, sequence, event_id, kind, error)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (org_id, consumer, subscriber, sequence) DO UPDATE
    SET error = EXCLUDED.error, given_up_at = now())"};

/// As PostgreSQL takes it, whatever a handler threw.
std::string_view storable(std::string_view text) {
    if (!decl::utf8::well_formed(text)) return "an error whose text is not UTF-8";
    return decl::utf8::beginning(text, longest_error);
}

struct Due {
    std::int64_t sequence = 0;
};
SVC_RECORD(Due, (sequence));

/// One run of a subscriber's job.
class Subscriber {
public:
    Subscriber(
        db::Database& database, const Consumer& consumer, DeliveryCounts& counts, JobRun& run
    )
        : database_(database), consumer_(consumer), counts_(counts), run_(run) {}

    JobOutcome go() {
        for (;;) {
            const std::int64_t last = read();
            if (last == 0) return JobOutcome::done;
            std::int64_t handled = 0;
            const StoredEvent* failed = nullptr;
            std::optional<std::string> why;
            for (const StoredEvent& event : events_) {
                why = deliver(event);
                if (why) {
                    failed = &event;
                    break;
                }
                handled = event.sequence;
                if (run_.should_yield()) break;
            }
            // Events that are no longer kept are delivered to nobody.
            if (events_.empty() || handled == events_.back().sequence) handled = last;
            if (handled > 0) drop(handled);
            if (failed) return fail(*failed, handled > 0, *why);
            if (run_.should_yield()) return JobOutcome::more;
        }
    }

private:
    /// Reads what is next; the number of the last that is due, 0 when none is.
    std::int64_t read() {
        const auto tx = database_.begin(Tx::Mode::read);
        tx->set_scope(run_.org(), std::nullopt);
        auto numbers =
            tx->later<Due>(read_due, run_.org(), consumer_.name, run_.key(), events_at_once);
        auto events = tx->later<NumberedEvent>(
            read_events, run_.org(), consumer_.name, run_.key(), events_at_once
        );
        const auto due = numbers.all();
        const std::int64_t last = due.empty() ? 0 : due.back().sequence;
        events_.clear();
        for (NumberedEvent& each : events.all())
            if (each.numbers.sequence <= last)
                events_.push_back(stored_event(std::move(each.body), each.numbers));
        return last;
    }

    /// Why it could not be handled.
    std::optional<std::string> deliver(const StoredEvent& event) try {
        consumer_.deliver(run_.key(), event);
        ++counts_.delivered;
        return std::nullopt;
    } catch (const std::exception& problem) {
        return problem.what();
    }

    void drop(std::int64_t sequence) {
        database_.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(run_.org(), std::nullopt);
            tx.queue(drop_handled, run_.org(), consumer_.name, run_.key(), sequence);
        });
    }

    /// The attempts are those of one event: where others went before, they are counted from here.
    JobOutcome fail(const StoredEvent& event, bool others_went_before, const std::string& why) {
        if (others_went_before) return JobOutcome::more;
        const std::string which = "event " + event.event_id.str() + " (" + event.kind + "): " + why;
        if (!run_.last_attempt()) throw std::runtime_error(which);
        database_.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(run_.org(), std::nullopt);
            tx.queue(
                add_dead_letter,
                run_.org(),
                consumer_.name,
                run_.key(),
                event.sequence,
                event.event_id,
                event.kind,
                storable(why)
            );
            tx.queue(drop_handled, run_.org(), consumer_.name, run_.key(), event.sequence);
        });
        ++counts_.given_up;
        Poco::Logger::get("events").error(
            "consumer " + consumer_.name + " gives up after " + std::to_string(run_.attempt()) +
            " tries, see event_dead_letters: " + which
        );
        return JobOutcome::more;
    }

    db::Database& database_;
    const Consumer& consumer_;
    DeliveryCounts& counts_;
    JobRun& run_;
    std::vector<StoredEvent> events_;
};

}  // namespace

void hand_over(
    Tx& tx,
    Jobs& jobs,
    const Consumer& consumer,
    std::string_view kind,
    const std::vector<Delivery>& deliveries
) {
    if (deliveries.empty()) return;
    std::array<std::vector<std::string>, 4> lists;
    std::set<std::pair<Uuid, std::string>> subscribers;
    for (const Delivery& each : deliveries) {
        lists[0].push_back(each.org_id.str());
        lists[1].push_back(each.subscriber);
        lists[2].push_back(std::to_string(each.sequence));
        lists[3].push_back(std::to_string(each.position));
        subscribers.emplace(each.org_id, each.subscriber);
    }
    tx.queue(add_deliveries, consumer.name, lists[0], lists[1], lists[2], lists[3]);
    for (const auto& [org, subscriber] : subscribers)
        jobs.enqueue(tx, {.kind = kind, .org = org, .key = subscriber});
}

std::string delivery_kind_of(const Consumer& consumer) { return consumer.name + ".deliver"; }

JobKind delivery_kind(
    db::Database& database, const Consumer& consumer, std::shared_ptr<DeliveryCounts> counts
) {
    return {
        .name = delivery_kind_of(consumer),
        .run = [&database, consumer, counts](JobRun& run
               ) { return Subscriber(database, consumer, *counts, run).go(); },
        .at_once = consumer.at_once,
        .at_once_per_workspace = consumer.at_once_per_workspace,
        .most_attempts = consumer.most_attempts,
        .pause = consumer.pause,
        .longest_pause = consumer.longest_pause,
        .slice = consumer.slice,
    };
}

}  // namespace svc::events
