#include "svc/types.hpp"

#include <gtest/gtest.h>

namespace svc {
namespace {

TEST(Email, TakesAddressesAsPeopleHaveThem) {
    for (std::string_view text :
         {"ada@example.com",
          "ada.lovelace+board@mail.example.co.uk",
          "o'brien@example.ie",
          "a_b-c@x-1.example",
          "!#$%&'*+/=?^`{|}~-@example.com",
          "jörg@bücher.example",
          "1@2.ab"})
        EXPECT_TRUE(Email::parse(text)) << text;
}

TEST(Email, RefusesWhatIsNoAddress) {
    const std::string long_local(65, 'a');
    const std::string long_label(64, 'b');
    std::string long_all = "a@";
    while (long_all.size() < 250) long_all += "bcdefghi.";
    long_all += "com";
    for (const std::string& text : {
             std::string(""),
             std::string("ada"),
             std::string("@example.com"),
             std::string("ada@"),
             std::string("ada@example"),
             std::string("ada@@example.com"),
             std::string("ada@example.com@example.com"),
             std::string("ada lovelace@example.com"),
             std::string("ada@exam ple.com"),
             std::string("ada@example..com"),
             std::string("ada@.example.com"),
             std::string("ada@example.com."),
             std::string("ada@-example.com"),
             std::string("ada@example-.com"),
             std::string("ada@exam_ple.com"),
             std::string("ada@127.0.0.1"),
             std::string("ada@[127.0.0.1]"),
             std::string(".ada@example.com"),
             std::string("ada.@example.com"),
             std::string("ada..b@example.com"),
             std::string("\"ada\"@example.com"),
             std::string("Ada <ada@example.com>"),
             std::string("ada@example.com\nBcc: x@example.com"),
             std::string("ada\r@example.com"),
             std::string("ada@example.com\0", 16),
             std::string("ada\xC2\x85@example.com"),
             std::string("ada\xE2\x80\xA8@example.com"),
             std::string("ada\xFF@example.com"),
             std::string("a,b@example.com"),
             long_local + "@example.com",
             "a@" + long_label + ".com",
             long_all,
         })
        EXPECT_FALSE(Email::parse(text)) << text;
}

TEST(Email, IsKeptAsTypedButTrimmedAndComparedInLowerCase) {
    const auto email = Email::parse("  Ada@Example.COM \n");
    ASSERT_TRUE(email);
    EXPECT_EQ(email->str(), "Ada@Example.COM");
    EXPECT_EQ(email_key(*email), "ada@example.com");
}

TEST(Email, OfOneMailboxHasOneKeyHoweverItIsTyped) {
    const auto key = [](std::string_view text) { return email_key(Email::parse(text).value()); };
    EXPECT_EQ(key("ünal@example.com"), "ünal@example.com");
    EXPECT_EQ(key("Ünal@Example.com"), "ünal@example.com");
    EXPECT_EQ(key("U\xCC\x88NAL@example.COM"), "ünal@example.com") << "the dots by themselves";
    EXPECT_EQ(key("STRASSE@example.com"), key("strasse@example.com"));
    EXPECT_EQ(key("straße@example.de"), key("STRASSE@example.de")) << "full folding, not simple";
    EXPECT_EQ(key("ΣΊΣΥΦΟΣ@example.gr"), key("σίσυφος@example.gr"));
    EXPECT_NE(key("unal@example.com"), key("ünal@example.com"));
}

TEST(Email, HasItsDomainInAsciiSoThatLookAlikesShow) {
    const auto kept = [](std::string_view text) { return Email::parse(text).value().str(); };
    EXPECT_EQ(kept("Jörg@Bücher.example"), "Jörg@xn--bcher-kva.example");
    EXPECT_EQ(kept("ada@BÜCHER.example"), "ada@xn--bcher-kva.example");
    EXPECT_EQ(
        kept("ada@bu\xCC\x88"
             "cher.example"),
        "ada@xn--bcher-kva.example"
    );
    EXPECT_EQ(kept("ada@ｅｘａｍｐｌｅ.com"), "ada@example.com");
    EXPECT_EQ(kept("ada@example。com"), "ada@example.com");
    const auto cyrillic = kept("ada@ex\xD0\xB0mple.com");
    EXPECT_TRUE(cyrillic.starts_with("ada@xn--")) << cyrillic;
    EXPECT_EQ(
        email_key(Email::parse("ada@XN--bcher-KVA.example").value()),
        email_key(Email::parse("ada@bücher.example").value())
    );
    for (std::string_view no : {"ada@ü..com", "ada@\xE2\x80\x8D.com", "ada@-ü.com", "ada@ü_.com"})
        EXPECT_FALSE(Email::parse(no)) << no;
    std::string long_domain = "a@";
    while (long_domain.size() < 240) long_domain += "üüüüü.";
    EXPECT_FALSE(Email::parse(long_domain + "com")) << "too long once it is in ASCII";
}

TEST(Url, TakesAbsoluteHttpAddresses) {
    for (std::string_view text :
         {"http://a",
          "https://example.com",
          "HTTPS://Example.com/",
          "https://example.com:8443/a/b?c=d&e=%20#f",
          "http://127.0.0.1:1/x",
          "http://[::1]:8080/",
          "https://bücher.example/ä",
          "https://example.com?x=a@b:c",
          "https://example.com./"})
        EXPECT_TRUE(Url::parse(text)) << text;
}

TEST(Url, RefusesTheRest) {
    const std::string too_long = "https://example.com/" + std::string(1981, 'a');
    for (const std::string& text : {
             std::string(""),
             std::string("example.com"),
             std::string("/path"),
             std::string("//example.com"),
             std::string("ftp://example.com"),
             std::string("javascript:alert(1)"),
             std::string("mailto:ada@example.com"),
             std::string("http:///path"),
             std::string("http://"),
             std::string("http://?x"),
             std::string("http:/example.com"),
             std::string("http:\\\\example.com"),
             std::string("http://example.com\\@evil.example"),
             std::string("http://user:pass@example.com"),
             std::string("http://user@example.com"),
             std::string("http://example.com:0/"),
             std::string("http://example.com:65536/"),
             std::string("http://example.com:"),
             std::string("http://example.com:8o/"),
             std::string("http://[::1"),
             std::string("http://[::1]x/"),
             std::string("http://[]/"),
             std::string("http://exa mple.com/"),
             std::string("http://example.com/a b"),
             std::string("http://example.com/\n"),
             std::string("http://example.com/\0", 20),
             std::string("http://example.com/<script>"),
             std::string("http://ex*mple.com/"),
             std::string("http://example.com/\xFF"),
             std::string(" http://example.com/"),
             too_long,
         })
        EXPECT_FALSE(Url::parse(text)) << text;
    EXPECT_TRUE(Url::parse(too_long.substr(0, 2000)));
}

TEST(Date, IsADayThatExists) {
    for (std::string_view text : {"2026-06-19", "2024-02-29", "2000-02-29", "0001-01-01"})
        EXPECT_TRUE(Date::parse(text)) << text;
    for (std::string_view text :
         {"",
          "2026-6-19",
          "2026-06-31",
          "2023-02-29",
          "1900-02-29",
          "2026-13-01",
          "0000-01-01",
          "2026-06-19T00:00:00Z",
          "20260619",
          "2026-06-1a",
          " 2026-06-19"})
        EXPECT_FALSE(Date::parse(text)) << text;
}

}  // namespace
}  // namespace svc
