// The matrix of PATCH: every field of a record left out, set, cleared and sent as something else.

#include "reading.hpp"
#include "samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct UpdateThing {
    Patch<std::string> name;
    Patch<std::optional<std::string>> note;
    Patch<bool> open;
    Patch<std::optional<std::int64_t>> limit;
    Patch<double> weight;
    Patch<std::optional<Uuid>> owner_id;
    Patch<std::optional<Timestamp>> due_at;
    Patch<Email> email;
    Patch<std::optional<Url>> url;
    Patch<Mood> mood;
    Patch<std::optional<Mood>> last_mood;
    Patch<std::vector<std::string>> words;
    Patch<std::optional<std::vector<std::string>>> more_words;
    Patch<Leaf> leaf;
    Patch<std::optional<Leaf>> last_leaf;
};
SVC_RECORD(
    UpdateThing,
    (name, "", length(1, 9)),
    (note, "", length(1, 9)),
    (open),
    (limit, "", range(1, 9)),
    (weight),
    (owner_id),
    (due_at),
    (email),
    (url),
    (mood),
    (last_mood),
    (words),
    (more_words),
    (leaf),
    (last_leaf)
);

struct Facts {
    std::string sample;   // JSON that the field takes
    std::string another;  // JSON of a type it does not take
    bool nullable = false;
};

// Read off the field's own schema, as a client would.
Facts facts_of(const Field& field) {
    SchemaWriter writer{.ref_prefix = "#/"};
    json::object schema;
    writer.field(record_of<UpdateThing>(), field, schema);
    Facts facts;
    const json::object* inner = &schema;
    if (const auto* any = schema.if_contains("anyOf")) {
        facts.nullable = true;
        inner = &any->get_array().front().get_object();
    }
    const auto text = [&](const char* key) {
        const auto* value = inner->if_contains(key);
        return value && value->is_string() ? std::string(value->get_string()) : std::string();
    };
    facts.another = "12";
    if (inner->contains("enum")) facts.sample = text_of(&inner->at("enum").get_array().back());
    else if (text("format") == "uuid") facts.sample = "\"01890a5d-ac96-774b-bcce-b302099a8057\"";
    else if (text("format") == "date-time") facts.sample = "\"2026-06-19T10:11:12.000Z\"";
    else if (text("format") == "email") facts.sample = "\"ada@example.com\"";
    else if (text("format") == "uri") facts.sample = "\"https://example.com\"";
    else if (text("type") == "string") facts.sample = "\"some\"";
    else if (text("type") == "boolean") facts.sample = "true";
    else if (text("type") == "array") facts.sample = R"(["a"])";
    else if (text("$ref") == "#/Leaf") facts.sample = R"({"word":"w","count":null})";
    else facts = {"7", "\"x\"", facts.nullable};
    return facts;
}

std::string written(const Field& field, const UpdateThing& from) {
    std::string json;
    field.codec->write(field.in_const(&from), json);
    return json;
}

bool given(const Field& field, const UpdateThing& in) {
    return !field.codec->empty(field.in_const(&in));
}

std::string body(const Field& field, const std::string& json) {
    return "{\"" + std::string(field.name) + "\":" + json + "}";
}

TEST(PatchMatrix, EightOfTheFieldsMayBeNull) {
    int nullable = 0;
    for (const Field& field : record_of<UpdateThing>().fields) nullable += facts_of(field).nullable;
    EXPECT_EQ(nullable, 8);
}

TEST(PatchMatrix, NothingIsGivenWhenNothingIsSent) {
    const auto outcome = read<UpdateThing>("{}");
    EXPECT_THAT(outcome.problems, IsEmpty());
    for (const Field& field : record_of<UpdateThing>().fields)
        EXPECT_FALSE(given(field, outcome.value)) << field.name;
}

TEST(PatchMatrix, EveryFieldCanBeSetAloneAndTheOthersStay) {
    for (const Field& field : record_of<UpdateThing>().fields) {
        const std::string sample = facts_of(field).sample;
        const auto outcome = read<UpdateThing>(body(field, sample));
        EXPECT_THAT(outcome.places(), IsEmpty());
        EXPECT_EQ(written(field, outcome.value), sample);
        for (const Field& other : record_of<UpdateThing>().fields)
            EXPECT_EQ(given(other, outcome.value), other.name == field.name) << other.name;
    }
}

TEST(PatchMatrix, NullClearsWhatMayBeNullAndIsRefusedElsewhere) {
    for (const Field& field : record_of<UpdateThing>().fields) {
        const auto outcome = read<UpdateThing>(body(field, "null"));
        if (facts_of(field).nullable) {
            EXPECT_THAT(outcome.places(), IsEmpty());
            EXPECT_TRUE(given(field, outcome.value)) << field.name;
            EXPECT_EQ(written(field, outcome.value), "null");
        } else {
            ASSERT_EQ(outcome.problems.size(), 1u) << field.name;
            EXPECT_EQ(outcome.problems[0].loc, "[\"body\",\"" + std::string(field.name) + "\"]");
        }
    }
}

TEST(PatchMatrix, AnotherTypeIsRefusedAtItsPlace) {
    for (const Field& field : record_of<UpdateThing>().fields) {
        const auto outcome = read<UpdateThing>(body(field, facts_of(field).another));
        ASSERT_EQ(outcome.problems.size(), 1u) << field.name;
        EXPECT_EQ(outcome.problems[0].loc, "[\"body\",\"" + std::string(field.name) + "\"]");
    }
}

TEST(Patch, AppliesOnlyWhatIsGiven) {
    std::string name = "old";
    Patch<std::string>().apply_to(name);
    EXPECT_EQ(name, "old");
    Patch<std::string>("new").apply_to(name);
    EXPECT_EQ(name, "new");
    std::optional<std::string> note = "old";
    Patch<std::optional<std::string>>(std::nullopt).apply_to(note);
    EXPECT_EQ(note, std::nullopt);
}

}  // namespace
}  // namespace svc::test
