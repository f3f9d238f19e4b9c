#include "modules/auth/parts/passwords.hpp"

#include "modules/auth/parts/secrets.hpp"

#include <gmock/gmock.h>

#include <chrono>

namespace svc::auth {
namespace {

constexpr std::int64_t memory_mib = 8, passes = 2;

TEST(Passwords, MatchTheirOwnHashAlone) {
    const Passwords passwords(memory_mib, passes);
    const std::string hash = passwords.hash("correct horse");
    EXPECT_TRUE(passwords.matches(hash, "correct horse"));
    EXPECT_FALSE(passwords.matches(hash, "correct horsf"));
    EXPECT_FALSE(passwords.matches(hash, ""));
}

TEST(Passwords, AreSaltedArgon2id) {
    const Passwords passwords(memory_mib, passes);
    const std::string hash = passwords.hash("same");
    EXPECT_THAT(hash, testing::StartsWith("$argon2id$v=19$m=8192,t=2,p=1$"));
    EXPECT_NE(hash, passwords.hash("same"));
}

TEST(Passwords, MayHoldAnything) {
    const Passwords passwords(memory_mib, passes);
    const std::string odd("a\0b\xC3\xA9", 5);
    const std::string hash = passwords.hash(odd);
    EXPECT_TRUE(passwords.matches(hash, odd));
    EXPECT_FALSE(passwords.matches(hash, "a"));
}

TEST(Passwords, OfAnotherCostAreOutdatedButMatch) {
    const Passwords before(memory_mib, passes), now(memory_mib * 2, passes);
    const std::string hash = before.hash("correct horse");
    EXPECT_FALSE(before.outdated(hash));
    EXPECT_TRUE(now.outdated(hash));
    EXPECT_TRUE(now.matches(hash, "correct horse"));
}

TEST(Decoy, MatchesNothing) {
    const Passwords passwords(memory_mib, passes);
    EXPECT_FALSE(passwords.matches(passwords.decoy(), ""));
    EXPECT_FALSE(passwords.matches(passwords.decoy(), "correct horse"));
    EXPECT_FALSE(passwords.outdated(passwords.decoy()));
}

// A refusal that came back at once would tell that there is no account.
TEST(Decoy, TakesAsLongToCheckAsAHash) {
    const Passwords passwords(32, passes);
    const std::string hash = passwords.hash("correct horse"), decoy = passwords.decoy();
    const auto best_of = [&](const std::string& against) {
        auto best = std::chrono::nanoseconds::max();
        for (int i = 0; i < 5; ++i) {
            const auto start = std::chrono::steady_clock::now();
            passwords.matches(against, "something else");
            best =
                std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - start);
        }
        return best;
    };
    const auto real = best_of(hash), fake = best_of(decoy);
    EXPECT_LT(fake, real * 2);
    EXPECT_LT(real, fake * 2);
}

TEST(Digest, IsSha256) {
    EXPECT_EQ(
        Digest("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
}

TEST(Base64Url, GoesThereAndBack) {
    for (std::size_t size = 0; size < 40; ++size) {
        const std::string bytes = random_bytes(size);
        EXPECT_EQ(from_base64url(base64(bytes, Base64::url)), bytes);
    }
    for (const char* bad : {"a", "ab=", "ab+/", "a b", "ab\n"})
        EXPECT_EQ(from_base64url(bad), "") << bad;
}

TEST(MailToken, HoldsTwoHundredAndFiftySixBits) {
    EXPECT_THAT(new_mail_token(), testing::MatchesRegex("[A-Za-z0-9_-]{43}"));
    EXPECT_NE(new_mail_token(), new_mail_token());
}

}  // namespace
}  // namespace svc::auth
