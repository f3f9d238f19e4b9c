#include "reading.hpp"
#include "samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The JSON of an Everything with nothing wrong in it, but one member replaced, or taken out
// when `json` is empty.
std::string everything(std::string_view member = {}, std::string_view json = {}) {
    const std::pair<std::string_view, std::string_view> good[] = {
        {"flag", "true"},
        {"number", "3"},
        {"amount", "1.5"},
        {"text", "\"abc\""},
        {"id", "\"01890a5dac96774bbcceb302099a8057\""},
        {"time", "\"2026-06-19T10:11:12+02:00\""},
        {"email", "\" ada@example.com\""},
        {"url", "\"https://example.com\""},
        {"date", "\"2026-06-19\""},
        {"mood", "\"new\""},
        {"words", "[\"a\",\"b\"]"},
        {"leaves", R"([{"word":"x"},{"word":"y","count":2}])"},
        {"counts", R"({"a":1,"b":2})"},
        {"leaf", R"({"word":"z","count":null})"},
        {"any", R"({"x":[1,null]})"},
        {"perhaps", "null"},
    };
    std::string text = "{";
    for (const auto& [name, value] : good) {
        const std::string_view chosen = name == member ? json : value;
        if (chosen.empty()) continue;
        if (text.size() > 1) text += ',';
        text.append("\"").append(name).append("\":").append(chosen);
    }
    return text + '}';
}

TEST(Reader, FillsARecordOfEveryKindOfField) {
    const auto [value, problems] = read<Everything>(everything());
    ASSERT_THAT(places_in(problems), IsEmpty());
    EXPECT_TRUE(value.flag);
    EXPECT_EQ(value.number, 3);
    EXPECT_EQ(value.amount, 1.5);
    EXPECT_EQ(value.text, "abc");
    EXPECT_EQ(value.id.str(), "01890a5d-ac96-774b-bcce-b302099a8057");
    EXPECT_EQ(value.time.str(), "2026-06-19T08:11:12.000Z");
    EXPECT_EQ(value.email.str(), "ada@example.com");
    EXPECT_EQ(value.url.str(), "https://example.com");
    EXPECT_EQ(value.date.str(), "2026-06-19");
    EXPECT_EQ(value.mood, Mood::new_);
    EXPECT_THAT(value.words, ElementsAre("a", "b"));
    EXPECT_THAT(value.leaves, ElementsAre(Leaf{"x", std::nullopt}, Leaf{"y", 2}));
    EXPECT_THAT(value.counts, ElementsAre(std::pair("a", 1), std::pair("b", 2)));
    EXPECT_EQ(value.leaf, (Leaf{"z", std::nullopt}));
    EXPECT_EQ(value.any.text, R"({"x":[1,null]})");
    EXPECT_EQ(value.perhaps, std::nullopt);
}

TEST(Reader, WhatIsWrittenReadsBackTheSame) {
    const auto first = read<Everything>(everything("perhaps", "\"é€\""));
    const auto second = read<Everything>(to_json(first.value));
    EXPECT_THAT(second.places(), IsEmpty());
    EXPECT_EQ(first.value, second.value);
}

struct Wrong {
    std::string_view member, json, type, loc, ctx;
};

constexpr Wrong wrong_members[] = {
    {"flag", "", "missing", R"(["body","flag"])", ""},
    {"flag", "null", "bool_type", R"(["body","flag"])", ""},
    {"flag", "1", "bool_type", R"(["body","flag"])", ""},
    {"flag", "\"true\"", "bool_type", R"(["body","flag"])", ""},
    {"number", "\"3\"", "int_type", R"(["body","number"])", ""},
    {"number", "true", "int_type", R"(["body","number"])", ""},
    {"number", "null", "int_type", R"(["body","number"])", ""},
    {"number", "[]", "int_type", R"(["body","number"])", ""},
    {"number", "3.5", "int_from_float", R"(["body","number"])", ""},
    {"number", "-6", "greater_than_equal", R"(["body","number"])", R"({"ge":-5})"},
    {"number", "6", "less_than_equal", R"(["body","number"])", R"({"le":5})"},
    {"number", "6.0", "less_than_equal", R"(["body","number"])", R"({"le":5})"},
    {"number", "9223372036854775808", "less_than_equal", R"(["body","number"])", R"({"le":5})"},
    {"number",
     "-9223372036854775809",
     "greater_than_equal",
     R"(["body","number"])",
     R"({"ge":-5})"},
    {"number", "1e300", "less_than_equal", R"(["body","number"])", R"({"le":5})"},
    {"amount", "\"1\"", "float_type", R"(["body","amount"])", ""},
    {"amount", "-0.5", "greater_than_equal", R"(["body","amount"])", R"({"ge":0})"},
    {"amount", "100.5", "less_than_equal", R"(["body","amount"])", R"({"le":100})"},
    {"text", "5", "string_type", R"(["body","text"])", ""},
    {"text", "null", "string_type", R"(["body","text"])", ""},
    {"text", "\"a\"", "string_too_short", R"(["body","text"])", R"({"min_length":2})"},
    {"text", "\"é\"", "string_too_short", R"(["body","text"])", R"({"min_length":2})"},
    {"text", "\"abcde\"", "string_too_long", R"(["body","text"])", R"({"max_length":4})"},
    {"id", "5", "uuid_type", R"(["body","id"])", ""},
    {"id", "\"x\"", "uuid_parsing", R"(["body","id"])", "error"},
    {"time", "5", "datetime_type", R"(["body","time"])", ""},
    {"time", "\"x\"", "datetime_parsing", R"(["body","time"])", "error"},
    {"time", "\"2026-06-19T10:11:12\"", "timezone_aware", R"(["body","time"])", ""},
    {"email", "5", "string_type", R"(["body","email"])", ""},
    {"email", "\"x\"", "value_error", R"(["body","email"])", "reason"},
    {"url", "\"x\"", "url_parsing", R"(["body","url"])", "error"},
    {"date", "\"2026-02-30\"", "date_parsing", R"(["body","date"])", "error"},
    {"mood", "\"sad\"", "enum", R"(["body","mood"])", R"({"expected":"'calm', 'eager' or 'new'"})"},
    {"mood", "\"new_\"", "enum", R"(["body","mood"])", "expected"},
    {"mood", "5", "enum", R"(["body","mood"])", "expected"},
    {"words", "\"a\"", "list_type", R"(["body","words"])", ""},
    {"words", "{}", "list_type", R"(["body","words"])", ""},
    {"words",
     "[]",
     "too_short",
     R"(["body","words"])",
     R"({"field_type":"List","min_length":1,"actual_length":0})"},
    {"words",
     R"(["a","b","c","d"])",
     "too_long",
     R"(["body","words"])",
     R"({"field_type":"List","max_length":3,"actual_length":4})"},
    {"words", R"(["a",5])", "string_type", R"(["body","words",1])", ""},
    {"words", R"(["abcde"])", "string_too_long", R"(["body","words",0])", R"({"max_length":4})"},
    {"leaves",
     R"([{"word":"x"},{"word":""}])",
     "string_too_short",
     R"(["body","leaves",1,"word"])",
     R"({"min_length":1})"},
    {"leaves",
     R"([{"word":"x","wrod":1}])",
     "extra_forbidden",
     R"(["body","leaves",0,"wrod"])",
     ""},
    {"leaves", R"([5])", "model_attributes_type", R"(["body","leaves",0])", ""},
    {"counts", "[]", "dict_type", R"(["body","counts"])", ""},
    {"counts", R"({"a":"x"})", "int_type", R"(["body","counts","a"])", ""},
    {"counts",
     R"({"a":1,"b":2,"c":3})",
     "too_long",
     R"(["body","counts"])",
     R"({"field_type":"Dictionary","max_length":2,"actual_length":3})"},
    {"leaf", "null", "model_attributes_type", R"(["body","leaf"])", ""},
    {"leaf", "{}", "missing", R"(["body","leaf","word"])", ""},
    {"leaf",
     R"({"word":"x","count":10})",
     "less_than_equal",
     R"(["body","leaf","count"])",
     R"({"le":9})"},
    {"perhaps", "\"abcd\"", "string_too_long", R"(["body","perhaps"])", R"({"max_length":3})"},
    {"perhaps", "5", "string_type", R"(["body","perhaps"])", ""},
};

TEST(Reader, NamesEveryKindOfProblemItsPlaceAndItsDetails) {
    for (const Wrong& wrong : wrong_members) {
        const auto outcome = read<Everything>(everything(wrong.member, wrong.json));
        ASSERT_EQ(outcome.problems.size(), 1u) << wrong.member << ' ' << wrong.json;
        const Problem& problem = outcome.problems[0];
        EXPECT_EQ(problem.type, wrong.type) << wrong.member << ' ' << wrong.json;
        EXPECT_EQ(problem.loc, wrong.loc) << wrong.json;
        if (wrong.ctx.starts_with('{') || wrong.ctx.empty())
            EXPECT_EQ(problem.ctx, wrong.ctx) << wrong.json;
        else EXPECT_THAT(problem.ctx, HasSubstr("\"" + std::string(wrong.ctx) + "\":"));
    }
}

// For who writes JSON, whatever the server is written in.
TEST(Reader, SaysWhatIsWrongInWordsOfJson) {
    const auto said = [](std::string_view member, std::string_view json) {
        return read<Everything>(everything(member, json)).problems.at(0).message;
    };
    EXPECT_EQ(said("number", "\"3\""), "Should be an integer");
    EXPECT_EQ(said("number", "6"), "Should be at most 5");
    EXPECT_EQ(said("flag", "1"), "Should be true or false");
    EXPECT_EQ(said("text", "\"a\""), "Should have at least 2 characters");
    EXPECT_EQ(said("words", "{}"), "Should be an array");
    EXPECT_EQ(said("counts", "[]"), "Should be an object");
    EXPECT_EQ(said("leaf", "[]"), "Should be an object with the documented fields");
    EXPECT_EQ(said("mood", "5"), "Should be 'calm', 'eager' or 'new'");
    EXPECT_EQ(said("leaves", R"([{"word":"x","wrod":1}])"), "There is no such field");
    EXPECT_EQ(said("flag", ""), "This field is required");
    const auto detail = refusal_of([] {
        throw Failure::invalid_at(R"(["body"])", "value_error", "this is in the past");
    });
    EXPECT_THAT(detail, HasSubstr("\"This is in the past\""));
}

TEST(Reader, ReportsAllWrongFieldsAtOnce) {
    const auto outcome = read<Everything>(R"({"flag":1,"number":9,"leaf":{"count":-1},"zz":0})");
    EXPECT_THAT(
        outcome.places(),
        ElementsAre(
            R"(bool_type at ["body","flag"])",
            R"(less_than_equal at ["body","number"])",
            R"(missing at ["body","amount"])",
            R"(missing at ["body","text"])",
            R"(missing at ["body","id"])",
            R"(missing at ["body","time"])",
            R"(missing at ["body","email"])",
            R"(missing at ["body","url"])",
            R"(missing at ["body","date"])",
            R"(missing at ["body","mood"])",
            R"(missing at ["body","words"])",
            R"(missing at ["body","leaves"])",
            R"(missing at ["body","counts"])",
            R"(missing at ["body","leaf","word"])",
            R"(greater_than_equal at ["body","leaf","count"])",
            R"(missing at ["body","any"])",
            R"(extra_forbidden at ["body","zz"])"
        )
    );
}

TEST(Reader, TakesWholeNumbersThatAreWrittenAsFloats) {
    EXPECT_EQ(read<Everything>(everything("number", "5.0")).value.number, 5);
    EXPECT_EQ(read<Everything>(everything("number", "5e0")).value.number, 5);
    EXPECT_EQ(read<Everything>(everything("number", "-0.0")).value.number, 0);
    EXPECT_EQ(read<Everything>(everything("amount", "7")).value.amount, 7.0);
}

TEST(Reader, RefusesAnythingButAnObjectForARecord) {
    for (std::string_view text : {"[]", "null", "5", "\"x\"", "true"})
        EXPECT_THAT(
            read<Everything>(text).places(), ElementsAre(R"(model_attributes_type at ["body"])")
        ) << text;
}

TEST(Reader, EchoesWhatWasSentButCutsItShort) {
    const auto read_only = [](std::string_view json) {
        return read<Everything>(everything("number", json)).problems.at(0).input;
    };
    EXPECT_EQ(read_only("\"x\""), "\"x\"");
    EXPECT_EQ(read_only("[1,{\"a\":null}]"), "[1,{\"a\":null}]");
    EXPECT_EQ(read_only("3.5"), "3.5");
    EXPECT_EQ(read<Everything>(everything("number")).problems.at(0).input, "") << "nothing came";
    const std::string letters = read_only('"' + std::string(100'000, 'x') + '"');
    EXPECT_EQ(letters, '"' + std::string(200, 'x') + "…\"");
    std::string euros = "\"";
    for (int i = 0; i < 100; ++i) euros += "€";
    EXPECT_LE(read_only(euros + '"').size(), 210u);
    std::string list = "[0";
    for (int i = 0; i < 1000; ++i) list += ",0";
    EXPECT_LE(read_only(list + ']').size(), 210u);
}

TEST(Reader, ListsTwoHundredProblemsAtMost) {
    std::string text = R"({"x0":0)";
    for (int i = 1; i < 5'000; ++i) text += ",\"x" + std::to_string(i) + "\":0";
    EXPECT_EQ(read<Leaf>(text + '}').problems.size(), 200u);
}

TEST(Reader, TheDiscriminatorIsTakenAndIgnored) {
    const std::string with_object = R"({"object":[1],)" + everything().substr(1);
    EXPECT_THAT(read<Everything>(with_object).problems, IsEmpty());
}

}  // namespace
}  // namespace svc::test
