#include "modules/orgs/parts/mail_token.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace svc::orgs {

TEST(MailToken, IsUrlSafeAndNeverTheSame) {
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        const auto token = new_mail_token();
        EXPECT_EQ(token.size(), 43u);
        EXPECT_TRUE(std::ranges::all_of(token, [](unsigned char each) {
            return std::isalnum(each) || each == '-' || each == '_';
        })) << token;
        EXPECT_TRUE(seen.insert(token).second);
    }
}

TEST(MailToken, IsKeptAsItsSha256) {
    std::string hex;
    for (const auto byte : TokenDigest("abc").bytes()) {
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
    }
    EXPECT_EQ(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace svc::orgs
