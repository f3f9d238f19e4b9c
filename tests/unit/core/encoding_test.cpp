#include "svc/encoding.hpp"

#include <gtest/gtest.h>

#include "svc/secrets.hpp"

namespace svc {
namespace {

TEST(Hex, GoesThereAndBack) {
    EXPECT_EQ(hex(std::string_view("\0\x1f\xff", 3)), "001fff");
    EXPECT_EQ(from_hex("001FfF"), std::string("\0\x1f\xff", 3));
    EXPECT_EQ(from_hex(""), "");
    for (const char* bad : {"0", "0g", "00 ", "0x00"}) EXPECT_FALSE(from_hex(bad)) << bad;
}

TEST(Base64, GoesThereAndBackInEveryKind) {
    for (const Base64 kind : {Base64::url, Base64::unpadded, Base64::padded})
        for (std::size_t size = 0; size < 40; ++size) {
            const std::string bytes = random_bytes(size);
            EXPECT_EQ(from_base64(base64(bytes, kind), kind), bytes);
        }
    EXPECT_EQ(base64("\xFB\xFF"), "-_8");
    EXPECT_EQ(base64("\xFB\xFF", Base64::unpadded), "+/8");
    EXPECT_EQ(base64("\xFB\xFF", Base64::padded), "+/8=");
}

TEST(Base64, HasOneSpellingForEachText) {
    EXPECT_EQ(from_base64("YQ"), "a");
    EXPECT_EQ(from_base64("YWJj"), "abc");
    for (const char* bad : {"YR", "YWJ", "Y", "YQ==", "YQ=", "+/8", "Y Q", "YQ\n", "ä"})
        EXPECT_FALSE(from_base64(bad)) << bad;
    for (const char* bad : {"YQ", "YQ=", "-_8=", "YQ==\n"})
        EXPECT_FALSE(from_base64(bad, Base64::padded)) << bad;
}

TEST(PercentEncoded, LeavesOnlyWhatIsUnreservedOrKept) {
    EXPECT_EQ(percent_encoded("aZ0-._~"), "aZ0-._~");
    EXPECT_EQ(percent_encoded("a b&c=d+ü\n"), "a%20b%26c%3Dd%2B%C3%BC%0A");
    EXPECT_EQ(percent_encoded("a/b c", "/"), "a/b%20c");
}

}  // namespace
}  // namespace svc
