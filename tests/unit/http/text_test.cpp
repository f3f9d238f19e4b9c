#include "svc/http.hpp"

#include <gtest/gtest.h>

/// What modules read out of a request.
namespace svc::http::test {

TEST(Decoding, EscapesBecomeBytes) {
    EXPECT_EQ(decode("a%20b%2Fc", Decode::path), "a b/c");
    EXPECT_EQ(decode("%C3%A9%e2%82%ac", Decode::path), "\xc3\xa9\xe2\x82\xac");
    EXPECT_EQ(decode("", Decode::path), "");
}

TEST(Decoding, APlusIsASpaceInAQueryOnly) {
    EXPECT_EQ(decode("a+b", Decode::query), "a b");
    EXPECT_EQ(decode("a+b", Decode::path), "a+b");
    EXPECT_EQ(decode("a%2Bb", Decode::query), "a+b");
}

TEST(Decoding, MalformedEscapesAndTextAreNothing) {
    for (const std::string_view bad :
         {"%",
          "%2",
          "a%2",
          "%zz",
          "%2x",
          "%-1",
          "%+1",
          "% 1",
          "%00",
          "a%00b",
          "%ff",
          "%c3",
          "%c3%28",
          "%ed%a0%80"})
        EXPECT_FALSE(decode(bad, Decode::path)) << bad;
}

TEST(Queries, PairsKeepTheirOrderAndRepeats) {
    using Pairs = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(parse_query("b=2&a=1&b=3"), (Pairs{{"b", "2"}, {"a", "1"}, {"b", "3"}}));
    EXPECT_EQ(parse_query("a&b=&=c"), (Pairs{{"a", ""}, {"b", ""}, {"", "c"}}));
    EXPECT_EQ(parse_query("a=b=c&&x%3D=%26"), (Pairs{{"a", "b=c"}, {"x=", "&"}}));
    EXPECT_EQ(parse_query(""), Pairs{});
}

TEST(Queries, OneMalformedPairSpoilsAll) {
    EXPECT_FALSE(parse_query("a=1&b=%"));
    EXPECT_FALSE(parse_query("%ff=1"));
}

TEST(RequestHeaders, AreFoundWithoutRegardToCase) {
    const Header headers[] = {{"X-Name", "value"}, {"Empty", ""}};
    Request request;
    request.headers = headers;
    EXPECT_EQ(request.header("x-name"), "value");
    EXPECT_EQ(request.header("X-NAM"), "");
    EXPECT_TRUE(request.has("empty"));
    EXPECT_FALSE(request.has("absent"));
}

TEST(RequestCookies, AreFoundByTheirWholeName) {
    const Header headers[] = {{"cookie", "a=1; svc_session=x=y;b=\"q\" ;ab=3; bare; c="}};
    Request request;
    request.headers = headers;
    EXPECT_EQ(request.cookie("a"), "1");
    EXPECT_EQ(request.cookie("svc_session"), "x=y");
    EXPECT_EQ(request.cookie("b"), "\"q\"");
    EXPECT_EQ(request.cookie("ab"), "3");
    EXPECT_EQ(request.cookie("c"), "");
    EXPECT_EQ(request.cookie("bare"), "");
    EXPECT_EQ(request.cookie("session"), "");
    EXPECT_EQ(Request().cookie("a"), "");
}

}  // namespace svc::http::test
