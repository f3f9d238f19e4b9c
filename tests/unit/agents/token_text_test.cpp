#include "modules/agents/lib/token_text.hpp"

#include <gmock/gmock.h>

#include <map>
#include <set>

namespace svc::agents {
namespace {

TEST(TokenText, IsAPrefixAndFortyThreeCharacters) {
    EXPECT_THAT(new_token(), testing::MatchesRegex("svc_[0-9A-Za-z]{43}"));
}

TEST(TokenText, IsKnownAgain) {
    for (int i = 0; i < 1000; ++i) {
        const std::string token = new_token();
        EXPECT_TRUE(is_token(token)) << token;
    }
}

TEST(TokenText, NeverComesTwice) {
    std::set<std::string> seen;
    for (int i = 0; i < 10'000; ++i) EXPECT_TRUE(seen.insert(new_token()).second);
}

TEST(TokenText, UsesEveryCharacterAboutAsOften) {
    std::map<char, int> seen;
    constexpr int tokens = 4000, random_characters = 37;
    for (int i = 0; i < tokens; ++i)
        for (const char each : new_token().substr(4, random_characters)) ++seen[each];
    EXPECT_EQ(seen.size(), 62u);
    constexpr int fair = tokens * random_characters / 62;
    for (const auto& [each, count] : seen) {
        EXPECT_GT(count, fair * 85 / 100) << each;
        EXPECT_LT(count, fair * 115 / 100) << each;
    }
}

TEST(TokenText, OneWrongCharacterShows) {
    const std::string token = new_token();
    for (std::size_t at = 0; at < token.size(); ++at) {
        std::string wrong = token;
        wrong[at] = wrong[at] == 'x' ? 'y' : 'x';
        EXPECT_FALSE(is_token(wrong)) << wrong;
    }
}

TEST(TokenText, TwoSwappedCharactersShow) {
    const std::string token = new_token();
    for (std::size_t at = 4; at + 1 < token.size(); ++at) {
        if (token[at] == token[at + 1]) continue;
        std::string wrong = token;
        std::swap(wrong[at], wrong[at + 1]);
        EXPECT_FALSE(is_token(wrong)) << wrong;
    }
}

// The checksum is CRC-32 as zlib has it, in base 62 with six digits: a scanner needs no more
// than this to tell tokens. The CRC of the first 37 characters here is 0xA6A9586C.
TEST(TokenText, HasTheChecksumThatScannersCompute) {
    EXPECT_TRUE(is_token("svc_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZa33EDWO"));
}

TEST(TokenText, NothingElseIsOne) {
    const std::string token = new_token();
    for (const std::string& each :
         {std::string(),
          std::string("svc_"),
          token + "0",
          token.substr(0, token.size() - 1),
          "svx_" + token.substr(4),
          token.substr(4),
          " " + token,
          token.substr(0, 20) + "-" + token.substr(21),
          std::string(47, '0')})
        EXPECT_FALSE(is_token(each)) << each;
}

TEST(TokenText, ItsHintTellsLittle) {
    EXPECT_EQ(hint_of("svc_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZa33EDWO"), "svc_0123…EDWO");
}

TEST(TokenText, IsKeptAsItsSha256) {
    EXPECT_EQ(
        digest_of("svc_"), "bdfed50954f37cf1cb5d2eb94b13a7df5e64e29f3e0efe5a279c399d21bc5c78"
    );
}

TEST(TokenText, ASeedHasOneTokenAndNoOtherSeedHasIt) {
    const std::string one(32, 'a'), other(32, 'b');
    EXPECT_TRUE(is_token(token_of(one)));
    EXPECT_EQ(token_of(one), token_of(one));
    EXPECT_NE(token_of(one), token_of(other));
    EXPECT_THROW(token_of("short"), std::invalid_argument);
    std::set<char> letters;
    for (char each = 0; each < 100; ++each)
        for (const char letter : token_of(std::string(32, each))) letters.insert(letter);
    EXPECT_EQ(letters.size(), 63) << "all letters, and the underscore of the prefix";
}

}  // namespace
}  // namespace svc::agents
