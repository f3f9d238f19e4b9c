#include "decl/reader.hpp"

#include "reading.hpp"
#include "tests/support/timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Ruled {
    std::string title;
    std::string slug;
    std::int64_t size = 25;
    std::int64_t echoed = 0;
    std::string password;
    std::string padded;
    std::int64_t wide = 0;
};
SVC_RECORD(
    Ruled,
    (title, "", trimmed, length(1, 5), defaulted),
    (slug, "", matches("^[a-z0-9](-?[a-z0-9])+$"), length(0, 100'000), defaulted),
    (size, "", range(1, 100), defaulted),
    (echoed, "", read_only),
    (password, "", secret, length(8, 16), defaulted),
    (padded, "", length(0, 3), defaulted),
    (wide, "", defaulted)
);

struct Safe {
    std::string key;
};
SVC_RECORD(Safe, (key, "", secret));
struct Vault {
    std::vector<Safe> safes;
};
SVC_RECORD(Vault, (safes, "", defaulted, length(0, 2)));
struct Bank {
    std::optional<std::vector<Vault>> vaults;
};
SVC_RECORD(Bank, (vaults));

TEST(Rules, ASecretInAPartOfAListIsNotSaidBackUnderAWrongName) {
    for (std::string_view wrong :
         {R"({"vault":[{"safes":[{"key":"hush"}]}]})",
          R"({"vaults":[{"safe":[{"key":"hush"}]}]})",
          R"({"vaults":[["hush"]]})",
          R"({"vaults":[{"safes":[{"key":"hush"},{"key":"hush"},{"key":"hush"}]}]})"}) {
        const auto outcome = read<Bank>(std::string(wrong));
        ASSERT_EQ(outcome.problems.size(), 1u) << wrong;
        EXPECT_EQ(outcome.problems[0].input, "") << wrong;
    }
}

TEST(Rules, TrimmedTextIsCountedWithoutTheSpaceAroundIt) {
    EXPECT_EQ(read<Ruled>(R"({"title":"  ab c \n"})").value.title, "ab c");
    EXPECT_EQ(read<Ruled>("{\"title\":\"\u00A0\u2003x\u3000\"}").value.title, "x");
    EXPECT_THAT(
        read<Ruled>("{\"title\":\" \\t\u00A0\"}").places(),
        ElementsAre(R"(string_too_short at ["body","title"])")
    );
    EXPECT_EQ(read<Ruled>(R"({"padded":" a "})").value.padded, " a ");
}

TEST(Rules, LengthsCountCodePoints) {
    EXPECT_EQ(read<Ruled>(R"({"title":"éé€😀x"})").value.title, "éé€😀x");
    EXPECT_EQ(read<Ruled>(R"({"title":"éé€😀xy"})").problems.size(), 1u);
}

TEST(Rules, APatternMatchesTheWholeText) {
    for (std::string_view good : {"ab", "a-b", "a1-2b"})
        EXPECT_THAT(read<Ruled>("{\"slug\":\"" + std::string(good) + "\"}").problems, IsEmpty());
    for (std::string_view bad : {"", "a", "-ab", "ab-", "a--b", "A-b", "ab\\n", "ab\\u00e9"}) {
        const auto outcome = read<Ruled>("{\"slug\":\"" + std::string(bad) + "\"}");
        ASSERT_EQ(outcome.problems.size(), 1u) << bad;
        EXPECT_EQ(outcome.problems[0].type, "string_pattern_mismatch");
        EXPECT_EQ(outcome.problems[0].ctx, R"({"pattern":"^[a-z0-9](-?[a-z0-9])+$"})");
    }
}

TEST(Rules, APatternTakesTimeInProportionToTheText) {
    const std::string text(100'000, 'a');
    const auto spent = processor_time([&] {
        EXPECT_EQ(read<Ruled>("{\"slug\":\"" + text.substr(1) + "!\"}").problems.size(), 1u);
        EXPECT_THAT(read<Ruled>("{\"slug\":\"" + text + "\"}").problems, IsEmpty());
        EXPECT_FALSE(decl::matches_whole("(a*)*b", text));
    });
    EXPECT_LT(spent, std::chrono::seconds(2));
}

TEST(Rules, AWrongPatternIsAMistakeOfOurs) {
    EXPECT_THROW(decl::matches_whole("(", "x"), std::logic_error);
}

TEST(Rules, DefaultsStandWhenAFieldIsLeftOutButNotForNull) {
    EXPECT_EQ(read<Ruled>("{}").value.size, 25);
    EXPECT_EQ(read<Ruled>(R"({"size":7})").value.size, 7);
    EXPECT_THAT(
        read<Ruled>(R"({"size":null})").places(), ElementsAre(R"(int_type at ["body","size"])")
    );
}

TEST(Rules, EchoedFieldsAreTakenAndIgnored) {
    const auto outcome = read<Ruled>(R"({"echoed":"anything at all"})");
    EXPECT_THAT(outcome.problems, IsEmpty());
    EXPECT_EQ(outcome.value.echoed, 0);
}

TEST(Rules, SecretsAreNeverEchoed) {
    const auto outcome = read<Ruled>(R"({"password":"hunter2","passwrod":"hunter3"})");
    EXPECT_THAT(
        outcome.places(),
        ElementsAre(
            R"(string_too_short at ["body","password"])",
            R"(extra_forbidden at ["body","passwrod"])"
        )
    );
    for (const Problem& problem : outcome.problems) EXPECT_EQ(problem.input, "");
    EXPECT_EQ(read<Ruled>(R"(["hunter2"])").problems.at(0).input, "");
}

TEST(Rules, NulInTextIsRefused) {
    json::value in = json::object();
    in.get_object()["padded"] = std::string("a\0b", 3);
    const auto outcome = read_value<Ruled>(in);
    EXPECT_THAT(outcome.places(), ElementsAre(R"(value_error at ["body","padded"])"));
}

TEST(Rules, IntegersBeyondSixtyFourBitsNameTheirPlace) {
    for (std::string_view text : {"9223372036854775808", "-9223372036854775809", "1e19", "-1e300"})
        EXPECT_THAT(
            read<Ruled>("{\"wide\":" + std::string(text) + "}").places(),
            ElementsAre(R"(int_parsing_size at ["body","wide"])")
        ) << text;
    for (std::string_view text : {"9223372036854775807", "-9223372036854775808"})
        EXPECT_EQ(
            std::to_string(read<Ruled>("{\"wide\":" + std::string(text) + "}").value.wide), text
        );
}

// ---------------------------------------------------------------------- loose

struct Loose {
    std::optional<bool> flag;
    std::optional<std::int64_t> number;
    std::optional<double> amount;
    std::vector<std::int64_t> list;
};
SVC_RECORD(Loose, (flag), (number, "", range(-100, 100)), (amount), (list, "", defaulted));

Outcome<Loose> read_loosely(std::string_view member, std::string_view text) {
    json::value in = json::object();
    in.get_object()[member] = text;
    return read_value<Loose>(in, true);
}

TEST(Loose, ReadsFlagsAsPeopleWriteThem) {
    for (std::string_view text : {"true", "1", "yes", "on", "TRUE", "Yes", "oN"})
        EXPECT_EQ(read_loosely("flag", text).value.flag, true) << text;
    for (std::string_view text : {"false", "0", "no", "off", "False", "NO", "oFF"})
        EXPECT_EQ(read_loosely("flag", text).value.flag, false) << text;
    for (std::string_view text : {"", "2", "y", "t", "truee", " true", "yes no"})
        EXPECT_THAT(
            read_loosely("flag", text).places(), ElementsAre(R"(bool_parsing at ["body","flag"])")
        ) << text;
}

TEST(Loose, ReadsNumbersFromTextAndNothingElse) {
    EXPECT_EQ(read_loosely("number", "25").value.number, 25);
    EXPECT_EQ(read_loosely("number", "-7").value.number, -7);
    EXPECT_EQ(read_loosely("number", "007").value.number, 7);
    for (std::string_view text : {"", "-", "+5", "5.0", "5 ", " 5", "0x5", "1e1", "five"})
        EXPECT_THAT(
            read_loosely("number", text).places(),
            ElementsAre(R"(int_parsing at ["body","number"])")
        ) << text;
    EXPECT_THAT(
        read_loosely("number", "99999999999999999999").places(),
        ElementsAre(R"(less_than_equal at ["body","number"])")
    );
    EXPECT_THAT(
        read_loosely("number", "-99999999999999999999").places(),
        ElementsAre(R"(greater_than_equal at ["body","number"])")
    );
    EXPECT_EQ(read_loosely("amount", "-2.5e1").value.amount, -25.0);
    for (std::string_view text : {"", "x", "1,5", "1.5 ", "+1"})
        EXPECT_THAT(
            read_loosely("amount", text).places(),
            ElementsAre(R"(float_parsing at ["body","amount"])")
        ) << text;
    for (std::string_view text : {"nan", "inf", "-inf", "1e400"})
        EXPECT_THAT(
            read_loosely("amount", text).places(),
            ElementsAre(R"(finite_number at ["body","amount"])")
        ) << text;
}

TEST(Loose, ASingleTextIsNoList) {
    EXPECT_THAT(read_loosely("list", "5").places(), ElementsAre(R"(list_type at ["body","list"])"));
}

// -------------------------------------------------------------------- trusted

TEST(Trusted, OurOwnRowsAreTakenAsTheyWereStored) {
    const json::value in =
        decl::parse_json(R"({"title":"much too long","slug":"!","echoed":7,"later":1})");
    const auto outcome = read_value<Ruled>(in, false, true);
    EXPECT_THAT(outcome.problems, IsEmpty());
    EXPECT_EQ(outcome.value.title, "much too long");
    EXPECT_EQ(outcome.value.echoed, 7);
}

// --------------------------------------------------------------------- spread

struct Inner {
    std::int64_t a = 1;
    std::string b;
};
SVC_RECORD(Inner, (a, "", range(0, 9), defaulted), (b));
struct Outer {
    std::string first;
    Inner inner;
    std::string last;
};
SVC_RECORD(Outer, (first), (inner, "", flatten), (last));

TEST(Spread, FieldsStandBesideTheirSiblings) {
    const auto outcome = read<Outer>(R"({"first":"f","a":2,"b":"x","last":"l"})");
    EXPECT_THAT(outcome.problems, IsEmpty());
    EXPECT_EQ(outcome.value.inner.a, 2);
    EXPECT_EQ(outcome.value.inner.b, "x");
    EXPECT_EQ(to_json(outcome.value), R"({"first":"f","a":2,"b":"x","last":"l"})");
    EXPECT_THAT(
        read<Outer>(R"({"first":"f","a":10,"last":"l","inner":{}})").places(),
        ElementsAre(
            R"(less_than_equal at ["body","a"])",
            R"(missing at ["body","b"])",
            R"(extra_forbidden at ["body","inner"])"
        )
    );
}

TEST(Spread, FieldsAreFoundByName) {
    EXPECT_EQ(record_of<Outer>().find("a")->name, "a");
    EXPECT_EQ(record_of<Outer>().find("last")->name, "last");
    EXPECT_EQ(record_of<Outer>().find("inner"), nullptr);
    EXPECT_EQ(record_of<Outer>().find(""), nullptr);
}

}  // namespace
}  // namespace svc::test
