#include "tests/unit/events/site.hpp"

#include <map>

namespace svc::test {

namespace {

std::vector<std::int64_t> counted(std::int64_t first, std::int64_t last) {
    std::vector<std::int64_t> list;
    for (auto i = first; i <= last; ++i) list.push_back(i);
    return list;
}

/// The numbers of what was heard, sorted.
std::vector<std::int64_t> positions(const Heard& heard) {
    std::vector<std::int64_t> list;
    for (const auto& event : heard.all()) list.push_back(event.position);
    std::ranges::sort(list);
    return list;
}

/// In the order of hearing.
std::vector<std::int64_t> sequences_of(const Heard& heard, const Uuid& org) {
    std::vector<std::int64_t> list;
    for (const auto& event : heard.all())
        if (event.org_id == org) list.push_back(event.sequence);
    return list;
}

Consumer reader_into(Heard& heard) {
    return consumer("reader", [&](const StoredEvent& event) { heard.add(event); });
}

const std::string deliveries = "SELECT count(*) FROM event_deliveries";

}  // namespace

TEST(Consumers, GetEveryEventFromTheMomentTheyAreFirstSeen) {
    EventsFixture fixture;
    {
        Site earlier(fixture, {});
        emit(fixture, 5);
        ASSERT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM events") == "5"; }));
    }
    Heard heard;
    Site site(fixture, {reader_into(heard)});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    emit(fixture, 40);
    ASSERT_TRUE(eventually([&] { return heard.size() >= 40; }));
    EXPECT_EQ(positions(heard), counted(6, 45));
    ASSERT_TRUE(eventually([&] { return fixture.ask(deliveries) == "0"; }));
    EXPECT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM jobs") == "0"; }));
    EXPECT_TRUE(eventually([&] { return site.consumers().load().front().position == 45; }));
    EXPECT_EQ(site.consumers().load().front().delivered, 40u);
}

TEST(Consumers, GoOnWhereTheyStoppedAfterAnOrderlyEnd) {
    EventsFixture fixture;
    Heard heard;
    {
        Site site(fixture, {reader_into(heard)});
        ASSERT_TRUE(eventually([&] { return site.working(); }));
        emit(fixture, 10);
        ASSERT_TRUE(eventually([&] { return heard.size() == 10; }));
    }
    emit(fixture, 10);
    Site site(fixture, {reader_into(heard)});
    ASSERT_TRUE(eventually([&] { return heard.size() == 20; }));
    EXPECT_EQ(positions(heard), counted(1, 20));
}

TEST(Consumers, ASubscriberGetsAWorkspacesEventsInTheirOrderOnWhicheverServer) {
    EventsFixture fixture;
    Heard heard;
    const std::vector<Uuid> orgs{new_uuid(), new_uuid(), new_uuid()};
    std::atomic<int> inside{0}, most{0};
    const auto reader = consumer("reader", [&](const StoredEvent& event) {
        most = std::max(most.load(), ++inside);
        std::this_thread::sleep_for(most < 2 ? 20ms : 1ms);
        heard.add(event);
        --inside;
    });
    Site first(fixture, {reader}), second(fixture, {reader});
    ASSERT_TRUE(eventually([&] { return first.working() || second.working(); }));
    for (int round = 0; round < 30; ++round)
        for (const Uuid& org : orgs) emit(fixture, 1, org);
    ASSERT_TRUE(eventually([&] { return heard.size() >= 90; }));
    for (const Uuid& org : orgs) EXPECT_EQ(sequences_of(heard, org), counted(1, 30));
    EXPECT_GT(most, 1) << "workspaces wait for each other";
}

TEST(Consumers, OfTwoServersOneHandsOver) {
    EventsFixture fixture;
    Heard heard;
    auto first = std::make_unique<Site>(fixture, std::vector{reader_into(heard)});
    ASSERT_TRUE(eventually([&] { return first->working(); }));
    Site second(fixture, {reader_into(heard)}), third(fixture, {reader_into(heard)});
    std::thread writer([&] { emit(fixture, 120); });
    ASSERT_TRUE(eventually([&] { return heard.size() > 20; }));
    EXPECT_FALSE(second.working() || third.working());
    first.reset();  // in the midst of it
    writer.join();
    ASSERT_TRUE(eventually([&] { return heard.size() >= 120; }));
    EXPECT_EQ(positions(heard), counted(1, 120)) << "an orderly handover repeats nothing";
    ASSERT_TRUE(eventually([&] { return second.working() != third.working(); }));
}

TEST(Consumers, GetAnEventAgainWhenTheyThrewAndNothingElseMeanwhile) {
    EventsFixture fixture;
    Heard heard;
    std::atomic<int> failures{0};
    const Uuid org = new_uuid();
    Site site(fixture, {consumer("reader", [&](const StoredEvent& event) {
                  if (event.sequence == 4 && failures < 3) {
                      ++failures;
                      throw std::runtime_error("not now");
                  }
                  heard.add(event);
              })});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    emit(fixture, 10, org);
    ASSERT_TRUE(eventually([&] { return heard.size() == 10; }));
    EXPECT_EQ(failures, 3);
    EXPECT_EQ(sequences_of(heard, org), counted(1, 10));
}

TEST(Consumers, ASubscriberThatFailsOrIsSlowHoldsUpNoOther) {
    EventsFixture fixture;
    Heard heard;
    std::atomic<bool> go_on{false};
    Consumer three{
        .name = "three",
        .subscribers =
            [](const StoredEvent&) {
                return std::vector<std::string>{"broken", "slow", "fine"};
            },
        .deliver =
            [&](const std::string& subscriber, const StoredEvent& event) {
                if (subscriber == "broken") throw std::runtime_error("never");
                if (subscriber == "slow") eventually([&] { return go_on.load(); });
                else heard.add(event);
            },
        .pause = 10ms,
    };
    Site site(fixture, {three});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    const Uuid org = new_uuid();
    emit(fixture, 10, org);
    EXPECT_TRUE(eventually([&] { return heard.size() == 10; }, 5s));
    EXPECT_EQ(sequences_of(heard, org), counted(1, 10));
    EXPECT_EQ(fixture.ask(deliveries + " WHERE subscriber = 'broken'"), "10");
    EXPECT_EQ(fixture.ask(deliveries + " WHERE subscriber = 'slow'"), "10");
    go_on = true;
    EXPECT_TRUE(eventually([&] { return fixture.ask(deliveries) == "10"; }));
}

TEST(Consumers, AWorkspaceWithManyEventsDelaysNoOther) {
    EventsFixture fixture;
    const Uuid busy = new_uuid(), quiet = new_uuid();
    Heard heard;
    const auto slow_reader = consumer("reader", [&](const StoredEvent& event) {
        std::this_thread::sleep_for(2ms);
        heard.add(event);
    });
    {
        Site first(fixture, {slow_reader});
        ASSERT_TRUE(eventually([&] { return first.working(); }));
    }
    {
        Site nobody(fixture, {});
        emit(fixture, 200, busy);
        emit(fixture, 1, quiet);
        ASSERT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM events") == "201"; })
        );
    }
    Site site(fixture, {slow_reader});
    ASSERT_TRUE(eventually([&] { return heard.size() == 201; }));
    const auto all = heard.all();
    const auto of_quiet = std::ranges::find(all, quiet, &StoredEvent::org_id);
    EXPECT_LE(of_quiet - all.begin(), 150) << "of 200 that were there first";
    EXPECT_EQ(sequences_of(heard, busy), counted(1, 200));
}

TEST(Consumers, AnEventThatCannotBeHandledIsGivenUpInTheEnd) {
    EventsFixture fixture;
    const Uuid broken = new_uuid(), fine = new_uuid();
    Heard heard;
    std::atomic<int> tries{0};
    Site site(fixture, {consumer("reader", [&](const StoredEvent& event) {
                  if (event.org_id == broken && event.sequence == 2) {
                      ++tries;
                      throw std::runtime_error("never");
                  }
                  heard.add(event);
              })});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    emit(fixture, 3, broken);
    emit(fixture, 3, fine);
    ASSERT_TRUE(eventually([&] { return heard.size() == 5; }));
    EXPECT_EQ(sequences_of(heard, broken), (std::vector<std::int64_t>{1, 3}));
    EXPECT_GE(tries, 6);
    EXPECT_LE(tries, 6 + 1) << "one more where the event before it was handled in the same run";
    EXPECT_EQ(
        fixture.ask("SELECT consumer || ' ' || subscriber || ' ' || sequence || ' ' || kind || ' ' "
                    "|| error FROM event_dead_letters"),
        "reader all 2 note.created never"
    );
    EXPECT_EQ(site.consumers().load().front().given_up, 1u);
    EXPECT_TRUE(eventually([&] { return fixture.ask(deliveries) == "0"; }));
}

TEST(Consumers, AnEventThatFailsAfterItsTimeIsTheOneThatIsGivenUp) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    Heard heard;
    auto slow = consumer("reader", [&](const StoredEvent& event) {
        if (event.sequence != 2) return heard.add(event);
        std::this_thread::sleep_for(30ms);  // longer than its slice
        throw std::runtime_error("too slow");
    });
    slow.most_attempts = 2;
    Site site(fixture, {slow});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    emit(fixture, 3, org);
    ASSERT_TRUE(eventually([&] { return heard.size() == 2; }));
    EXPECT_EQ(sequences_of(heard, org), (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(fixture.ask("SELECT sequence || ' ' || error FROM event_dead_letters"), "2 too slow");
    EXPECT_TRUE(eventually([&] { return fixture.ask(deliveries) == "0"; }));
}

TEST(Consumers, WhatOneServerLeftBehindTheNextTakesUp) {
    EventsFixture fixture;
    const Uuid broken = new_uuid(), fine = new_uuid();
    std::atomic<bool> mended{false};
    Heard heard;
    const auto reader = consumer("reader", [&](const StoredEvent& event) {
        if (event.org_id == broken && !mended) throw std::runtime_error("no");
        heard.add(event);
    });
    {
        Site site(fixture, {reader});
        ASSERT_TRUE(eventually([&] { return site.working(); }));
        emit(fixture, 3, broken);
        emit(fixture, 3, fine);
        ASSERT_TRUE(eventually([&] { return heard.size() == 3; }));
    }
    mended = true;
    Site next(fixture, {reader});
    ASSERT_TRUE(eventually([&] { return heard.size() == 6; }));
    EXPECT_EQ(sequences_of(heard, broken), counted(1, 3));
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM event_dead_letters"), "0");
}

TEST(Consumers, GiveUpWhateverTheErrorSays) {
    EventsFixture fixture;
    Heard heard;
    const Uuid odd = new_uuid(), broken = new_uuid();
    std::string long_error = "x";  // so that the limit falls within a character
    while (long_error.size() < 4'000) long_error += "\xE2\x82\xAC";
    Site site(fixture, {consumer("reader", [&](const StoredEvent& event) {
                  if (event.org_id == odd) throw std::runtime_error(long_error);
                  if (event.org_id == broken) throw std::runtime_error("\xFF\xFE");
                  heard.add(event);
              })});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    for (const auto& org : {odd, broken}) emit(fixture, 1, org);
    ASSERT_TRUE(eventually([&] {
        return fixture.ask("SELECT count(*) FROM event_dead_letters") == "2";
    }));
    EXPECT_EQ(
        fixture.ask("SELECT string_agg(octet_length(error)::text, ' ' ORDER BY length(error))"
                    " FROM event_dead_letters"),
        "32 1999"
    );
    emit(fixture, 1);
    EXPECT_TRUE(eventually([&] { return heard.size() == 1; }));
}

TEST(Consumers, GatherWhatHappensWhereNobodyWaits) {
    EventsFixture fixture;
    std::atomic<std::size_t> looks{0}, recorded{0};
    const Consumer gatherer{
        .name = "gatherer",
        .subscribers = [](const StoredEvent&) { return std::vector<std::string>{"all"}; },
        .record =
            [&](Tx&, std::span<const StoredEvent> events) {
                ++looks;
                recorded += events.size();
            },
        .gather = 2s,
    };
    Site site(fixture, {gatherer}, {.poll = 10ms, .lock_retry = 20ms});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    emit(fixture, 1);
    ASSERT_TRUE(eventually([&] { return recorded == 1; })) << "the first does not wait";
    const Uuid org = new_uuid();
    fixture.write(org, [&](Tx& tx) {
        Note note;
        note.id = new_uuid();
        for (int i = 0; i < 5; ++i)
            emit_as_system(tx, org, "write_note", created(note_created, note));
    });
    ASSERT_TRUE(eventually([&] { return recorded == 6; }));
    EXPECT_EQ(looks, 2u);
}

TEST(Consumers, KnowWhatAnEventIsAboutWithoutReadingItsText) {
    EventsFixture fixture;
    Heard heads, heard;
    const Uuid org = new_uuid(), board = new_uuid(), column = new_uuid(), card = new_uuid();
    auto reader = reader_into(heard);
    reader.subscribers = [&](const StoredEvent& event) {
        heads.add(event);
        return std::vector<std::string>{"all"};
    };
    Site site(fixture, {reader});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    Note note;
    note.id = new_uuid();
    fixture.write(org, [&](Tx& tx) {
        emit_as_system(
            tx,
            org,
            "write_note",
            created(note_placed, note).on_board(board).in_column(column).of_card(card)
        );
    });
    ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
    for (const auto& event : {heads.all().front(), heads.all().back(), heard.all().front()}) {
        EXPECT_EQ(event.object, "note");
        EXPECT_EQ(event.object_id, note.id);
        EXPECT_EQ(event.board_id, board);
        EXPECT_EQ(event.column_id, column);
        EXPECT_EQ(event.card_id, card);
        EXPECT_EQ(event.actor.parsed().principal_type, PrincipalType::system);
    }
    EXPECT_EQ(heads.all().back().envelope, "") << "of a look";
    EXPECT_NE(heard.all().front().envelope, "");
}

TEST(Consumers, GetTheSubjectWhereItIsKept) {
    EventsFixture fixture;
    Heard heard;
    Site site(fixture, {reader_into(heard)});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    const Uuid org = new_uuid();
    Note before, after;
    before.id = after.id = new_uuid();
    before.title = "Milk";
    after.title = "Bread";
    const EventKind read{
        "note.read", "note", "Its subject is read.", &record_of<Note>, 0, Subject::read};
    fixture.write(org, [&](Tx& tx) {
        emit_as_system(tx, org, "write_note", created(note_created, before));
        emit_as_system(tx, org, "write_note", changed(note_updated, before, after));
        emit_as_system(tx, org, "write_note", changed(read, before, after));
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

TEST(Consumers, ResumeAfterTheirConnectionWasCutAndMissNothing) {
    EventsFixture fixture;
    Heard heard;
    Site site(fixture, {reader_into(heard)});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    const Uuid org = new_uuid();
    for (int round = 0; round < 5; ++round) {
        emit(fixture, 20, org);
        fixture.ask(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = "
            "'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = "
            "current_database())"
        );
    }
    ASSERT_TRUE(eventually([&] {
        auto met = positions(heard);
        met.erase(std::unique(met.begin(), met.end()), met.end());
        return met == counted(1, 100);
    }));
    EXPECT_EQ(heard.size(), 100u) << "handing over anew repeats nothing";
}

TEST(Consumers, ResumeAfterARestartOfTheDatabase) {
    Postgres postgres;
    EventsFixture fixture(postgres);
    Heard heard;
    Site site(fixture, {reader_into(heard)});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    emit(fixture, 10);
    ASSERT_TRUE(eventually([&] { return heard.size() == 10; }));
    postgres.restart();
    ASSERT_TRUE(eventually([&] { return fixture.database.reachable(); }));
    bool emitted = false;
    for (int tries = 0; !emitted && tries < 50; ++tries) try {
            emit(fixture, 1);
            emitted = true;
        } catch (const std::exception&) {  // a connection that the restart broke
        }
    ASSERT_TRUE(eventually([&] { return positions(heard).back() == 11; }));
}

TEST(Consumers, StopPromptlyWhileTheyPauseOrWait) {
    EventsFixture fixture;
    auto broken = consumer("broken", [](const StoredEvent&) { throw std::runtime_error("never"); });
    broken.pause = broken.longest_pause = 60s;
    auto site = std::make_unique<Site>(
        fixture, std::vector{consumer("idle", [](const StoredEvent&) {}), broken}
    );
    ASSERT_TRUE(eventually([&] { return site->consumers().load()[1].working; }));
    emit(fixture, 1);
    ASSERT_TRUE(eventually([&] {
        return fixture.ask("SELECT max(attempts) FROM jobs WHERE state = 'waiting'") == "1";
    }));
    const auto before = std::chrono::steady_clock::now();
    site.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 10s);
}

}  // namespace svc::test
