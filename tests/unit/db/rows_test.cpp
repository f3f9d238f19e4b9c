#include "tests/unit/db/fixture.hpp"

namespace svc::db {
namespace {

enum class Mood { calm, wild, new_ };
BOOST_DESCRIBE_ENUM(Mood, calm, wild, new_)

struct Part {
    std::string name;
    std::int64_t count = 0;
    auto operator<=>(const Part&) const = default;
};
SVC_RECORD(Part, (name), (count));

struct Stamp {
    Timestamp made;
    std::optional<Timestamp> changed;
    auto operator<=>(const Stamp&) const = default;
};
SVC_RECORD(Stamp, (made), (changed, "", omit_empty));

struct Everything {
    Object<"everything"> object;
    Uuid id;
    std::string text;
    std::optional<std::string> maybe;
    std::int64_t whole = 0;
    double real = 0;
    bool flag = false;
    Mood mood = Mood::calm;
    Email email;
    Date day;
    JsonText json;
    std::vector<std::string> words;
    std::vector<Part> parts;
    std::optional<Part> part;
    std::map<std::string, std::int64_t> counts;
    Stamp stamp;
    auto operator<=>(const Everything&) const = default;
};
SVC_RECORD(
    Everything,
    (object),
    (id),
    (text),
    (maybe),
    (whole),
    (real),
    (flag),
    (mood),
    (email),
    (day),
    (json),
    (words),
    (parts),
    (part),
    (counts),
    (stamp, "", flatten)
);

constexpr Sql everything{"test.everything", R"(
    SELECT $1::uuid AS id, $2::text AS text, $3::text AS maybe, $4::bigint AS whole,
           $5::float8 AS real, $6::boolean AS flag, $7::text AS mood, $8::text AS email,
           $9::date AS day, $10::jsonb AS json, to_jsonb($11::text[]) AS words,
           $12::jsonb AS parts, $13::jsonb AS part, $14::json AS counts,
           $15::timestamptz AS made, $16::timestamptz AS changed, 'ignored' AS unknown)"};

class RowsTest : public SharedDatabaseTest {
protected:
    Everything through_the_database(const Everything& in) {
        Everything out;
        database->transact(Tx::Mode::read, [&](Tx& tx) {
            out = tx.one<Everything>(
                        everything,
                        in.id,
                        in.text,
                        in.maybe,
                        in.whole,
                        in.real,
                        in.flag,
                        in.mood,
                        in.email,
                        in.day.str(),
                        in.json,
                        in.words,
                        JsonText{list_of(in.parts)},
                        in.part,
                        JsonText{map_of(in.counts)},
                        in.stamp.made,
                        in.stamp.changed
            )
                      .value();
        });
        return out;
    }
    static std::string list_of(const std::vector<Part>& parts) {
        std::string out;
        Json<std::vector<Part>>::write(parts, out);
        return out;
    }
    static std::string map_of(const std::map<std::string, std::int64_t>& counts) {
        std::string out;
        Json<std::map<std::string, std::int64_t>>::write(counts, out);
        return out;
    }
};

TEST_F(RowsTest, EveryTypeComesBackAsItWent) {
    Everything in;
    in.id = new_uuid();
    in.text = "Grüße, \"Quotes\" \\ and 'ticks', \n new lines, \xF0\x9F\x90\x98";
    in.maybe = "";
    in.whole = std::numeric_limits<std::int64_t>::min();
    in.real = 0.1;
    in.flag = true;
    in.mood = Mood::new_;
    in.email = *Email::parse("someone@example.com");
    in.day = *Date::parse("2024-02-29");
    in.json = {R"({"a": [1, null, "b"]})"};
    in.words = {"", "a b", "comma, brace}", "quote\" and \\", "NULL", "ü"};
    in.parts = {{"first", 1}, {"second", -2}};
    in.part = Part{"single", 3};
    in.counts = {{"x", 1}, {"y", 2}};
    in.stamp.made = {1'718'000'000'123'456};
    in.stamp.changed = Timestamp{-1};
    EXPECT_EQ(in, through_the_database(in));
}

TEST_F(RowsTest, EmptyAndNullComeBackAsTheyWent) {
    Everything in;
    in.email = *Email::parse("a@b.cd");
    in.day = *Date::parse("0001-01-01");
    in.whole = std::numeric_limits<std::int64_t>::max();
    in.real = -1e308;
    EXPECT_EQ(in, through_the_database(in));
}

TEST_F(RowsTest, TimeKeepsItsMicroseconds) {
    constexpr Sql part{"test.micros", R"(
        SELECT (extract(epoch FROM $1::timestamptz) * 1000000)::bigint AS number)"};
    for (const std::int64_t micros :
         {0LL, 1LL, -1LL, 1'718'000'000'999'999LL, -62'135'596'800'000'000LL})
        database->transact(Tx::Mode::read, [&](Tx& tx) {
            EXPECT_EQ(micros, tx.one<Number>(part, Timestamp{micros})->number);
        });
}

TEST_F(RowsTest, BytesAndIntervalsAndListsOfIdsArePassed) {
    constexpr Sql ask{"test.bytes", R"(
        SELECT encode($1::bytea, 'hex') || ' ' || extract(epoch FROM $2::interval)::bigint || ' ' ||
               array_length($3::uuid[], 1) || ' ' || ($3::uuid[])[2] AS word)"};
    const std::vector<std::uint8_t> bytes{0, 1, 0x5c, 0xff};
    const std::vector<Uuid> ids{new_uuid(), new_uuid()};
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        EXPECT_EQ(
            "00015cff -90061 2 " + ids[1].str(),
            tx.one<Word>(
                  ask, std::span<const std::uint8_t>(bytes), std::chrono::seconds(-90061), ids
            )
                ->word
        );
    });
}

TEST_F(RowsTest, NumbersBeyondAllBoundsArePassed) {
    constexpr Sql ask{"test.floats", "SELECT $1::float8::text AS word"};
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        EXPECT_EQ("Infinity", tx.one<Word>(ask, std::numeric_limits<double>::infinity())->word);
        EXPECT_EQ("NaN", tx.one<Word>(ask, std::numeric_limits<double>::quiet_NaN())->word);
        EXPECT_EQ("1e-300", tx.one<Word>(ask, 1e-300)->word);
    });
}

TEST_F(RowsTest, AMissingColumnNamesStatementRecordAndField) {
    constexpr Sql short_one{"test.short_one", "SELECT 1 AS number, 'x' AS title"};
    const auto message = message_of<std::logic_error>([&] {
        database->transact(Tx::Mode::read, [&](Tx& tx) { tx.one<Note>(short_one); });
    });
    EXPECT_THAT(message, testing::StartsWith("test.short_one: Note.id: "));
}

TEST_F(RowsTest, AValueOfAnotherTypeNamesStatementRecordAndField) {
    constexpr Sql wrong_type{"test.wrong_type", "SELECT 'many' AS number"};
    constexpr Sql null_value{"test.null_value", "SELECT NULL AS number"};
    const auto message_for = [&](const Sql& sql) {
        return message_of<std::logic_error>([&] {
            database->transact(Tx::Mode::read, [&](Tx& tx) { tx.one<Number>(sql); });
        });
    };
    EXPECT_THAT(message_for(wrong_type), testing::StartsWith("test.wrong_type: Number.number: "));
    EXPECT_THAT(message_for(null_value), testing::StartsWith("test.null_value: Number.number: "));
}

TEST_F(RowsTest, OneStatementCanFillSeveralRecords) {
    constexpr Sql both{"test.both", "SELECT 7 AS number, 'seven' AS word"};
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        EXPECT_EQ(7, tx.one<Number>(both)->number);
        EXPECT_EQ("seven", tx.one<Word>(both)->word);
        EXPECT_EQ(7, tx.one<Number>(both)->number);
    });
}

TEST_F(RowsTest, CellsAreReadByPlace) {
    constexpr Sql pair{"test.pair", "SELECT 'a', NULL UNION ALL SELECT 'b', '' ORDER BY 1"};
    const auto tx = database->begin(Tx::Mode::read);
    auto result = tx->queue(pair);
    ASSERT_EQ(2, result.rows());
    EXPECT_EQ("a", result.at(0, 0).text());
    EXPECT_TRUE(result.at(0, 1).null);
    EXPECT_FALSE(result.at(1, 1).null);
    EXPECT_THROW(result.at(2, 0), std::out_of_range);
    EXPECT_THROW(result.at(0, 2), std::out_of_range);
}

}  // namespace
}  // namespace svc::db
