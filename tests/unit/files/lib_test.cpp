#include "modules/files/lib/disposition.hpp"
#include "modules/files/lib/file_name.hpp"
#include "modules/files/lib/sniff.hpp"

#include <gtest/gtest.h>

namespace svc::files {
namespace {

using namespace std::string_view_literals;

constexpr auto png = "\x89PNG\r\n\x1A\n\0\0\0\rIHDR"sv;
constexpr auto jpeg = "\xFF\xD8\xFF\xE0\0\x10JFIF\0"sv;
constexpr auto svg = "<?xml version=\"1.0\"?><svg xmlns=\"http://www.w3.org/2000/svg\"/>"sv;

TEST(Sniffing, KnowsWhatBeginsInItsOwnWay) {
    EXPECT_EQ(sniff(png), "image/png");
    EXPECT_EQ(sniff(jpeg), "image/jpeg");
    EXPECT_EQ(sniff("GIF89a\1\0\1\0"sv), "image/gif");
    EXPECT_EQ(sniff("RIFF\x10\0\0\0WEBPVP8 "sv), "image/webp");
    EXPECT_EQ(sniff("%PDF-1.7\n%\xE2\xE3"sv), "application/pdf");
    EXPECT_EQ(sniff("PK\x03\x04\x14\0"sv), "application/zip");
    EXPECT_EQ(
        sniff("\0\0\0\x20"
              "ftypisom\0\0"sv),
        "video/mp4"
    );
    EXPECT_EQ(
        sniff("\x7F"
              "ELF\2\1\1\0"sv),
        "application/x-executable"
    );
}

TEST(Sniffing, KnowsMarkupAmongText) {
    EXPECT_EQ(sniff("  \n<!DOCTYPE HTML><p>"), "text/html");
    EXPECT_EQ(sniff("\xEF\xBB\xBF<script>alert(1)</script>"), "text/html");
    EXPECT_EQ(sniff(svg), "image/svg+xml");
    EXPECT_EQ(sniff("<!-- hello --><SVG onload=alert(1)>"), "image/svg+xml");
    EXPECT_EQ(sniff("<?xml version=\"1.0\"?><a><script/></a>"), "text/html");
    EXPECT_EQ(sniff("<?xml version=\"1.0\"?><rss/>"), "text/xml");
    EXPECT_EQ(sniff("a,b\n1,2\n"), "text/plain");
    EXPECT_EQ(sniff("BZh is no archive, ID3 no song"), "text/plain");
    EXPECT_EQ(sniff("\1\2\3"), "");
}

struct Declared {
    std::string_view type, bytes;
    bool right;
};

TEST(Sniffing, ComparesWithWhatWasDeclared) {
    for (const auto& [type, bytes, right] : std::initializer_list<Declared>{
             {"image/png", png, true},
             {"image/png", jpeg, false},
             {"image/png", "<html>", false},
             {"image/png", svg, false},
             {"image/png", "nothing like it", false},
             {"image/jpeg", jpeg, true},
             {"image/svg+xml", svg, true},
             {"image/svg+xml", "<html>", false},
             {"image/bmp", "\1\2\3", false},
             {"text/plain", "words", true},
             {"text/plain", "<b>words</b>", true},
             {"text/csv", "a,b", true},
             {"text/csv", "a\0b"sv, false},
             {"text/plain", png, false},
             {"text/html", "<html>", true},
             {"application/json", "{}", true},
             {"application/json", "\1\2", false},
             {"application/pdf", "%PDF-1.4", true},
             {"application/pdf", "<html>", false},
             {"application/zip", "PK\x03\x04", true},
             {"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
              "PK\x03\x04",
              true},
             {"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
              "\x7F"
              "ELF",
              false},
             {"application/msword", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", true},
             {"video/quicktime",
              "\0\0\0\x14"
              "ftypisom"sv,
              true},
             {"video/mp4", "<html>", false},
             {"application/octet-stream", "<html>", true},
             {"application/octet-stream", png, true},
             {"application/x-blend", "\1\2\3", true},
             {"application/x-blend", "BLENDER-v300", true},
             {"application/x-blend", "<html>", false},
             {"application/x-blend", png, false},
         })
        EXPECT_EQ(mismatch(type, bytes).has_value(), !right) << type << " " << bytes;
}

TEST(Sniffing, SaysWhatItFound) {
    EXPECT_EQ(mismatch("image/png", "<html>"), "it was declared as image/png and is text/html");
}

TEST(FileNames, HaveNoPathsAndNothingThatCannotBeSeen) {
    for (const auto good :
         {"a.png", "A report (final).pdf", "été.txt", "..hidden", "a;b\"c.txt", "日本語"})
        EXPECT_FALSE(fault_of_name(good)) << good;
    for (const auto bad :
         {"a/b"sv,
          "a\\b"sv,
          "../etc/passwd"sv,
          "."sv,
          ".."sv,
          "a\r\nX: y"sv,
          "a\0b"sv,
          "a\x7F"sv,
          "a\u0085b"sv,
          "gpj.\u202Eexe"sv,
          "a\u2028b"sv})
        EXPECT_TRUE(fault_of_name(bad)) << bad;
}

TEST(MediaTypes, AreATypeAndASubtype) {
    EXPECT_EQ(media_type_of("Image/PNG"), "image/png");
    EXPECT_EQ(media_type_of("application/vnd.ms-excel"), "application/vnd.ms-excel");
    for (const auto bad :
         {"image",
          "image/",
          "/png",
          "image/png; charset=x",
          "a/b/c",
          "a b/c",
          "a/b\r\nX: y",
          "é/x"})
        EXPECT_FALSE(media_type_of(bad)) << bad;
}

TEST(Dispositions, ShowPicturesAndSaveTheRest) {
    EXPECT_EQ(disposition_of("image/png", "a.png"), "inline; filename=\"a.png\"");
    for (const auto type : {"image/svg+xml", "text/html", "application/pdf", "text/plain"})
        EXPECT_TRUE(disposition_of(type, "a").starts_with("attachment;")) << type;
}

TEST(Dispositions, CarryAnyNameInAscii) {
    EXPECT_EQ(
        disposition_of("text/plain", "na\xC3\xAFve \"quoted\\\" 100%;.txt"),
        "attachment; filename=\"na_ve _quoted__ 100__.txt\"; "
        "filename*=UTF-8''na%C3%AFve%20%22quoted%5C%22%20100%25%3B.txt"
    );
    const auto smuggled = disposition_of("text/plain", "a\r\nX-Evil: 1");
    EXPECT_EQ(smuggled.find_first_of("\r\n"), std::string::npos);
}

}  // namespace
}  // namespace svc::files
