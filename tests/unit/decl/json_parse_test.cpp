#include "reading.hpp"
#include "tests/support/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string round_trip(std::string_view text) {
    const json::value value = decl::parse_json(text);
    return text_of(&value);
}

TEST(ParseJson, GivesBackWhatWasWritten) {
    for (std::string_view text :
         {"null",
          "true",
          "[]",
          "{}",
          "\"\"",
          "0",
          "-1",
          "9223372036854775807",
          "-9223372036854775808",
          "18446744073709551615",
          "0.1",
          "-2.5",
          "1e+300",
          "5e-324",
          "1.7976931348623157e+308",
          "0.30000000000000004",
          "123456.789",
          R"({"b":[1,2,{"a":null}],"a":"x"})",
          R"("a\"b\\c\n\t\b\f\r\u0001")",
          R"(["é","€","😀"])"})
        EXPECT_EQ(round_trip(text), text);
}

TEST(ParseJson, ReadsEscapesAndWhiteSpace) {
    EXPECT_EQ(round_trip(" \t\r\n[ 1 ,\n2 ] \n"), "[1,2]");
    EXPECT_EQ(round_trip(R"("\u00e9\ud83d\ude00\/")"), "\"é😀/\"");
    EXPECT_EQ(round_trip("1E2"), "100");
    EXPECT_EQ(round_trip("1e-400"), "0");
}

TEST(ParseJson, EveryDoubleComesBackAsItWas) {
    std::uint64_t bits = 0x9E3779B97F4A7C15;
    for (int i = 0; i < 20'000; ++i) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double number;
        std::memcpy(&number, &bits, sizeof(number));
        if (!std::isfinite(number)) continue;
        std::string text;
        decl::write_number(number, text);
        const json::value read = decl::parse_json(text);
        ASSERT_EQ(read.to_number<double>(), number) << text;
    }
}

struct Hostile {
    std::string_view text;
    std::size_t offset;
    std::string_view error;  // a part of it; any when empty
};

TEST(ParseJson, RefusesHostileTextAndNamesThePlace) {
    using namespace std::string_view_literals;
    for (const auto& [text, offset, error] : {
             Hostile{"", 0, "incomplete"},
             Hostile{" ", 1, "incomplete"},
             Hostile{"{", 1, "incomplete"},
             Hostile{"[1,", 3, "incomplete"},
             Hostile{"\"a", 2, "incomplete"},
             Hostile{"[1,2,]", 5, "syntax"},
             Hostile{"{\"a\":1,}", 7, "syntax"},
             Hostile{"{a:1}", 1, "syntax"},
             Hostile{"{'a':1}", 1, "syntax"},
             Hostile{"[1] x", 4, "follows"},
             Hostile{"{}{}", 2, "follows"},
             Hostile{"nul", 3, ""},
             Hostile{"True", 0, "syntax"},
             Hostile{"NaN", 0, "syntax"},
             Hostile{"Infinity", 0, "syntax"},
             Hostile{"-Infinity", 1, "syntax"},
             Hostile{"01", 1, "follows"},
             Hostile{"+1", 0, "syntax"},
             Hostile{".5", 0, "syntax"},
             Hostile{"1.", 2, ""},
             Hostile{"0x10", 1, "follows"},
             Hostile{"[1 2]", 3, "syntax"},
             Hostile{"// c\n1", 0, "syntax"},
             Hostile{"/* c */1", 0, "syntax"},
             Hostile{"\xEF\xBB\xBF{}", 0, "byte order mark"},
             Hostile{"\xFF\xFE{\0}\0"sv, 0, ""},
             Hostile{R"({"a":1,"a":1})", 9, "duplicate member \"a\""},
             Hostile{R"({"a":1,"\u0061":2})", 14, "duplicate member \"a\""},
             Hostile{R"([{"x":{"k":1,"k":2}}])", 15, "duplicate member \"k\""},
             Hostile{R"("a\u0000b")", 9, "NUL"},
             Hostile{R"({"a\u0000":1})", 9, "NUL"},
             Hostile{"\"a\0b\""sv, 2, ""},
             Hostile{"\"a\nb\"", 2, ""},
             Hostile{R"("\ud800")", 7, ""},
             Hostile{R"("\ud800x")", 7, ""},
             Hostile{R"("\udc00")", 7, "surrogate"},
             Hostile{R"("\ud800\ud800")", 9, "surrogate"},
             Hostile{R"("\x41")", 2, ""},
             Hostile{R"("\u12g4")", 5, "hex"},
             Hostile{"\"\xFF\"", 1, ""},
             Hostile{"\"\xC0\xAF\"", 1, ""},
             Hostile{"\"\xED\xA0\x80\"", 1, ""},
             Hostile{"\"\xF4\x90\x80\x80\"", 1, ""},
             Hostile{"\"\xE2\x82\"", 1, ""},
             Hostile{"1e400", 5, "out of range"},
             Hostile{"[-1e400]", 7, "out of range"},
             Hostile{"1e99999999999", 0, ""},
         }) {
        const auto problems = problems_in(refusal_of([&] { decl::parse_json(text); }));
        ASSERT_EQ(problems.size(), 1u) << text;
        EXPECT_EQ(problems[0].type, "json_invalid") << text;
        EXPECT_EQ(problems[0].input, "{}") << text;
        EXPECT_THAT(problems[0].ctx, HasSubstr("\"error\":")) << text;
        if (!error.empty()) {
            EXPECT_THAT(decl::parse_strictly(text).problem->error, HasSubstr(error)) << text;
            EXPECT_EQ(problems[0].loc, "[\"body\"," + std::to_string(offset) + "]") << text;
        }
    }
}

TEST(ParseJson, CountsThePlaceInCharacters) {
    EXPECT_THAT(
        places_of([] { decl::parse_json("[\"é😀\",x]", "arguments"); }),
        ElementsAre(R"(json_invalid at ["arguments",6])")
    );
}

TEST(ParseJson, TakesSixtyFourLevelsAndNoMore) {
    const auto nested = [](std::size_t levels) {
        return std::string(levels, '[') + std::string(levels, ']');
    };
    EXPECT_NO_THROW(decl::parse_json(nested(64)));
    EXPECT_THROW(decl::parse_json(nested(65)), Failure);
    EXPECT_THROW(decl::parse_json(std::string(1'000'000, '[')), Failure);
    EXPECT_THROW(decl::parse_json("{\"a\":" + nested(64) + "}"), Failure);
}

TEST(ParseJson, TakesTwentyThousandValuesAndNoMore) {
    const auto list = [](std::size_t values) {
        std::string text = "[0";
        for (std::size_t i = 2; i < values; ++i) text += ",0";
        return text + ']';
    };
    EXPECT_NO_THROW(decl::parse_json(list(20'000)));
    try {
        decl::parse_json(list(20'001));
        FAIL() << "was taken";
    } catch (const Failure& refused) {
        const std::string body = refused.body("");
        EXPECT_NE(body.find("This JSON is too large: more than 20000 values"), body.npos) << body;
    }
    std::string members = "{";
    for (int i = 0; i < 10'000; ++i) members += "\"k" + std::to_string(i) + "\":0,";
    members.back() = '}';
    EXPECT_THROW(decl::parse_json(members), Failure);  // names count, too
}

TEST(ParseJson, FindsADuplicateAmongThousandsOfMembers) {
    std::string text = "{";
    for (int i = 0; i < 9'000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
    EXPECT_NO_THROW(decl::parse_json(text + "\"k9000\":0}"));
    EXPECT_THROW(decl::parse_json(text + "\"k7\":0}"), Failure);
    EXPECT_THROW(decl::parse_json(text + "\"k8999\":0}"), Failure);
}

TEST(ParseJson, LongNamesWithEscapesAreComparedWhole) {
    const std::string name(10'000, 'n');
    EXPECT_NO_THROW(decl::parse_json("{\"" + name + "\\n1\":0,\"" + name + "\\n2\":0}"));
    EXPECT_THROW(decl::parse_json("{\"" + name + "\\n1\":0,\"" + name + "\\n1\":0}"), Failure);
}

TEST(ParseJson, AMegabyteOfNonsenseIsAnsweredFast) {
    std::string objects = "[";
    while (objects.size() < 1 << 20) objects += "{},";
    std::string strings = "[";
    while (strings.size() < 1 << 20) strings += "\"\",";
    const std::string long_number(1 << 20, '9');
    const std::string escapes = '"' + std::string((1 << 20) + 1, '\\') + '"';
    const auto spent = processor_time([&] {
        for (const std::string& text : {objects, strings, escapes, std::string(1 << 20, '{')})
            EXPECT_THROW(decl::parse_json(text), Failure);
        EXPECT_THROW(decl::parse_json(long_number), Failure);
    });
    EXPECT_LT(spent, std::chrono::seconds(5));
}

}  // namespace
}  // namespace svc::test
