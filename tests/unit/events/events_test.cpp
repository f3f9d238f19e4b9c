#include "core/kernel_impl.hpp"
#include "events/envelope.hpp"
#include "events/hooks.hpp"
#include "tests/support/bare_call.hpp"
#include "tests/unit/events/events_fixture.hpp"

#include <boost/json.hpp>

namespace svc::test {

namespace {

Note note() {
    Note note;
    note.id = new_uuid();
    note.title = "Milk";
    note.token = "svc_secret";
    return note;
}

}  // namespace

TEST(Events, AFilterIsAKindANounOrEverything) {
    EXPECT_TRUE(kind_matches("*", "card.moved"));
    EXPECT_TRUE(kind_matches("card.*", "card.moved"));
    EXPECT_TRUE(kind_matches("card.moved", "card.moved"));
    EXPECT_FALSE(kind_matches("card.*", "cardinal.moved"));
    EXPECT_FALSE(kind_matches("card.move", "card.moved"));
    EXPECT_FALSE(kind_matches("card", "card.moved"));
    EXPECT_FALSE(kind_matches("", "card.moved"));
    EXPECT_FALSE(kind_matches(".*", "card.moved"));
}

TEST(Events, ANewThingIsToldWholeButForItsSecrets) {
    const Note milk = note();
    const Event event = created(note_created, milk);
    EXPECT_EQ(event.id, milk.id);
    EXPECT_EQ(event.version, 1);
    EXPECT_EQ(event.name, "Milk");
    EXPECT_EQ(event.previous, "{}");
    EXPECT_EQ(
        event.changes,
        R"({"object":"note","id":")" + milk.id.str() + R"(","title":"Milk","version":1})"
    );
}

TEST(Events, AChangeTellsOnlyWhatDiffers) {
    const Note before = note();
    Note after = before;
    after.title = "Bread";
    after.token = "svc_other";
    after.version = 2;
    const Event event = changed(note_updated, before, after);
    EXPECT_EQ(event.changes, R"({"title":"Bread","version":2})");
    EXPECT_EQ(event.previous, R"({"title":"Milk","version":1})");
    EXPECT_EQ(event.name, "Bread");
    EXPECT_EQ(event.version, 2);
}

TEST(Events, SmallValuesAreKeptAsTheyCame) {
    const auto values = events::bounded(R"({ "a" : 1 })", "{}");
    EXPECT_EQ(values.changes, R"({ "a" : 1 })");
    EXPECT_TRUE(values.truncated_fields.empty());
}

TEST(Events, OnlyTheLargestFieldsAreTruncated) {
    const std::string big(200'000, 'x'), middle(100'000, 'y');
    const auto values = events::bounded(
        R"({"title":"t","text":")" + big + R"(","notes":")" + middle + R"("})",
        R"({"title":"s","text":"short"})"
    );
    EXPECT_EQ(values.truncated_fields, std::vector<std::string>{"text"});
    EXPECT_EQ(
        values.changes, R"({"title":"t","text":{"truncated":true},"notes":")" + middle + R"("})"
    );
    EXPECT_EQ(values.previous, R"({"title":"s","text":{"truncated":true}})");
}

TEST(Events, ValuesThatAreAllTooLargeAreAllTruncated) {
    std::string changes = "{";
    for (int i = 0; i < 20; ++i) {
        if (i) changes += ',';
        changes += "\"f" + std::to_string(i) + "\":\"" + std::string(300'000, 'x') + '"';
    }
    changes += '}';
    const auto values = events::bounded(changes, "{}");
    EXPECT_EQ(values.truncated_fields.size(), 20u);
    EXPECT_LT(values.changes.size(), 1'000u);
}

TEST(Events, NamesThatAreTooLongByThemselvesLeaveNothing) {
    const auto values = events::bounded("{\"" + std::string(300'000, 'n') + "\":1}", "{}");
    EXPECT_EQ(values.changes, R"({"truncated":true})");
    EXPECT_EQ(values.previous, "{}");
}

TEST(Events, WhatIsAskedLooksLikeWhatIsTold) {
    const Uuid org = new_uuid(), board = new_uuid();
    BareCall call(someone(org));
    const auto event = created(note_pinned, note()).on_board(board);
    const auto envelope = json::parse(envelope_of(call, event)).as_object();
    EXPECT_EQ(envelope.size(), record_of<EventEnvelope>().fields.size());
    EXPECT_EQ(envelope.at("kind").as_string(), "note.pinned");
    EXPECT_EQ(envelope.at("org_id").as_string(), org.str());
    EXPECT_EQ(envelope.at("board_id").as_string(), board.str());
    EXPECT_EQ(envelope.at("sequence").as_int64(), 0);
    EXPECT_EQ(envelope.at("actor").as_object().at("name").as_string(), "Ada");
    EXPECT_EQ(envelope.at("actor").as_object().at("via").as_string(), "mcp");
    EXPECT_EQ(envelope.at("data").as_object().at("board_id").as_string(), board.str());
}

TEST(Events, HaveTheirSubjectAsItIsAfterTheChange) {
    Note before = note(), after = before;
    after.title = "Bread";
    const Event event = changed(note_updated, before, after);
    EXPECT_EQ(
        event.subject,
        R"({"object":"note","id":")" + after.id.str() + R"(","title":"Bread","version":1})"
    );
    const Event made = created(note_created, after);
    EXPECT_EQ(made.subject, made.changes);
}

TEST(Events, WithAnotherPlaceThanTheirKindDeclaresAreRefused) {
    BareCall call(someone(new_uuid()));
    EXPECT_THROW(envelope_of(call, created(note_pinned, note())), std::logic_error);
    EXPECT_THROW(
        envelope_of(call, created(note_created, note()).on_board(new_uuid())), std::logic_error
    );
    const EventKind card{"card.moved", "card", "", &record_of<Note>, at::card};
    const Note one = note();
    const auto envelope = json::parse(envelope_of(call, created(card, one))).as_object();
    EXPECT_EQ(envelope.at("data").as_object().at("card_id").as_string(), one.id.str())
        << "a card's event names the card as all others do that belong to it";
}

TEST(Events, OfAMoveSayFromWhereToWhere) {
    BareCall call(someone(new_uuid()));
    const Uuid board = new_uuid(), here = new_uuid(), there = new_uuid();
    const auto event = created(note_sent, note())
                           .on_board(board)
                           .moved({board, here, "Doing", "normal"}, {board, there, "Done", "done"});
    const auto envelope = json::parse(envelope_of(call, event)).as_object();
    const auto& data = envelope.at("data").as_object();
    EXPECT_EQ(data.at("from").as_object().at("column_id").as_string(), here.str());
    EXPECT_EQ(data.at("to").as_object().at("name").as_string(), "Done");
    EXPECT_EQ(data.at("to").as_object().at("kind").as_string(), "done");
}

TEST(Events, AnAgentActsForItsPerson) {
    Caller agent = someone(new_uuid());
    const Uuid person = agent.id;
    agent.type = PrincipalType::agent;
    agent.id = new_uuid();
    EXPECT_EQ(events::actor_of(&agent, Surface::api).on_behalf_of_user_id, person);
    EXPECT_EQ(events::actor_of(nullptr, Surface::system).principal_type, PrincipalType::system);
    const Caller human = someone(new_uuid());
    EXPECT_FALSE(events::actor_of(&human, Surface::web).on_behalf_of_user_id);
}

namespace {

/// Picks kinds by the object that they are about.
events::Hooks::Which about(std::string object) {
    return [object](const Call&, const EventKind& kind) { return kind.object == object; };
}

}  // namespace

TEST(Hooks, AreAskedInTheirOrderUntilOneRefuses) {
    events::Hooks hooks;
    std::string asked;
    hooks.in_transaction("note.created", [&](Call&, const Event&) { asked += 'x'; });
    hooks.veto(about("note"), [&](Call&, const Event&) { return asked += 'a', allow; });
    hooks.veto(about("card"), [&](Call&, const Event&) { return asked += 'b', allow; });
    hooks.veto(about("note"), [&](Call&, const Event&) -> Verdict {
        asked += 'c';
        return Refusal{"no_milk", "We do not drink milk."};
    });
    hooks.veto(about("note"), [&](Call&, const Event&) { return asked += 'd', allow; });
    BareCall call(someone(new_uuid()));
    try {
        hooks.check(call, created(note_created, note()));
        FAIL() << "nobody refused";
    } catch (const Failure& failure) {
        EXPECT_EQ(failure.status(), 409);
        EXPECT_EQ(failure.code(), "no_milk");
        EXPECT_STREQ(failure.what(), "We do not drink milk.");
    }
    EXPECT_EQ(asked, "ac") << "nothing is written beside a change that is refused";
}

TEST(Hooks, InTheTransactionComeAfterAllVetoes) {
    events::Hooks hooks;
    std::string asked;
    hooks.in_transaction("note.created", [&](Call&, const Event&) { asked += 'x'; });
    hooks.in_transaction("note.updated", [&](Call&, const Event&) { asked += 'y'; });
    hooks.veto(about("note"), [&](Call&, const Event&) { return asked += 'a', allow; });
    BareCall call(someone(new_uuid()));
    hooks.check(call, created(note_created, note()));
    EXPECT_EQ(asked, "ax");
}

TEST(Hooks, NobodyRefusesWhatTakesRightsAway) {
    events::Hooks hooks;
    bool asked = false, written = false;
    EventKind revoked = note_created;
    revoked.vetoable = false;
    hooks.veto(about("note"), [&](Call&, const Event&) -> Verdict {
        asked = true;
        return Refusal{"no", "No."};
    });
    hooks.in_transaction(revoked.name, [&](Call&, const Event&) { written = true; });
    BareCall call(someone(new_uuid()));
    EXPECT_NO_THROW(hooks.check(call, created(revoked, note())));
    EXPECT_FALSE(asked);
    EXPECT_TRUE(written);
    Kernel kernel(std::make_unique<Kernel::Impl>());
    EXPECT_THROW(kernel.veto(revoked, {}), std::logic_error);
}

}  // namespace svc::test
