#include "tests/unit/events/site.hpp"

#include <map>

/// A consumer that handles the events of several workspaces at the same time.
namespace svc::test {

namespace {

/// How many handlers run, altogether and for each workspace.
class Crowd {
public:
    /// Says that one runs, until it is gone.
    class Inside {
    public:
        Inside(Crowd& crowd, const Uuid& org) : crowd_(crowd), org_(org) {
            const std::lock_guard lock(crowd_.mutex_);
            crowd_.most_ = std::max(crowd_.most_, ++crowd_.all_);
            crowd_.most_of_one_ = std::max(crowd_.most_of_one_, ++crowd_.of_[org_]);
        }
        ~Inside() {
            const std::lock_guard lock(crowd_.mutex_);
            --crowd_.all_;
            --crowd_.of_[org_];
        }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        Crowd& crowd_;
        const Uuid org_;
    };

    // Once all have ended.
    int most() const { return most_; }
    int most_of_one() const { return most_of_one_; }

private:
    std::mutex mutex_;
    std::map<Uuid, int> of_;
    int all_ = 0, most_ = 0, most_of_one_ = 0;
};

}  // namespace

TEST(SideBySide, AWorkspacesEventsStayInTheirOrderAndOneByOne) {
    EventsFixture fixture;
    const std::vector<Uuid> orgs{new_uuid(), new_uuid(), new_uuid(), new_uuid()};
    Crowd crowd;
    Heard heard;
    const auto handle = [&](const StoredEvent& event) {
        const Crowd::Inside inside(crowd, event.org_id);
        std::this_thread::sleep_for(3ms);
        heard.add(event);
    };
    Site site(fixture, {{.name = "reader", .handle = handle, .at_once = 3}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    for (int round = 0; round < 15; ++round)
        for (const Uuid& org : orgs) tell(fixture, 1, org);
    ASSERT_TRUE(eventually([&] { return heard.size() == 60; }));
    std::map<Uuid, std::int64_t> last;
    for (const auto& event : heard.all()) {
        EXPECT_EQ(event.sequence, ++last[event.org_id]);
    }
    EXPECT_EQ(crowd.most_of_one(), 1);
    EXPECT_EQ(crowd.most(), 3);
    ASSERT_TRUE(eventually([&] { return site.consumers().load().front().position == 60; }));
    ASSERT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM event_backlogs") == "0"; }
    ));
}

TEST(SideBySide, AnEventThatTakesLongHoldsUpItsOwnWorkspaceAlone) {
    EventsFixture fixture;
    const Uuid slow = new_uuid(), quick = new_uuid();
    std::atomic<bool> began{false}, go_on{false};
    Heard heard;
    const auto handle = [&](const StoredEvent& event) {
        if (event.org_id == slow && event.sequence == 1) {
            began = true;
            eventually([&] { return go_on.load(); });
        }
        heard.add(event);
    };
    Site site(fixture, {{.name = "reader", .handle = handle, .at_once = 2}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    tell(fixture, 2, slow);
    ASSERT_TRUE(eventually([&] { return began.load(); }));
    tell(fixture, 5, quick);
    EXPECT_TRUE(eventually([&] { return heard.size() == 5; }, 5s));
    // What the long one is at is not behind the position that is kept.
    EXPECT_EQ(site.consumers().load().front().position, 0);
    go_on = true;
    ASSERT_TRUE(eventually([&] { return heard.size() == 7; }));
    ASSERT_TRUE(eventually([&] { return site.consumers().load().front().position == 7; }));
}

TEST(SideBySide, WorkspacesThatAreSlowLeaveAPlaceToTheOthers) {
    constexpr auto long_time = 1500ms;
    EventsFixture fixture;
    const std::vector<Uuid> slow{new_uuid(), new_uuid(), new_uuid()};
    const Uuid quick = new_uuid();
    std::atomic<int> slow_ones{0};
    Heard heard;
    const auto handle = [&](const StoredEvent& event) {
        if (event.org_id == quick) return heard.add(event);
        ++slow_ones;
        std::this_thread::sleep_for(long_time);
    };
    Site site(fixture, {{.name = "reader", .handle = handle, .at_once = 2}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    for (const Uuid& each : slow) tell(fixture, 3, each);
    // All three have been met as what they are, and have more to do.
    ASSERT_TRUE(eventually([&] { return slow_ones >= 5; }));
    std::this_thread::sleep_for(100ms);
    const auto from = std::chrono::steady_clock::now();
    tell(fixture, 1, quick);
    ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
    EXPECT_LT(std::chrono::steady_clock::now() - from, long_time / 2);
    EXPECT_LT(slow_ones, 9) << "they were done already, so that this shows nothing";
}

TEST(SideBySide, OneThatFailsPausesWhileTheOthersGoOn) {
    EventsFixture fixture;
    const Uuid broken = new_uuid(), fine = new_uuid();
    Heard heard;
    const auto handle = [&](const StoredEvent& event) {
        if (event.org_id == broken && event.sequence == 2) throw std::runtime_error("never");
        heard.add(event);
    };
    Site site(fixture, {{.name = "reader", .handle = handle, .at_once = 2}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    tell(fixture, 3, broken);
    tell(fixture, 3, fine);
    ASSERT_TRUE(eventually([&] { return heard.size() == 5; }));
    std::vector<std::int64_t> of_broken;
    for (const auto& event : heard.all())
        if (event.org_id == broken) of_broken.push_back(event.sequence);
    EXPECT_EQ(of_broken, (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(fixture.ask("SELECT sequence FROM event_dead_letters"), "2");
}

}  // namespace svc::test
