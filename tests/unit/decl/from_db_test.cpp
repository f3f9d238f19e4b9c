#include "reading.hpp"
#include "samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
T from_db(std::string_view text) {
    T value{};
    Json<T>::from_db({text.data(), text.size(), false}, value);
    return value;
}

template <class T>
T from_null() {
    T value{};
    Json<T>::from_db({}, value);
    return value;
}

// What the logic_error says.
template <class T>
std::string misfit(std::string_view text) {
    try {
        from_db<T>(text);
    } catch (const std::logic_error& error) {
        return error.what();
    }
    return "";
}

TEST(FromDb, ReadsWhatPostgresqlWrites) {
    EXPECT_TRUE(from_db<bool>("t"));
    EXPECT_FALSE(from_db<bool>("f"));
    EXPECT_EQ(
        from_db<std::int64_t>("-9223372036854775808"), std::numeric_limits<std::int64_t>::min()
    );
    EXPECT_EQ(from_db<double>("1.5e-07"), 1.5e-7);
    EXPECT_EQ(from_db<double>("42"), 42.0);
    EXPECT_TRUE(std::isinf(from_db<double>("-Infinity")));
    EXPECT_TRUE(std::isnan(from_db<double>("NaN")));
    EXPECT_EQ(from_db<std::string>("é\n\"x"), "é\n\"x");
    EXPECT_EQ(from_db<std::string>(""), "");
    EXPECT_EQ(
        from_db<Uuid>("01890a5d-ac96-774b-bcce-b302099a8057").str(),
        "01890a5d-ac96-774b-bcce-b302099a8057"
    );
    EXPECT_EQ(from_db<Mood>("new"), Mood::new_);
    EXPECT_EQ(from_db<JsonText>(R"({"a": 1})").text, R"({"a": 1})");
    EXPECT_EQ(from_db<Email>("ada@example.com").str(), "ada@example.com");
    EXPECT_EQ(from_db<Date>("2026-06-19").str(), "2026-06-19");
    EXPECT_EQ(from_db<std::optional<std::int64_t>>("7"), 7);
    EXPECT_EQ(from_db<Patch<std::int64_t>>("7").value(), 7);
}

TEST(FromDb, ReadsListsMapsAndRecordsFromJson) {
    EXPECT_THAT(from_db<std::vector<std::string>>(R"(["a", "b"])"), ElementsAre("a", "b"));
    EXPECT_THAT(
        from_db<std::vector<Leaf>>(R"([{"word": "x", "count": null}, {"word": "y", "count": 3}])"),
        ElementsAre(Leaf{"x", std::nullopt}, Leaf{"y", 3})
    );
    EXPECT_EQ(
        (from_db<std::map<std::string, std::int64_t>>(R"({"a": 1})")),
        (std::map<std::string, std::int64_t>{{"a", 1}})
    );
    EXPECT_EQ(from_db<Leaf>(R"({"word": "x"})"), (Leaf{"x", std::nullopt}));
    EXPECT_EQ(
        from_db<PrincipalRef>(
            R"({"id": "01890a5d-ac96-774b-bcce-b302099a8057", "principal_type": "agent", "name": null})"
        )
            .principal_type,
        PrincipalType::agent
    );
}

TEST(FromDb, TakesAStoredRecordThatNewerRulesWouldRefuse) {
    EXPECT_EQ(
        from_db<Leaf>(R"({"word": "longer than it may be", "count": 99, "newer": []})"),
        (Leaf{"longer than it may be", 99})
    );
}

TEST(FromDb, NullIsForWhatMayBeNull) {
    EXPECT_EQ(from_null<std::optional<Uuid>>(), std::nullopt);
    EXPECT_EQ(from_null<JsonText>().text, "null");
    EXPECT_THROW(from_null<bool>(), std::logic_error);
    EXPECT_THROW(from_null<std::int64_t>(), std::logic_error);
    EXPECT_THROW(from_null<double>(), std::logic_error);
    EXPECT_THROW(from_null<std::string>(), std::logic_error);
    EXPECT_THROW(from_null<Uuid>(), std::logic_error);
    EXPECT_THROW(from_null<Timestamp>(), std::logic_error);
    EXPECT_THROW(from_null<Mood>(), std::logic_error);
    EXPECT_THROW(from_null<std::vector<std::string>>(), std::logic_error);
    EXPECT_THROW(from_null<Leaf>(), std::logic_error);
}

TEST(FromDb, AMisfitSaysWhatDoesNotFit) {
    EXPECT_THAT(misfit<bool>("maybe"), HasSubstr("a boolean"));
    EXPECT_THAT(misfit<std::int64_t>("1.5"), HasSubstr("an integer"));
    EXPECT_THAT(misfit<std::int64_t>("9223372036854775808"), HasSubstr("an integer"));
    EXPECT_THAT(misfit<double>("x"), HasSubstr("a number"));
    EXPECT_THAT(misfit<Uuid>("x"), HasSubstr("a UUID"));
    EXPECT_THAT(misfit<Timestamp>("yesterday"), HasSubstr("an instant"));
    EXPECT_THAT(misfit<Mood>("sad"), HasSubstr("calm eager new"));
    EXPECT_THAT(misfit<std::vector<std::string>>("{a,b}"), HasSubstr("JSON"));
    EXPECT_THAT(misfit<std::vector<std::string>>("{}"), HasSubstr("list_type"));
    EXPECT_THAT(misfit<std::vector<std::string>>("[1]"), HasSubstr("string_type"));
    EXPECT_THAT(misfit<Leaf>("{}"), HasSubstr("missing"));
}

TEST(FromDb, WhatWasWrittenAsJsonComesBack) {
    const Leaf leaf{"é\"\n", 5};
    EXPECT_EQ(from_db<Leaf>(to_json(leaf)), leaf);
}

}  // namespace
}  // namespace svc::test
