#include "svc/types.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

namespace svc {
namespace {

constexpr std::string_view hyphened = "01890a5d-ac96-774b-bcce-b302099a8057";

TEST(Uuid, ReadsBothFormsInEitherCaseAndWritesOne) {
    for (std::string_view text :
         {hyphened,
          std::string_view("01890a5dac96774bbcceb302099a8057"),
          std::string_view("01890A5D-AC96-774B-BCCE-B302099A8057"),
          std::string_view("01890A5Dac96774BBCCEB302099A8057")}) {
        const auto id = Uuid::parse(text);
        ASSERT_TRUE(id) << text;
        EXPECT_EQ(id->str(), hyphened);
    }
}

TEST(Uuid, RefusesWhatIsNearlyOne) {
    for (std::string_view text :
         {"",
          "0",
          "01890a5d-ac96-774b-bcce-b302099a805",
          "01890a5d-ac96-774b-bcce-b302099a80577",
          "01890a5d_ac96_774b_bcce_b302099a8057",
          "01890a5dac96-774b-bcce-b302099a8057a",
          "g1890a5d-ac96-774b-bcce-b302099a8057",
          "01890a5d-ac96-774b-bcce-b302099a805 ",
          "{01890a5d-ac96-774b-bcce-b302099a805}",
          "01890a5dac96774bbcceb302099a805\xC3",
          "01890a5d-ac96-774b-bcce--302099a8057"})
        EXPECT_FALSE(Uuid::parse(text)) << text;
}

TEST(Uuid, RoundTripsEveryByteAtEveryPlace) {
    for (int place = 0; place < 16; ++place)
        for (int byte = 0; byte < 256; ++byte) {
            std::array<std::uint8_t, 16> bytes{};
            bytes[static_cast<std::size_t>(place)] = static_cast<std::uint8_t>(byte);
            const Uuid id(bytes);
            EXPECT_EQ(Uuid::parse(id.str()), id);
            EXPECT_EQ(id.nil(), byte == 0);
        }
}

TEST(NewUuid, IsVersionSevenOfThisMoment) {
    const auto millis_now = [] {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
    };
    const auto before = millis_now();
    const Uuid id = new_uuid();
    const auto after = millis_now();
    std::int64_t stamp = 0;
    for (std::size_t i = 0; i < 6; ++i) stamp = stamp << 8 | id.bytes()[i];
    EXPECT_GE(stamp, before);
    EXPECT_LE(stamp, after + 1000);  // a clock put back may leave us ahead for a moment
    EXPECT_EQ(id.bytes()[6] >> 4, 7);
    EXPECT_EQ(id.bytes()[8] >> 6, 2);
}

TEST(NewUuid, EachOneSortsAfterTheOneBefore) {
    Uuid last = new_uuid();
    for (int i = 0; i < 100'000; ++i) {
        const Uuid next = new_uuid();
        ASSERT_LT(last, next);
        ASSERT_LT(last.str(), next.str());
        last = next;
    }
}

TEST(NewUuid, ThreadsNeverMakeTheSameOneAndEachSeesThemRise) {
    constexpr std::size_t threads = 4, each = 20'000;
    std::vector<std::vector<Uuid>> made(threads);
    std::vector<std::thread> running;
    for (auto& mine : made)
        running.emplace_back([&mine] {
            for (std::size_t i = 0; i < each; ++i) mine.push_back(new_uuid());
        });
    for (auto& thread : running) thread.join();
    std::set<Uuid> all;
    for (const auto& mine : made) {
        EXPECT_TRUE(std::ranges::is_sorted(mine));
        all.insert(mine.begin(), mine.end());
    }
    EXPECT_EQ(all.size(), threads * each);
}

TEST(NewUuid, ItsRandomHalfDiffers) {
    std::set<std::array<std::uint8_t, 8>> halves;
    for (int i = 0; i < 1000; ++i) {
        std::array<std::uint8_t, 8> half;
        std::copy_n(new_uuid().bytes().begin() + 8, 8, half.begin());
        halves.insert(half);
    }
    EXPECT_EQ(halves.size(), 1000u);
}

TEST(Uuid, OfATimeIsNotAboveWhatIsMadeFromThenOn) {
    const Timestamp before = Timestamp::now();
    const Uuid id = new_uuid();
    const Timestamp after{Timestamp::now().micros + 1'000};
    EXPECT_LE(first_id_at(before), id);
    EXPECT_GT(first_id_at(after), id);
    EXPECT_GT(last_id(), id);
}

}  // namespace
}  // namespace svc
