#pragma once

#include "tests/unit/events/events_fixture.hpp"

#include <boost/json.hpp>

#include <map>
#include <random>
#include <set>

namespace svc::test {

/// Sixteen clients that change a few cards on a few boards of two workspaces all the time, are
/// slow now and then between leaving the event and the commit, and give up now and then. A
/// card's version rises by one with every event about it, so that an event that is lost, doubled
/// or out of order shows.
class Storm {
public:
    static constexpr int writers = 16, cards = 6, boards = 2;

    explicit Storm(EventsFixture& fixture) : world_(fixture) {
        for (auto& org : orgs_) org = new_uuid();
        for (auto& board : boards_) board = new_uuid();
        static constexpr Sql make{"test.make_cards", R"(
            CREATE TABLE cards (
                org_id uuid, id integer, version bigint NOT NULL, PRIMARY KEY (org_id, id)))"};
        static constexpr Sql add{"test.add_card", "INSERT INTO cards VALUES ($1, $2, 0)"};
        world_.database.transact(Tx::Mode::write, [](Tx& tx) { tx.run(make); });
        for (const Uuid& org : orgs_)
            world_.write(org, [&](Tx& tx) {
                for (int card = 0; card < cards; ++card) tx.queue(add, org, card);
            });
    }

    void blow(
        int changes_each, const std::function<void()>& committed = [] {}
    ) {
        std::vector<std::thread> threads;
        for (int writer = 0; writer < writers; ++writer)
            threads.emplace_back([&, writer] {
                std::minstd_rand random(static_cast<unsigned>(writer) + 1);
                for (int i = 0; i < changes_each; ++i) try {
                        change(random);
                        committed();
                    } catch (const std::exception&) {  // the database is away
                        std::this_thread::sleep_for(20ms);
                    }
            });
        for (auto& thread : threads) thread.join();
    }

    /// How many events there have to be: the changes that were committed.
    std::size_t changes() const { return std::stoul(world_.ask("SELECT sum(version) FROM cards")); }
    bool all_sequenced() const { return world_.all_sequenced(); }
    const std::array<Uuid, 2>& orgs() const { return orgs_; }

    /// Everything that has to be true of a log of events.
    void check(const std::vector<StoredEvent>& events) const {
        ASSERT_EQ(events.size(), changes());
        std::map<Uuid, std::int64_t> sequences;
        std::map<std::pair<Uuid, Uuid>, std::int64_t> on_boards;
        std::map<std::pair<Uuid, std::string>, std::int64_t> versions;
        std::set<Uuid> ids;
        std::int64_t position = events.front().position - 1;
        for (const StoredEvent& event : events) {
            ASSERT_EQ(event.position, ++position);
            ASSERT_EQ(event.sequence, ++sequences[event.org_id]);
            ASSERT_TRUE(event.board_id);
            ASSERT_EQ(event.board_sequence, (++on_boards[{event.org_id, *event.board_id}]));
            ASSERT_TRUE(ids.insert(event.event_id).second) << "an event twice";
            const auto envelope = boost::json::parse(event.envelope).as_object();
            ASSERT_EQ(envelope.at("sequence").as_int64(), event.sequence);
            ASSERT_EQ(envelope.at("board_sequence").as_int64(), *event.board_sequence);
            const auto& data = envelope.at("data").as_object();
            const std::string card(data.at("id").as_string());
            ASSERT_EQ(data.at("version").as_int64(), (++versions[{event.org_id, card}]))
                << "changes of one card out of order";
        }
    }

private:
    void change(std::minstd_rand& random) {
        static constexpr Sql bump{"test.bump_card", R"(
            UPDATE cards SET version = version + 1 WHERE org_id = $1 AND id = $2
            RETURNING version)"};
        static constexpr Sql rest{"test.rest", "SELECT pg_sleep(0.02)"};
        const Uuid& org = orgs_[random() % orgs_.size()];
        const auto fate = random() % 10;
        const auto tx = world_.database.begin(Tx::Mode::write);
        tx->set_scope(org, std::nullopt);
        // In the order of their numbers, or they would wait for each other in a circle.
        const auto first = static_cast<int>(random() % cards);
        for (const int card : {first, first + 2}) {
            if (card >= cards) break;
            auto result = tx->queue(bump, org, card);
            const std::int64_t version = std::stoll(std::string(result.at(0, 0).text()));
            events::queue_event(*tx, bumped(org, card, version), {.action = "bump_card"});
            if (fate == 0) tx->run(rest);  // the event has its number, and nobody can see it
        }
        if (fate != 1) tx->commit();
    }

    Event bumped(const Uuid& org, int card, std::int64_t version) const {
        std::array<std::uint8_t, 16> id{};
        id[15] = static_cast<std::uint8_t>(card + 1);
        Event event;
        event.kind = &note_pinned;
        event.id = Uuid(id);
        event.version = version;
        event.org_id = org;
        event.board_id = boards_[static_cast<std::size_t>(card % boards)];
        event.subject = event.changes = R"({"version":)" + std::to_string(version) + "}";
        event.previous = R"({"version":)" + std::to_string(version - 1) + "}";
        return event;
    }

    EventsFixture& world_;
    std::array<Uuid, 2> orgs_;
    std::array<Uuid, 2> boards_;
};

}  // namespace svc::test
