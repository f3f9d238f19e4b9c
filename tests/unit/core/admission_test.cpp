#include "core/admission.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <string>
#include <thread>

namespace svc::core {
namespace {

using enum Admission::Verdict;
using namespace std::chrono_literals;

/// A request, and whether it was told that its turn has come.
struct Asked {
    Admission::Place place;
    std::atomic<int> emitted = 0;
    Admission::Verdict verdict = too_many_of_all;
};

struct Gate {
    Admission admission;
    std::deque<Asked> all;

    explicit Gate(const Admission::Settings& settings = {}) { admission.set(settings); }

    Asked& ask(
        const std::string& who,
        const std::optional<Uuid>& org = {},
        std::size_t bytes = 100,
        bool resumed = false
    ) {
        Asked& asked = all.emplace_back();
        asked.verdict = admission.enter(asked.place, request(asked, who, org, bytes, resumed));
        return asked;
    }
    Asked& come_back(const std::string& who) {
        Asked& asked = all.emplace_back();
        auto again = request(asked, who, {}, 100, false);
        again.let_in = true;
        asked.verdict = admission.enter(asked.place, again);
        return asked;
    }
    static Admission::Request request(
        Asked& asked,
        const std::string& who,
        const std::optional<Uuid>& org,
        std::size_t bytes,
        bool resumed
    ) {
        return {
            .principal = who, .org = org, .bytes = bytes, .resumed = resumed, .resume = [&asked] {
                ++asked.emitted;
            }};
    }
    /// How many of so many are let in at once.
    std::size_t let_in(const std::string& who, int asks, const std::optional<Uuid>& org = {}) {
        std::size_t in = 0;
        for (int each = 0; each < asks; ++each) in += ask(who, org).verdict == run;
        return in;
    }
    void end(Asked& asked) { admission.leave(asked.place); }
};

/// Of those that are to be few, two run at once. Time stands still unless it is told to pass.
class Background : public testing::Test {
protected:
    Admission admission;
    Admission::Clock::time_point now = Admission::Clock::now();
    std::deque<Asked> all;

    Background() { admission.set({.background = 2, .slow_from = 50ms}); }

    Asked& ask(const std::string& who, std::size_t kind = 0) {
        Asked& asked = all.emplace_back();
        asked.verdict = admission.enter(
            asked.place,
            {.principal = who, .kind = kind, .resume = [&asked] { ++asked.emitted; }},
            now
        );
        return asked;
    }
    void took(const std::string& who, std::size_t kind, std::chrono::milliseconds time) {
        Asked& asked = ask(who, kind);
        admission.leave(asked.place, now += time);
    }
};

}  // namespace

TEST(Admission, OneCallerHasHalfOfTheWorkers) {
    Gate gate;
    EXPECT_EQ(gate.let_in("ada", 20), 8u);
    EXPECT_EQ(gate.admission.load().waiting, 12u);
    EXPECT_EQ(gate.ask("bob").verdict, run);
}

TEST(Admission, ShowsEveryNewCallerInHoweverManyAskForAllTheyCanGet) {
    Gate gate;
    EXPECT_EQ(gate.let_in("a", 20), 8u);
    EXPECT_EQ(gate.let_in("b", 20), 4u);
    EXPECT_EQ(gate.let_in("c", 20), 2u);
    EXPECT_EQ(gate.let_in("d", 20), 1u);
    EXPECT_EQ(gate.let_in("e", 20), 1u);
    EXPECT_EQ(gate.let_in("f", 20), 1u) << "a caller without any has one";
}

TEST(Admission, ThoseWhoWaitGetInOneForOneInTheirOrder) {
    Gate gate({.workers = 4, .per_principal = 2, .per_workspace = 4});
    Asked &first = gate.ask("a"), &second = gate.ask("a"), &third = gate.ask("a"),
          &fourth = gate.ask("a");
    ASSERT_EQ(second.verdict, run);
    ASSERT_EQ(third.verdict, wait);
    gate.end(first);
    EXPECT_EQ(third.emitted, 1);
    EXPECT_EQ(fourth.emitted, 0);
    EXPECT_EQ(gate.admission.enter(third.place, {}), run) << "its turn has come";
    EXPECT_EQ(gate.admission.enter(fourth.place, {}), wait) << "asked in vain";
    gate.end(second);
    EXPECT_EQ(fourth.emitted, 1);
    EXPECT_EQ(gate.ask("a").verdict, wait);
}

TEST(Admission, TheLinesTakeTurns) {
    Gate gate({.workers = 2, .per_principal = 1, .per_workspace = 2});
    Asked &a = gate.ask("a"), &b = gate.ask("b");
    std::deque<Asked*> of_a, of_b;
    for (int each = 0; each < 3; ++each) {
        of_a.push_back(&gate.ask("a"));
        of_b.push_back(&gate.ask("b"));
    }
    gate.end(a);
    gate.end(b);
    EXPECT_EQ(of_a[0]->emitted + of_b[0]->emitted, 2) << "one each, not two of one";
    EXPECT_EQ(of_a[1]->emitted + of_b[1]->emitted, 0);
}

TEST(Admission, AWorkspaceHasThreeQuartersHoweverManyActInIt) {
    Gate gate;
    const auto org = new_uuid(), other = new_uuid();
    std::size_t in = 0;
    for (int each = 0; each < 30; ++each) in += gate.let_in("p" + std::to_string(each), 1, org);
    EXPECT_EQ(in, 12u);
    EXPECT_EQ(gate.ask("q", other).verdict, run);
    gate.end(gate.all.front());
    EXPECT_EQ(gate.admission.load().running, 13u) << "the next of that workspace";
}

TEST(Admission, RefusesOneWhoHasTooManyWaitingAndNobodyElse) {
    Gate gate({.workers = 4, .per_principal = 1, .waiting = 20, .waiting_of_one = 10});
    EXPECT_EQ(gate.let_in("a", 11), 1u);
    EXPECT_EQ(gate.ask("a").verdict, too_many);
    EXPECT_EQ(gate.let_in("b", 11), 1u);
    EXPECT_EQ(gate.ask("c").verdict, run);
    EXPECT_EQ(gate.ask("c").verdict, too_many_of_all);
    gate.end(gate.all.front());
    EXPECT_EQ(gate.ask("a").verdict, wait) << "one has got in";
}

TEST(Admission, RefusesOneWhoseRequestsHoldTooMuch) {
    Gate gate({.workers = 4, .per_principal = 1, .bytes_of_one = 1000});
    EXPECT_EQ(gate.ask("a", {}, 5000).verdict, run) << "it does not wait";
    EXPECT_EQ(gate.ask("a", {}, 600).verdict, wait);
    EXPECT_EQ(gate.ask("a", {}, 600).verdict, too_many);
    EXPECT_EQ(gate.ask("a", {}, 400).verdict, wait);
    EXPECT_EQ(gate.ask("b", {}, 600).verdict, run);
}

TEST(Admission, OneThatHangsUpWhileItWaitsLeavesTheLine) {
    Gate gate({.workers = 2, .per_principal = 1});
    Asked &first = gate.ask("a"), &second = gate.ask("a"), &third = gate.ask("a");
    gate.end(second);
    gate.end(first);
    EXPECT_EQ(second.emitted, 0);
    EXPECT_EQ(third.emitted, 1);
    gate.end(third);
    EXPECT_EQ(gate.admission.load().running, 0u);
    EXPECT_EQ(gate.admission.load().waiting, 0u);
}

TEST(Admission, WhoWasCalledAfterAWaitDoesNotWaitAgainBehindHisOwn) {
    Gate gate({.workers = 2, .per_principal = 1});
    gate.ask("a");
    ASSERT_EQ(gate.ask("a").verdict, wait);
    EXPECT_EQ(gate.ask("a", {}, 100, true).verdict, run);
}

TEST(Admission, WhoGaveUpItsPlaceMeanwhileIsNotRefusedAndStandsBeforeThoseWhoCameSince) {
    Gate gate({.workers = 2, .per_principal = 1, .waiting = 3, .waiting_of_one = 2});
    Asked& running = gate.ask("a");
    Asked& later = gate.ask("a");
    gate.ask("a");
    ASSERT_EQ(gate.ask("a").verdict, too_many);
    Asked &first = gate.come_back("a"), &second = gate.come_back("a");
    EXPECT_EQ(first.verdict, wait);
    EXPECT_EQ(second.verdict, wait);
    gate.end(running);
    EXPECT_EQ(first.emitted, 1);
    gate.end(first);
    EXPECT_EQ(second.emitted, 1);
    EXPECT_EQ(later.emitted, 0);
    gate.end(second);
    EXPECT_EQ(later.emitted, 1);
}

TEST(Admission, LetsEverybodyInWhenTheServerStops) {
    Gate gate({.workers = 2, .per_principal = 1});
    gate.let_in("a", 5);
    gate.admission.close();
    std::atomic<int> emitted = 0;
    for (const Asked& each : gate.all) emitted += each.emitted;
    EXPECT_EQ(emitted, 4);
    EXPECT_EQ(gate.ask("a").verdict, run);
}

TEST_F(Background, SlowRequestsAreFewAtATimeWhoeverSendsThem) {
    for (const char* who : {"a", "b"}) {
        took(who, 7, 400ms);
        took(who, 7, 400ms);
    }
    now += 2s;
    Asked &first = ask("a", 7), &second = ask("b", 7), &third = ask("a", 7), &fourth = ask("b", 7);
    EXPECT_EQ(first.verdict, run);
    EXPECT_EQ(second.verdict, run);
    EXPECT_EQ(third.verdict, wait);
    EXPECT_EQ(fourth.verdict, wait);
    EXPECT_EQ(ask("a", 8).verdict, run) << "another of the same caller's does not wait behind it";
    EXPECT_EQ(ask("c", 7).verdict, run) << "what is slow for some need not be for others";
    admission.leave(second.place, now += 2s);
    EXPECT_EQ(third.emitted + fourth.emitted, 1);
    EXPECT_EQ(admission.load().background, 2u);
}

TEST_F(Background, OneThatTookLongByChanceIsNotSlow) {
    took("a", 7, 400ms);
    for (int each = 0; each < 3; ++each) EXPECT_EQ(ask("a", 7).verdict, run);
    EXPECT_EQ(admission.load().background, 0u);
}

TEST_F(Background, HalfAsManyRunBesideSomebodyAtWork) {
    took("a", 7, 400ms);
    took("a", 7, 400ms);
    ask("c");
    EXPECT_EQ(ask("a", 7).verdict, run);
    EXPECT_EQ(ask("a", 7).verdict, wait);
    now += 2s;
    ask("d", 9);
    EXPECT_EQ(admission.load().background, 1u);
}

TEST_F(Background, BesideSomebodyAtWorkItsRoomStaysFreeAsLongAsItWasTaken) {
    took("a", 7, 300ms);
    took("a", 7, 300ms);
    now += 2s;
    ask("c");
    Asked &first = ask("a", 7), &second = ask("a", 7);
    ASSERT_EQ(second.verdict, wait);
    now += 300ms;
    ask("c");
    admission.leave(first.place, now);
    EXPECT_EQ(second.emitted, 0);
    EXPECT_EQ(admission.reassess(now), now + 100ms);
    now += 280ms;
    ask("c");
    EXPECT_EQ(admission.reassess(now), now + 20ms);
    EXPECT_EQ(second.emitted, 0);
    admission.reassess(now += 20ms);
    EXPECT_EQ(second.emitted, 1);
}

TEST_F(Background, WhoWaitsIsSeenWithoutAnybodyLeavingOnceNobodyIsAtWork) {
    took("a", 7, 400ms);
    took("a", 7, 400ms);
    now += 2s;
    ask("c");
    ask("a", 7);
    Asked& second = ask("a", 7);
    admission.reassess(now += 900ms);
    EXPECT_EQ(second.emitted, 0);
    admission.reassess(now += 200ms);
    EXPECT_EQ(second.emitted, 1);
}

/// By its own thread and clock, as the server has it.
TEST(Admission, LooksAfterThoseWhoWaitForNoMoreThanTime) {
    Gate gate({.workers = 8, .background = 1, .slow_from = 1ms});
    gate.admission.open();
    for (int each = 0; each < 6; ++each) {
        Asked& slow = gate.ask("a");
        std::this_thread::sleep_for(20ms);
        gate.end(slow);
    }
    ASSERT_EQ(gate.ask("b").verdict, run);
    Asked& first = gate.ask("a");
    Asked& second = gate.ask("a");
    ASSERT_EQ(second.verdict, wait);
    gate.end(first);
    for (int each = 0; each < 500 && second.emitted == 0; ++each) std::this_thread::sleep_for(10ms);
    EXPECT_EQ(second.emitted, 1);
}

TEST_F(Background, WhoAlwaysHasManyOpenMakesWayForOthersAtWork) {
    std::vector<Asked*> of_a;
    for (int each = 0; each < 4; ++each) of_a.push_back(&ask("a"));
    now += 5s;
    ask("b");
    EXPECT_EQ(ask("a").verdict, run);
    Asked& next = ask("a");
    EXPECT_EQ(next.verdict, wait);
    EXPECT_EQ(ask("b").verdict, run);
    now += 2s;
    EXPECT_EQ(next.emitted, 0);
    admission.leave(of_a.front()->place, now);
    EXPECT_EQ(next.emitted, 1) << "the others are away";
}

TEST_F(Background, TwoWhoAlwaysHaveManyOpenDoNotMakeWayForEachOther) {
    for (int each = 0; each < 3; ++each) ask("a");
    for (int each = 0; each < 3; ++each) ask("b");
    now += 5s;
    EXPECT_EQ(ask("b").verdict, run);
    EXPECT_EQ(ask("a").verdict, run);
    EXPECT_EQ(ask("b").verdict, run);
    EXPECT_EQ(ask("a").verdict, run);
    EXPECT_EQ(admission.load().background, 0u);
}

TEST_F(Background, NobodyMakesWayForStrangers) {
    for (int each = 0; each < 4; ++each) ask("a");
    now += 5s;
    Asked& stranger = all.emplace_back();
    admission.enter(stranger.place, {.principal = "127.0.0.1", .known = false}, now);
    ask("a");
    EXPECT_EQ(admission.load().background, 0u);
}

TEST_F(Background, WhoHasManyOpenForAMomentDoesNotWait) {
    ask("b");
    for (int each = 0; each < 6; ++each) EXPECT_EQ(ask("a").verdict, run);
    now += 100ms;
    EXPECT_EQ(ask("a").verdict, run);
}

TEST_F(Background, TheCallerWhoHadLeastIsNext) {
    took("a", 7, 400ms);
    took("a", 7, 400ms);
    took("b", 7, 300ms);
    took("b", 7, 300ms);
    now += 2s;
    Asked &first = ask("a", 7), &second = ask("a", 7);
    now += 1s;
    Asked &more = ask("a", 7), &later = ask("b", 7);
    EXPECT_EQ(more.verdict, wait);
    admission.leave(first.place, now);
    EXPECT_EQ(later.emitted, 1);
    EXPECT_EQ(more.emitted, 0);
    admission.leave(second.place, now);
    EXPECT_EQ(more.emitted, 1);
}

TEST_F(Background, SlowRequestsAreForgottenWhenTheyAreQuickAgain) {
    for (int each = 0; each < 20; ++each) took("a", 7, 1s);
    for (int each = 0; each < 6; ++each) took("a", 7, 1ms);
    for (int each = 0; each < 4; ++each) EXPECT_EQ(ask("a", 7).verdict, run);
    EXPECT_EQ(admission.load().background, 0u);
}

TEST(Admission, AnOperatorMayGiveOneCallerAllWorkers) {
    Gate gate({.workers = 16, .per_principal = 16, .per_workspace = 16});
    EXPECT_EQ(gate.let_in("ada", 20), 16u);
}

}  // namespace svc::core
