// Changing cards field by field: every field that update_card takes, as its record lists them.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

#include <set>

namespace svc::test {

namespace {

using boost::json::object;

const Operation& update_card() {
    return *in_process().kernel().find_operation("update_card")->operation;
}

/// The fields that a PATCH may name, from the record itself.
std::vector<std::string> fields() {
    std::vector<std::string> names;
    for (const Field& field : update_card().handler.input->fields)
        if (field.name != "card_id" && field.name != "merge_properties")
            names.emplace_back(field.name);
    return names;
}

/// Whether the schema lets null clear it.
bool may_be_null(const std::string& field) {
    const value schema = boost::json::parse(in_process().kernel().tool_schema(update_card()));
    return boost::json::serialize(schema.at("properties").at(field)).find("\"null\"") !=
           std::string::npos;
}

/// A card with every field set, and another value for each.
struct Samples {
    BoardFixture fixture;
    Caller helper = in_process().person(fixture.owner, OrgRole::member, "Hal");
    std::string first = fixture.card(fixture.backlog).text("/id"),
                second = fixture.card(fixture.backlog).text("/id");
    std::string card;
    object other;

    Samples() {
        in_process().must(
            fixture.owner,
            "create_property",
            {{"board_id", fixture.board.str()}, {"name", "Size"}, {"type", "select"}}
        );
        card = fixture
                   .card(
                       fixture.backlog,
                       {{"title", "All"},
                        {"labels", {"a"}},
                        {"assignees", {fixture.owner.id.str()}},
                        {"due", "2026-01-01"},
                        {"start", "2026-01-01"},
                        {"priority", "low"},
                        {"estimate", 1},
                        {"properties", {{"Size", "S"}}},
                        {"parent_card_id", first},
                        {"blocked_by", {first}},
                        {"external_key", "one"}}
                   )
                   .text("/id");
        other = {
            {"title", "Other"},
            {"labels", {"b"}},
            {"assignees", {helper.id.str()}},
            {"due", "2026-02-02T10:00:00Z"},
            {"start", "2026-02-02"},
            {"priority", "urgent"},
            {"estimate", 2.5},
            {"properties", {{"Size", "L"}}},
            {"parent_card_id", second},
            {"blocked_by", {second}},
            {"external_key", "two"}};
    }

    Answer patch(object what) {
        what["card_id"] = card;
        return in_process().ask(fixture.owner, "update_card", what);
    }
    value now() { return fixture.get(*Uuid::parse(card)).body; }
};

std::set<std::string> differing(const value& a, const value& b) {
    std::set<std::string> names;
    for (const auto& [key, was] : a.as_object())
        if (b.at(key) != was) names.insert(std::string(key));
    for (const char* follows : {"version", "last_edited_time", "last_edited_by"})
        names.erase(follows);
    return names;
}

}  // namespace

TEST(Patch, EveryFieldHasASample) {
    Samples samples;
    for (const std::string& field : fields())
        EXPECT_TRUE(samples.other.contains(field)) << field << " is not tested here";
}

TEST(Patch, TouchesTheNamedFieldAloneWhicheverItIs) {
    Samples samples;
    for (const std::string& field : fields()) {
        const value before = samples.now();
        const Answer answer = samples.patch({{field, samples.other.at(field)}});
        ASSERT_EQ(answer.status, 200) << field << boost::json::serialize(answer.body);
        EXPECT_EQ(differing(before, answer.body), std::set{field});
        EXPECT_EQ(answer.number("/version"), before.at("version").to_number<std::int64_t>() + 1);
        EXPECT_EQ(samples.now(), answer.body) << field;
    }
}

TEST(Patch, TheSameValueAgainLeavesTheVersion) {
    Samples samples;
    for (const std::string& field : fields()) {
        const value once = samples.patch({{field, samples.other.at(field)}}).body;
        const value twice = samples.patch({{field, samples.other.at(field)}}).body;
        EXPECT_EQ(once, twice) << field;
    }
}

TEST(Patch, NullClearsWhatMayBeEmptyAndIsRefusedOtherwise) {
    Samples samples;
    for (const std::string& field : fields()) {
        const value before = samples.now();
        const Answer answer = samples.patch({{field, nullptr}});
        if (!may_be_null(field)) {
            EXPECT_EQ(answer.status, 422) << field;
            EXPECT_EQ(samples.now(), before) << field;
        } else {
            ASSERT_EQ(answer.status, 200) << field;
            EXPECT_TRUE(answer.body.at(field).is_null()) << field;
            EXPECT_EQ(differing(before, answer.body), std::set{field});
        }
    }
}

TEST(Patch, AnOldVersionIsRefusedWhateverTheField) {
    Samples samples;
    for (const std::string& field : fields()) {
        const Answer answer = in_process().ask(
            samples.fixture.owner,
            "batch_cards",
            {{"operations",
              {{{"update", {{"card_id", samples.card}, {field, samples.other.at(field)}}},
                {"version", 77}}}}}
        );
        EXPECT_EQ(answer.status, 412) << field;
        EXPECT_EQ(answer.text("/code"), "version_conflict");
    }
}

TEST(Patch, ATimeWithoutOffsetIsRefusedAsSuch) {
    Samples samples;
    for (const char* field : {"due", "start"}) {
        const Answer naive = samples.patch({{field, "2026-06-19T10:00:00"}});
        EXPECT_EQ(naive.status, 422);
        EXPECT_EQ(naive.text("/detail/0/type"), "timezone_aware");
        const Answer nonsense = samples.patch({{field, "2026-02-30"}});
        EXPECT_EQ(nonsense.status, 422);
        EXPECT_EQ(nonsense.text("/detail/0/type"), "datetime_parsing");
        EXPECT_EQ(samples.patch({{field, 7}}).text("/detail/0/type"), "datetime_type");
    }
}

TEST(Patch, WhatIsInTheTrashIsLeftAlone) {
    Samples samples;
    in_process().must(samples.fixture.owner, "delete_card", {{"card_id", samples.card}});
    const Answer answer = samples.patch({{"title", "No"}});
    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(answer.text("/additional_data/reason"), "card_in_trash");
}

TEST(Patch, LooksAndMeansAreCheckedBeforeTheCard) {
    Samples samples;
    const Caller viewer = in_process().person(samples.fixture.owner, OrgRole::viewer, "Vi");
    const Caller stranger = in_process().owner_of_new_org("Other");
    const value change{{"card_id", samples.card}, {"title", "No"}};
    EXPECT_EQ(in_process().ask(viewer, "update_card", change).status, 403);
    EXPECT_EQ(in_process().ask(stranger, "update_card", change).status, 404);
}

}  // namespace svc::test
