// The queue against a model of it that is a page long: whatever is done, in whatever order, both
// say the same. WORKBOARD_QUEUE_SEED repeats a run, WORKBOARD_QUEUE_STEPS makes it longer.

#include "tests/unit/queue/lease_steps.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace svc::test {

using boost::json::array;
using boost::json::object;

namespace {

constexpr int most_attempts = 3;

/// A card as the documentation says that it stands.
struct Modelled {
    std::string state = "ready";
    std::int64_t attempts = 0;
    std::int64_t entered = 0;  ///< its place among the others: first in, first out
    std::set<std::string> waits_for;
    bool done = false, archived = false, elsewhere = false;
    std::optional<Answer> claim;
};

class Model {
public:
    std::map<std::string, Modelled> cards;

    bool is_open(const std::string& id) const {
        const Modelled& card = cards.at(id);
        return !card.done && !card.archived;
    }
    bool is_blocked(const Modelled& card) const {
        return std::ranges::any_of(card.waits_for, [&](const std::string& each) {
            return is_open(each);
        });
    }
    /// Whom a claim gives next; nobody: empty.
    std::string next() const {
        std::string best;
        for (const auto& [id, card] : cards)
            if (card.state == "ready" && !is_blocked(card) &&
                (best.empty() || card.entered < cards.at(best).entered))
                best = id;
        return best;
    }
    void enter(Modelled& card) {
        card.state = "ready";
        card.attempts = 0;
        card.entered = ++clock_;
        card.claim.reset();
    }
    void leave(Modelled& card) {
        card.state = "idle";
        card.attempts = 0;
        card.claim.reset();
    }
    void fail(Modelled& card) {
        card.state = card.attempts >= most_attempts ? "exhausted" : "backoff";
        card.claim.reset();
    }
    std::map<std::string, std::int64_t> counts() const {
        std::map<std::string, std::int64_t> all;
        for (const auto& [id, card] : cards)
            ++all[card.state == "ready" && is_blocked(card) ? "blocked" : card.state];
        return all;
    }

private:
    std::int64_t clock_ = 0;
};

class Interleaving {
public:
    explicit Interleaving(unsigned seed) : random_(seed) {}

    void step() {
        if (model_.cards.size() < 3) return create();
        using Step = void (Interleaving::*)();
        static constexpr Step steps[] = {
            &Interleaving::create,
            &Interleaving::claim,
            &Interleaving::claim,
            &Interleaving::claim,
            &Interleaving::complete,
            &Interleaving::fail,
            &Interleaving::release,
            &Interleaving::expire,
            &Interleaving::rest,
            &Interleaving::hold,
            &Interleaving::requeue,
            &Interleaving::revoke,
            &Interleaving::wait_for,
            &Interleaving::wait_for_none,
            &Interleaving::move,
            &Interleaving::archive,
            &Interleaving::renew
        };
        (this->*steps[random_() % std::size(steps)])();
    }
    void compare() {
        const Answer state = in_process().must(
            fixture_.owner,
            "get_queue",
            {{"board_id", fixture_.board.str()}, {"column_id", fixture_.queue.str()}}
        );
        auto counts = model_.counts();
        for (const char* each : {"ready", "blocked", "leased", "backoff", "exhausted", "held"})
            EXPECT_EQ(state.number(std::string("/") + each), counts[each]) << each;
        if (model_.cards.empty()) return;
        const auto& [id, card] = any();
        const Answer shown = fixture_.get(*Uuid::parse(id));
        EXPECT_EQ(shown.text("/queue/state"), card.state);
        EXPECT_EQ(shown.number("/queue/attempts"), card.attempts);
        EXPECT_EQ(shown.body.at("blocked").as_bool(), model_.is_blocked(card));
    }

private:
    using Entry = std::pair<const std::string, Modelled>;

    Entry& any() {
        return *std::next(
            model_.cards.begin(), static_cast<std::ptrdiff_t>(random_() % model_.cards.size())
        );
    }
    /// One in that state; none: null.
    Entry* any(std::string_view state) {
        std::vector<Entry*> found;
        for (Entry& each : model_.cards)
            if (each.second.state == state) found.push_back(&each);
        return found.empty() ? nullptr : found[random_() % found.size()];
    }
    Answer ask(std::string_view operation, object what) {
        return in_process().ask(fixture_.owner, operation, what);
    }

    void create() {
        if (model_.cards.size() > 25) return;
        model_.enter(model_.cards[fixture_.card(fixture_.queue).text("/id")]);
    }
    void claim() {
        const std::string expected = model_.next();
        const Answer claim = fixture_.claim();
        ASSERT_EQ(claim.body.at("claimed").as_bool(), !expected.empty());
        if (expected.empty()) return;
        ASSERT_EQ(claim.text("/card/id"), expected);
        Modelled& card = model_.cards.at(expected);
        card.state = "leased";
        EXPECT_EQ(claim.number("/lease/attempt"), ++card.attempts);
        card.claim = claim;
    }
    void end(const char* word, void (Interleaving::*then)(Modelled&)) {
        Entry* held = any("leased");
        if (!held) return;
        const Answer claim = *held->second.claim;
        EXPECT_EQ(say(fixture_.owner, word, claim).status, 200);
        (this->*then)(held->second);
        EXPECT_EQ(say(fixture_.owner, "renew_lease", claim).status, 409) << "it is over";
    }
    void completed(Modelled& card) {
        model_.leave(card);
        card.done = true;
        card.elsewhere = true;
    }
    void failed(Modelled& card) { model_.fail(card); }
    void released(Modelled& card) {
        card.state = "ready";
        --card.attempts;
        card.claim.reset();
    }
    void complete() { end("complete_lease", &Interleaving::completed); }
    void fail() { end("fail_lease", &Interleaving::failed); }
    void release() { end("release_lease", &Interleaving::released); }
    void renew() {
        if (Entry* held = any("leased")) {
            const Answer renewed = say(fixture_.owner, "renew_lease", *held->second.claim);
            EXPECT_EQ(renewed.status, 200);
            EXPECT_EQ(
                renewed.body.at_pointer("/signals/stop").as_bool(), model_.is_blocked(held->second)
            );
        }
    }
    void expire() {
        Entry* held = any("leased");
        if (!held) return;
        let_expire(*held->second.claim);
        model_.fail(held->second);
    }
    void rest() {
        Entry* waiting = any("backoff");
        if (!waiting) return;
        in_process().run(
            "UPDATE queue SET available_at = now() - interval '1 second' WHERE card_id = '" +
            waiting->first + "'"
        );
        in_process().run_job("queue.end_pauses");
        waiting->second.state = "ready";
    }
    void change(const char* operation, const char* state) {
        Entry& which = any();
        const Answer answer = ask(operation, {{"card_id", which.first}});
        if (which.second.state == "leased" || which.second.state == "idle") {
            EXPECT_EQ(answer.status, 409);
            return;
        }
        EXPECT_EQ(answer.status, 200);
        which.second.state = state;
        if (which.second.state == "ready") which.second.attempts = 0;
    }
    void hold() { change("hold_card", "held"); }
    void requeue() { change("requeue_card", "ready"); }
    void revoke() {
        Entry* held = any("leased");
        if (!held) return;
        const Answer answer =
            ask("revoke_lease", {{"lease_id", held->second.claim->text("/lease/id")}});
        EXPECT_EQ(answer.status, 200);
        released(held->second);
    }
    void wait_for() {
        Entry &which = any(), &other = any();
        const Answer answer =
            ask("link_cards",
                {{"card_id", other.first}, {"target_id", which.first}, {"type", "blocks"}});
        if (answer.status < 300) which.second.waits_for.insert(other.first);
        else EXPECT_LT(answer.status, 500);
    }
    void wait_for_none() {
        Entry& which = any();
        EXPECT_EQ(
            ask("update_card", {{"card_id", which.first}, {"blocked_by", array()}}).status, 200
        );
        which.second.waits_for.clear();
    }
    void move() {
        auto& [id, card] = any();
        if (card.archived) return;
        const bool back = card.elsewhere;
        const Uuid to = back ? fixture_.queue : fixture_.backlog;
        EXPECT_EQ(ask("move_card", {{"card_id", id}, {"column_id", to.str()}}).status, 200);
        if (back) model_.enter(card);
        else model_.leave(card);
        card.elsewhere = !back;
        card.done = false;
    }
    void archive() {
        auto& [id, card] = any();
        const char* word = card.archived ? "restore_card" : "archive_card";
        EXPECT_EQ(ask(word, {{"card_id", id}}).status, 200);
        card.archived = !card.archived;
        if (card.archived || card.elsewhere) model_.leave(card);
        else model_.enter(card);
    }

    std::mt19937 random_;
    BoardFixture fixture_{
        {{"enabled", true},
         {"order", "fifo"},
         {"max_attempts", most_attempts},
         {"backoff_seconds", 1000}}
    };
    Model model_;
};

}  // namespace

TEST(QueueModel, AgreesAfterEveryStep) {
    const char* given = std::getenv("WORKBOARD_QUEUE_SEED");
    const auto seed = given ? static_cast<unsigned>(std::atoll(given)) : std::random_device{}();
    const char* long_run = std::getenv("WORKBOARD_QUEUE_STEPS");
    const int steps = long_run ? std::atoi(long_run) : 250;
    SCOPED_TRACE("WORKBOARD_QUEUE_SEED=" + std::to_string(seed));
    RecordProperty("seed", std::to_string(seed));
    Interleaving run(seed);
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
        SCOPED_TRACE("step " + std::to_string(step));
        run.step();
        run.compare();
    }
}

}  // namespace svc::test
