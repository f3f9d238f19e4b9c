#include "modules/auth/lib/passwords.hpp"

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
    const auto time_of = [&](const std::string& against) {
        const auto start = std::chrono::steady_clock::now();
        passwords.matches(against, "something else");
        return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start);
    };
    // By turns, for the machine is now slower and now faster: the best of each, and of more turns
    // where it does not let either run undisturbed.
    auto real = std::chrono::nanoseconds::max(), fake = real;
    const auto alike = [&] { return fake < real * 2 && real < fake * 2; };
    for (int i = 0; i < 9 || (i < 90 && !alike()); ++i) {
        real = std::min(real, time_of(hash));
        fake = std::min(fake, time_of(decoy));
    }
    EXPECT_LT(fake, real * 2);
    EXPECT_LT(real, fake * 2);
}

}  // namespace
}  // namespace svc::auth
