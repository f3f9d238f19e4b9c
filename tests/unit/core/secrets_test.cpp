#include "svc/secrets.hpp"

#include <gtest/gtest.h>

#include "svc/encoding.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace svc {
namespace {

constexpr auto of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, IsThatOfTheStandard) { EXPECT_EQ(hex(sha256("abc")), of_abc); }

TEST(Sha256, IsTheSameOfPieces) {
    Sha256Sum sum;
    for (const char* piece : {"a", "", "bc"}) sum.add(piece);
    EXPECT_EQ(hex(sum.finish()), of_abc);
}

TEST(RandomToken, IsUrlSafeAndNeverTheSame) {
    std::set<std::string> seen;
    for (int each = 0; each < 1000; ++each) {
        const auto token = random_token();
        EXPECT_EQ(token.size(), 43u);
        EXPECT_TRUE(std::ranges::all_of(token, [](unsigned char c) {
            return std::isalnum(c) || c == '-' || c == '_';
        })) << token;
        EXPECT_TRUE(seen.insert(token).second);
    }
}

TEST(SameSecret, IsTheSameBytes) {
    EXPECT_TRUE(same_secret("", ""));
    EXPECT_TRUE(same_secret("abc", "abc"));
    EXPECT_FALSE(same_secret("abc", "abd"));
    EXPECT_FALSE(same_secret("abc", "ab"));
}

}  // namespace
}  // namespace svc
