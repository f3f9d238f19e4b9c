// Who serves whom: turns of a group, whoever fails, and those that are held up.

#include "core/request_groups.hpp"

#include "tests/support/eventually.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace svc::core {

namespace {

using State = RequestGroups::Member::State;

struct Request {
    int resumed = 0;
    bool gone = false;
    RequestGroups::MemberPtr member = std::make_shared<RequestGroups::Member>(
        std::make_shared<int>(1), "id", Waiter{[this] { ++resumed; }, [this] { return gone; }}
    );
    State state() const { return member->state(); }
};

}  // namespace

TEST(RequestGroups, WhoIsAloneIsServedAtOnceAndLeavesNothingBehind) {
    RequestGroups groups;
    {
        Request request;
        groups.enter("key", request.member);
        EXPECT_EQ(request.state(), State::alone);
        EXPECT_TRUE(request.member->others().empty());
        EXPECT_EQ(groups.load().groups, 1U);
        EXPECT_EQ(request.resumed, 0);
    }
    EXPECT_EQ(groups.load().groups, 0U);
}

TEST(RequestGroups, ThoseThatComeMeanwhileAreServedByTheFirstOfThem) {
    RequestGroups groups;
    Request first, second, third, other;
    groups.enter("key", first.member);
    groups.enter("key", second.member);
    groups.enter("key", third.member);
    groups.enter("another key", other.member);
    EXPECT_EQ(second.state(), State::waits);
    EXPECT_EQ(third.state(), State::waits);
    EXPECT_EQ(other.state(), State::alone);
    first.member.reset();
    ASSERT_EQ(second.state(), State::leads);
    EXPECT_EQ(second.resumed, 1);
    EXPECT_EQ(third.state(), State::waits);
    ASSERT_EQ(second.member->others().size(), 1U);
    second.member->answer(*third.member, {.body = "body"});
    EXPECT_EQ(third.state(), State::answered);
    EXPECT_EQ(third.resumed, 1);
    EXPECT_EQ(third.member->take_answer().body, "body");
    EXPECT_EQ(groups.load().together, 1U);
    second.member.reset();
    third.member.reset();
    other.member.reset();
    EXPECT_EQ(groups.load().groups, 0U);
}

TEST(RequestGroups, WhomItsLeaderDoesNotAnswerIsServedByItself) {
    RequestGroups groups;
    Request first, second, third;
    groups.enter("key", first.member);
    groups.enter("key", second.member);
    groups.enter("key", third.member);
    first.member.reset();
    second.member.reset();  // ends without having served anybody
    EXPECT_EQ(third.state(), State::alone);
    EXPECT_EQ(third.resumed, 1);
}

TEST(RequestGroups, WhatFailsForOneThatIsServedIsThrownWhereItIsAnswered) {
    RequestGroups groups;
    Request first, second, third;
    groups.enter("key", first.member);
    groups.enter("key", second.member);
    groups.enter("key", third.member);
    first.member.reset();
    second.member->fail(*third.member, std::make_exception_ptr(std::runtime_error("lost")));
    ASSERT_EQ(third.state(), State::answered);
    EXPECT_EQ(third.resumed, 1);
    EXPECT_THROW(third.member->take_answer(), std::runtime_error);
    EXPECT_EQ(groups.load().together, 0U);
}

TEST(RequestGroups, WhomNobodyWaitsForIsLeftOut) {
    RequestGroups groups;
    Request first, second, third, fourth;
    for (Request* each : {&first, &second, &third, &fourth}) groups.enter("key", each->member);
    third.gone = true;
    first.member.reset();
    second.member->leave_out_gone();
    ASSERT_EQ(second.member->others().size(), 1U);
    EXPECT_EQ(second.member->others().front(), fourth.member);
    EXPECT_EQ(third.state(), State::alone) << "it finds out by itself";
    EXPECT_EQ(third.resumed, 1);
    EXPECT_EQ(fourth.state(), State::waits);
    second.member.reset();
    EXPECT_EQ(fourth.state(), State::alone);
}

TEST(RequestGroups, WhoFailsForAllGoesOnAlone) {
    RequestGroups groups;
    Request first, second, third, fourth;
    groups.enter("key", first.member);
    groups.enter("key", second.member);
    groups.enter("key", third.member);
    first.member.reset();
    groups.enter("key", fourth.member);
    second.member->go_alone();
    EXPECT_EQ(second.state(), State::alone);
    EXPECT_EQ(third.state(), State::alone);
    EXPECT_EQ(fourth.state(), State::waits) << "the turn is still the second one's";
    second.member.reset();
    EXPECT_EQ(fourth.state(), State::alone);
    EXPECT_EQ(fourth.resumed, 1);
}

TEST(RequestGroups, AsManyAreServedAtTheSameMomentAsTheGroupHasTurns) {
    RequestGroups groups;
    Request first, second, third, fourth, fifth;
    groups.enter("key", first.member, 2);
    groups.enter("key", second.member, 2);
    EXPECT_EQ(second.state(), State::alone) << "few do not wait for each other";
    for (Request* each : {&third, &fourth, &fifth}) {
        groups.enter("key", each->member, 2);
        EXPECT_EQ(each->state(), State::waits);
    }
    second.member.reset();
    ASSERT_EQ(third.state(), State::leads);
    EXPECT_EQ(third.member->others().size(), 2U);
    Request sixth, seventh;
    groups.enter("key", sixth.member, 2);
    EXPECT_EQ(sixth.state(), State::waits);
    first.member.reset();
    EXPECT_EQ(sixth.state(), State::alone);
    sixth.member.reset();
    groups.enter("key", seventh.member, 2);
    EXPECT_EQ(seventh.state(), State::alone) << "a turn is free";
    seventh.member.reset();
    for (Request* each : {&third, &fourth, &fifth}) each->member.reset();
    EXPECT_EQ(groups.load().groups, 0U);
}

TEST(RequestGroups, OneOfSeveralTurnsThatIsHeldUpIsGivenToOthers) {
    RequestGroups groups;
    Request slow, quick, next, waiting;
    groups.enter("key", slow.member, 2);
    std::this_thread::sleep_for(RequestGroups::overtaken_after);
    groups.enter("key", quick.member, 2);
    groups.enter("key", next.member, 2);
    EXPECT_EQ(next.state(), State::alone);
    groups.enter("key", waiting.member, 2);
    slow.member.reset();
    EXPECT_EQ(waiting.state(), State::waits) << "the turn is not the slow one's any more";
    quick.member.reset();
    EXPECT_EQ(waiting.state(), State::alone);
}

TEST(RequestGroups, NoMoreAreServedAtOnceThanMayBe) {
    RequestGroups groups;
    Request first;
    std::vector<std::unique_ptr<Request>> rest;
    groups.enter("key", first.member);
    for (std::size_t i = 0; i < RequestGroups::most + 5; ++i)
        groups.enter("key", rest.emplace_back(std::make_unique<Request>())->member);
    first.member.reset();
    EXPECT_EQ(rest.front()->member->others().size(), RequestGroups::most - 1);
    rest.front()->member.reset();
    EXPECT_EQ(rest[RequestGroups::most]->state(), State::leads);
    EXPECT_EQ(rest[RequestGroups::most]->member->others().size(), 4U);
}

TEST(RequestGroups, WhoIsHeldUpHoldsUpNobodyForLong) {
    RequestGroups groups;
    Request slow, waiting, next, behind;
    groups.enter("key", slow.member);
    groups.enter("key", waiting.member);
    std::this_thread::sleep_for(RequestGroups::overtaken_after);
    groups.enter("key", next.member);
    ASSERT_EQ(next.state(), State::leads);
    EXPECT_EQ(next.resumed, 0) << "it is being served already";
    ASSERT_EQ(next.member->others().size(), 1U);
    EXPECT_EQ(next.member->others().front(), waiting.member);
    groups.enter("key", behind.member);
    slow.member.reset();
    EXPECT_EQ(behind.state(), State::waits) << "the turn is not the slow one's any more";
    next.member.reset();
    EXPECT_EQ(behind.state(), State::alone);
}

TEST(RequestGroups, WhoIsHeldUpHoldsUpNobodyThoughNobodyElseComes) {
    RequestGroups groups;
    groups.open();
    Request slow;
    groups.enter("key", slow.member);
    std::atomic<int> resumed{0};
    const auto waits = [&] {
        auto member = std::make_shared<RequestGroups::Member>(
            std::make_shared<int>(1), "id", Waiter{[&] { ++resumed; }}
        );
        groups.enter("key", member);
        return member;
    };
    auto waiting = waits(), behind = waits();
    ASSERT_EQ(waiting->state(), State::waits);
    ASSERT_TRUE(test::eventually([&] { return resumed == 1; }));
    ASSERT_EQ(waiting->state(), State::leads);
    EXPECT_EQ(waiting->others().front(), behind);
    slow.member.reset();
    EXPECT_EQ(groups.load().groups, 1U) << "the turn is not the slow one's any more";
    // And again, once the thread has had nothing to look after.
    waiting.reset();
    behind.reset();
    Request another;
    groups.enter("key", another.member);
    auto next = waits();
    EXPECT_TRUE(test::eventually([&] { return next->state() == State::alone; }));
}

TEST(RequestGroups, WhoWaitsAndIsGoneHoldsUpNobody) {
    RequestGroups groups;
    Request slow, gone, here;
    groups.enter("key", slow.member);
    groups.enter("key", gone.member);
    gone.member.reset();
    slow.member.reset();
    EXPECT_EQ(groups.load().groups, 0U);
    groups.enter("key", here.member);
    EXPECT_EQ(here.state(), State::alone);
}

TEST(RequestGroups, WhereTooManyWaitTheNextIsServedByItself) {
    RequestGroups groups;
    std::vector<std::unique_ptr<Request>> rest;
    Request first, last;  // they end before those who wait for them
    groups.enter("key", first.member);
    for (std::size_t i = 0; i < RequestGroups::most_waiting; ++i)
        groups.enter("key", rest.emplace_back(std::make_unique<Request>())->member);
    EXPECT_EQ(rest.back()->state(), State::waits);
    groups.enter("key", last.member);
    EXPECT_EQ(last.state(), State::alone);
    last.member.reset();
    EXPECT_EQ(rest.front()->state(), State::waits) << "the turn is the first one's";
}

TEST(RequestGroups, ManyThreadsAreAllServedOnce) {
    RequestGroups groups;
    groups.open();
    constexpr int threads = 8, rounds = 500;
    std::atomic<int> served{0};
    const auto serve = [&] {
        for (int i = 0; i < rounds; ++i) {
            auto member = std::make_shared<RequestGroups::Member>(
                std::make_shared<int>(i), "id", Waiter{[] {}}
            );
            groups.enter("key", member);
            while (member->state() == State::waits) std::this_thread::yield();
            if (member->state() == State::leads) {
                for (const auto& each : member->others()) {
                    ++served;
                    member->answer(*each, {.body = "body"});
                }
            }
            if (member->state() != State::answered) ++served;
        }
    };
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < threads; ++i) all.emplace_back(serve);
    }
    EXPECT_EQ(served, threads * rounds);
    EXPECT_TRUE(test::eventually([&] { return groups.load().groups == 0; }));
}

}  // namespace svc::core
