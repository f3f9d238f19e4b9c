#include "tests/unit/events/site.hpp"

namespace svc::test {

namespace {

std::vector<std::int64_t> positions(const Heard& heard) {
    std::vector<std::int64_t> list;
    for (const auto& event : heard.all()) list.push_back(event.position);
    return list;
}

std::vector<std::int64_t> counted(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> list;
    for (auto i = first; i <= last; ++i) list.push_back(i);
    return list;
}

}  // namespace

TEST(Consumers, GetEveryEventInOrderFromTheMomentTheyAreFirstSeen) {
    EventsFixture fixture;
    {
        Site earlier(fixture, {});
        tell(fixture, 5);
        ASSERT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM events") == "5"; }));
    }
    Heard heard;
    Site site(fixture, {{"reader", [&](const StoredEvent& event) { heard.add(event); }}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    tell(fixture, 40);
    ASSERT_TRUE(eventually([&] { return heard.size() >= 40; }));
    EXPECT_EQ(positions(heard), counted(6, 45));
}

TEST(Consumers, GoOnWhereTheyStoppedAfterAnOrderlyEnd) {
    EventsFixture fixture;
    Heard heard;
    const Consumer reader{"reader", [&](const StoredEvent& event) { heard.add(event); }};
    {
        Site site(fixture, {reader});
        ASSERT_TRUE(eventually([&] { return site.working(); }));
        tell(fixture, 10);
        ASSERT_TRUE(eventually([&] { return heard.size() == 10; }));
    }
    tell(fixture, 10);
    Site site(fixture, {reader});
    ASSERT_TRUE(eventually([&] { return heard.size() == 20; }));
    EXPECT_EQ(positions(heard), counted(1, 20));
}

TEST(Consumers, GetAnEventAgainWhenTheyThrewAndNothingElseMeanwhile) {
    EventsFixture fixture;
    Heard heard;
    std::atomic<int> failures{0};
    Site site(fixture, {{"reader", [&](const StoredEvent& event) {
                             if (event.position == 4 && failures < 3) {
                                 ++failures;
                                 throw std::runtime_error("not now");
                             }
                             heard.add(event);
                         }}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    tell(fixture, 10);
    ASSERT_TRUE(eventually([&] { return heard.size() == 10; }));
    EXPECT_EQ(failures, 3);
    EXPECT_EQ(positions(heard), counted(1, 10));
    EXPECT_FALSE(site.consumers().load().front().failing);
}

TEST(Consumers, AConsumerThatThrowsHoldsUpNoOther) {
    EventsFixture fixture;
    Heard heard;
    Site site(
        fixture,
        {{"broken", [](const StoredEvent&) { throw std::runtime_error("never"); }},
         {"reader", [&](const StoredEvent& event) { heard.add(event); }}}
    );
    ASSERT_TRUE(eventually([&] {
        return site.consumers().load()[0].working && site.consumers().load()[1].working;
    }));
    tell(fixture, 10);
    ASSERT_TRUE(eventually([&] { return heard.size() == 10; }));
    EXPECT_TRUE(eventually([&] { return site.consumers().load()[0].failing; }));
    EXPECT_EQ(site.consumers().load()[0].position, 0);
}

TEST(Consumers, NeverRunOnTwoServersAtOnce) {
    EventsFixture fixture;
    std::atomic<int> inside{0}, most{0};
    Heard heard;
    const Consumer reader{"reader", [&](const StoredEvent& event) {
                              most = std::max(most.load(), ++inside);
                              std::this_thread::sleep_for(1ms);
                              heard.add(event);
                              --inside;
                          }};
    auto first = std::make_unique<Site>(fixture, std::vector{reader});
    ASSERT_TRUE(eventually([&] { return first->working(); }));
    Site second(fixture, {reader}), third(fixture, {reader});
    std::thread writer([&] { tell(fixture, 120); });
    ASSERT_TRUE(eventually([&] { return heard.size() > 20; }));
    EXPECT_FALSE(second.working() || third.working());
    first.reset();  // in the midst of it
    writer.join();
    ASSERT_TRUE(eventually([&] { return heard.size() >= 120; }));
    EXPECT_EQ(positions(heard), counted(1, 120)) << "an orderly handover repeats nothing";
    EXPECT_EQ(most, 1);
    EXPECT_NE(second.working(), third.working());
}

TEST(Consumers, ResumeAfterTheirConnectionWasCutAndMissNothing) {
    EventsFixture fixture;
    Heard heard;
    Site site(fixture, {{"reader", [&](const StoredEvent& event) { heard.add(event); }}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    const Uuid org = new_uuid();
    for (int round = 0; round < 5; ++round) {
        tell(fixture, 20, org);
        fixture.ask(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = "
            "'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = "
            "current_database())"
        );
    }
    const auto met_all = [&] {
        std::vector<std::int64_t> met = positions(heard);
        std::ranges::sort(met);
        met.erase(std::unique(met.begin(), met.end()), met.end());
        return met == counted(1, 100);
    };
    ASSERT_TRUE(eventually(met_all));
    // What comes again comes in order: a step back, and from there on one by one.
    std::int64_t last = 0;
    for (const auto position : positions(heard)) {
        EXPECT_LE(position, last + 1);
        last = position;
    }
}

TEST(Consumers, ResumeAfterARestartOfTheDatabase) {
    Postgres postgres;
    EventsFixture fixture(postgres);
    Heard heard;
    Site site(fixture, {{"reader", [&](const StoredEvent& event) { heard.add(event); }}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    tell(fixture, 10);
    ASSERT_TRUE(eventually([&] { return heard.size() == 10; }));
    postgres.restart();
    ASSERT_TRUE(eventually([&] { return fixture.database.reachable(); }));
    bool told = false;
    for (int tries = 0; !told && tries < 50; ++tries) try {
            tell(fixture, 1);
            told = true;
        } catch (const std::exception&) {  // a connection that the restart broke
        }
    ASSERT_TRUE(eventually([&] { return !heard.all().empty() && heard.all().back().position == 11; }
    ));
}

TEST(Consumers, AWorkspaceWithManyEventsDelaysNoOther) {
    EventsFixture fixture;
    const Uuid busy = new_uuid(), quiet = new_uuid();
    {
        Site first(fixture, {{"reader", [](const StoredEvent&) {}}});
        ASSERT_TRUE(eventually([&] { return first.working(); }));
    }
    {
        Site nobody(fixture, {});
        tell(fixture, 200, busy);
        tell(fixture, 1, quiet);
        ASSERT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM events") == "201"; })
        );
    }
    Heard heard;
    Site site(fixture, {{"reader", [&](const StoredEvent& event) {
                             std::this_thread::sleep_for(2ms);
                             heard.add(event);
                         }}});
    ASSERT_TRUE(eventually([&] { return heard.size() == 201; }));
    std::int64_t before = 0, sequence = 0;
    for (const auto& event : heard.all()) {
        if (event.org_id == quiet) break;
        ++before;
    }
    EXPECT_LE(before, 40) << "of 200 that were there first";
    for (const auto& event : heard.all())
        if (event.org_id == busy) {
            EXPECT_EQ(event.sequence, ++sequence);
        }
}

TEST(Consumers, AnEventThatCannotBeHandledDelaysNoOtherWorkspaceAndIsGivenUpInTheEnd) {
    EventsFixture fixture;
    const Uuid broken = new_uuid(), fine = new_uuid();
    Heard heard;
    std::atomic<int> tries{0};
    Site site(fixture, {{"reader", [&](const StoredEvent& event) {
                             if (event.org_id == broken && event.sequence == 1) {
                                 ++tries;
                                 throw std::runtime_error("never");
                             }
                             heard.add(event);
                         }}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    tell(fixture, 2, broken);
    tell(fixture, 3, fine);
    ASSERT_TRUE(eventually([&] { return heard.size() >= 3; }));
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM event_dead_letters"), "0");
    ASSERT_TRUE(eventually([&] { return heard.size() == 4; }));
    EXPECT_EQ(heard.all().back().org_id, broken) << "the next of that workspace";
    EXPECT_EQ(tries, brisk().tries);
    EXPECT_EQ(
        fixture.ask("SELECT consumer || ' ' || sequence || ' ' || kind || ' ' || error "
                    "FROM event_dead_letters"),
        "reader 1 note.created never"
    );
    ASSERT_TRUE(eventually([&] { return site.consumers().load().front().position == 5; }));
    EXPECT_EQ(site.consumers().load().front().given_up, 1u);
    EXPECT_FALSE(site.consumers().load().front().failing);
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM event_backlogs"), "0");
}

TEST(Consumers, WhatOneLeftBehindInAWorkspaceTheNextTakesUp) {
    EventsFixture fixture;
    const Uuid broken = new_uuid(), fine = new_uuid();
    std::atomic<bool> mended{false};
    Heard heard;
    const Consumer reader{"reader", [&](const StoredEvent& event) {
                              if (event.org_id == broken && !mended) throw std::runtime_error("no");
                              heard.add(event);
                          }};
    {
        Site site(fixture, {reader});
        ASSERT_TRUE(eventually([&] { return site.working(); }));
        tell(fixture, 3, broken);
        tell(fixture, 3, fine);
        ASSERT_TRUE(eventually([&] { return heard.size() == 3; }));
        ASSERT_TRUE(eventually([&] {
            return fixture.ask("SELECT max(tries) > 0 FROM event_backlogs") == "t";
        }));
    }
    mended = true;
    Site next(fixture, {reader});
    ASSERT_TRUE(eventually([&] { return heard.size() == 6; }));
    std::vector<std::int64_t> of_broken;
    for (const auto& event : heard.all())
        if (event.org_id == broken) of_broken.push_back(event.sequence);
    EXPECT_EQ(of_broken, counted(1, 3));
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM event_dead_letters"), "0");
}

TEST(Consumers, GiveUpWhateverTheErrorSays) {
    EventsFixture fixture;
    Heard heard;
    const Uuid odd = new_uuid(), broken = new_uuid();
    std::string long_error = "x";  // so that the limit falls within a character
    while (long_error.size() < 4'000) long_error += "\xE2\x82\xAC";
    Site site(fixture, {{"reader", [&](const StoredEvent& event) {
                             if (event.org_id == odd) throw std::runtime_error(long_error);
                             if (event.org_id == broken) throw std::runtime_error("\xFF\xFE");
                             heard.add(event);
                         }}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    for (const auto& org : {odd, broken}) tell(fixture, 1, org);
    ASSERT_TRUE(eventually([&] {
        return fixture.ask("SELECT count(*) FROM event_dead_letters") == "2";
    }));
    EXPECT_EQ(
        fixture.ask("SELECT string_agg(octet_length(error)::text, ' ' ORDER BY length(error))"
                    " FROM event_dead_letters"),
        "32 1999"
    );
    tell(fixture, 1);
    EXPECT_TRUE(eventually([&] { return heard.size() == 1; }));
}

TEST(Consumers, GetTheSubjectWhereItIsKept) {
    EventsFixture fixture;
    Heard heard;
    Site site(fixture, {{"reader", [&](const StoredEvent& event) { heard.add(event); }}});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    const Uuid org = new_uuid();
    Note before, after;
    before.id = after.id = new_uuid();
    before.title = "Milk";
    after.title = "Bread";
    const EventKind read{
        "note.read", "note", "Its subject is read.", &record_of<Note>, 0, Subject::read};
    fixture.write(org, [&](Tx& tx) {
        tell_as_system(tx, org, "write_note", created(note_created, before));
        tell_as_system(tx, org, "write_note", changed(note_updated, before, after));
        tell_as_system(tx, org, "write_note", changed(read, before, after));
    });
    ASSERT_TRUE(eventually([&] { return heard.size() == 3; }));
    EXPECT_FALSE(heard.all()[0].subject) << "changes say it all";
    EXPECT_EQ(
        heard.all()[1].subject,
        R"({"object":"note","id":")" + after.id.str() + R"(","title":"Bread","version":1})"
    );
    EXPECT_FALSE(heard.all()[2].subject);
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM audit_events WHERE after LIKE '%object%'"), "1")
        << "the audit record holds what it held";
}

TEST(Consumers, StopPromptlyWhileTheyPauseOrWait) {
    EventsFixture fixture;
    auto settings = brisk();
    settings.pause = settings.longest_pause = settings.poll = settings.lock_retry = 60s;
    Sequencer sequencer(fixture.database, {});
    Consumers consumers(
        fixture.database,
        {{"idle", [](const StoredEvent&) {}},
         {"broken", [](const StoredEvent&) { throw std::runtime_error("never"); }}},
        settings
    );
    ASSERT_TRUE(eventually([&] { return consumers.load()[1].working; }));
    tell(fixture, 1);
    ASSERT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM events") == "1"; }));
    consumers.wake(std::vector<StoredEvent>(1));
    ASSERT_TRUE(eventually([&] { return consumers.load()[1].failing; }));
    const auto before = std::chrono::steady_clock::now();
    consumers.stop();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
}

}  // namespace svc::test
