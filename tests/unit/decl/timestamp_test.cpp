#include "decl/timestamp.hpp"

#include "reading.hpp"

#include <gtest/gtest.h>

namespace svc {
namespace {

struct Given {
    std::string_view text;
    std::string_view written;
};

TEST(Timestamp, ReadsRfc3339WithAnyOffsetAndWritesUtcWithThreeDecimals) {
    for (const auto& [text, written] : {
             Given{"2026-06-19T10:11:12.123Z", "2026-06-19T10:11:12.123Z"},
             Given{"2026-06-19t10:11:12z", "2026-06-19T10:11:12.000Z"},
             Given{"2026-06-19 10:11:12Z", "2026-06-19T10:11:12.000Z"},
             Given{"2026-06-19T10:11:12.1Z", "2026-06-19T10:11:12.100Z"},
             Given{"2026-06-19T10:11:12.123456789Z", "2026-06-19T10:11:12.123Z"},
             Given{"2026-06-19T10:11:12+02:30", "2026-06-19T07:41:12.000Z"},
             Given{"2026-06-19T10:11:12-11:00", "2026-06-19T21:11:12.000Z"},
             Given{"2026-06-19T10:11:12-00:00", "2026-06-19T10:11:12.000Z"},
             Given{"2024-02-29T00:00:00+00:01", "2024-02-28T23:59:00.000Z"},
             Given{"1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"},
             Given{"0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"},
             Given{"9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999Z"},
         }) {
        const auto time = Timestamp::parse(text);
        ASSERT_TRUE(time) << text;
        EXPECT_EQ(time->str(), written) << text;
        EXPECT_EQ(Timestamp::parse(time->str())->str(), written);
    }
}

TEST(Timestamp, KeepsMicroseconds) {
    EXPECT_EQ(Timestamp::parse("1970-01-01T00:00:01.000002Z")->micros, 1'000'002);
    EXPECT_EQ(Timestamp::parse("1969-12-31T23:59:59.999999Z")->micros, -1);
    EXPECT_EQ(Timestamp{-1}.str(), "1969-12-31T23:59:59.999Z");
    std::string exact;
    for (const std::int64_t micros : {-1, 2}) Timestamp{micros}.append_exact_to(exact);
    EXPECT_EQ(exact, "1969-12-31T23:59:59.999999Z1970-01-01T00:00:00.000002Z");
}

TEST(Timestamp, ReadsWhatPostgresqlWrites) {
    for (const auto& [text, written] : {
             Given{"2026-11-20 12:00:00.123+00", "2026-11-20T12:00:00.123Z"},
             Given{"2026-11-20 12:00:00+00", "2026-11-20T12:00:00.000Z"},
             Given{"2026-11-20 12:00:00.123456+05:30", "2026-11-20T06:30:00.123Z"},
             Given{"2026-11-20 12:00:00-08", "2026-11-20T20:00:00.000Z"},
             Given{"2026-11-20T12:00:00.5+00:00", "2026-11-20T12:00:00.500Z"},  // to_jsonb
         }) {
        Timestamp time;
        Json<Timestamp>::from_db({text.data(), text.size(), false}, time);
        EXPECT_EQ(time.str(), written) << text;
    }
    for (std::string_view text : {"infinity", "-infinity", "2026-11-20 12:00:00+00 BC", ""}) {
        Timestamp time;
        EXPECT_THROW(
            Json<Timestamp>::from_db({text.data(), text.size(), false}, time), std::logic_error
        ) << text;
    }
}

TEST(Timestamp, RefusesWhatIsNoInstant) {
    for (std::string_view text :
         {"",
          "2026-06-19",
          "2026-06-19T10:11Z",
          "2026-6-19T10:11:12Z",
          "2026-02-29T10:11:12Z",
          "2026-13-01T10:11:12Z",
          "2026-00-01T10:11:12Z",
          "2026-01-00T10:11:12Z",
          "2026-06-31T10:11:12Z",
          "2026-06-19T24:00:00Z",
          "2026-06-19T10:60:12Z",
          "2026-06-19T10:11:60Z",
          "2026-06-19T10:11:12.Z",
          "2026-06-19T10:11:12ZZ",
          "2026-06-19T10:11:12+2:00",
          "2026-06-19T10:11:12+24:00",
          "2026-06-19T10:11:12+02:60",
          "2026-06-19T10:11:12 Z",
          " 2026-06-19T10:11:12Z",
          "02026-06-19T10:11:12Z",
          "0000-06-19T10:11:12Z",
          "0001-01-01T00:00:00+00:01",
          "9999-12-31T23:59:59-00:01",
          "1750327872",
          "2026-06-19T10:11:12.1234567890123456789Z"}) {
        Timestamp time;
        EXPECT_EQ(decl::parse_time(text, time), decl::TimeProblem::malformed) << text;
        EXPECT_FALSE(Timestamp::parse(text)) << text;
    }
}

TEST(Timestamp, TellsATimeWithoutOffsetFromAMalformedOne) {
    for (std::string_view text :
         {"2026-06-19T10:11:12", "2026-06-19 10:11:12.5", "2026-06-19t10:11:12"}) {
        Timestamp time;
        EXPECT_EQ(decl::parse_time(text, time), decl::TimeProblem::no_offset) << text;
        EXPECT_FALSE(Timestamp::parse(text)) << text;
    }
}

TEST(Timestamp, EveryDayOfFourCenturiesRoundTrips) {
    constexpr std::int64_t day = 86'400'000'000;
    for (std::int64_t n = -200 * 365; n < 200 * 365; ++n) {
        const Timestamp time{n * day + 45'296'789'000};
        ASSERT_EQ(Timestamp::parse(time.str()), time) << time.str();
    }
}

TEST(Timestamp, OrderIsTheOrderOfTime) {
    EXPECT_LT(
        *Timestamp::parse("2026-06-19T10:00:00+02:00"), *Timestamp::parse("2026-06-19T09:00:00Z")
    );
    EXPECT_LT(Timestamp{0}, Timestamp::now());
}

}  // namespace
}  // namespace svc
