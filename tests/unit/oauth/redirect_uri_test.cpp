#include "modules/oauth/lib/redirect_uri.hpp"

#include <gtest/gtest.h>

namespace svc::oauth {
namespace {

const std::vector<std::string> schemes{"cursor"};

bool is_good(std::string_view text) { return RedirectUri::parse(text, schemes).has_value(); }

TEST(RedirectUri, HttpsLoopbackAndProgramsAreTaken) {
    for (const char* text :
         {"https://client.example/callback",
          "https://client.example:8443/callback?from=here",
          "https://client.example",
          "http://127.0.0.1:33418/",
          "http://127.0.0.1/callback",
          "http://[::1]:1/callback",
          "http://localhost:3000/callback",
          "cursor://anysphere.cursor-mcp/oauth/callback",
          "com.example.app:/oauth"})
        EXPECT_TRUE(is_good(text)) << text;
}

TEST(RedirectUri, WhatLeadsElsewhereOrRunsIsNot) {
    for (const char* text :
         {"",
          "client.example/callback",
          "//client.example/callback",
          "http://client.example/callback",
          "http://127.0.0.1.evil.example/",
          "http://127.0.0.1:80@evil.example/",
          "http://localhost.evil.example/",
          "http://0.0.0.0/",
          "https://user@client.example/",
          "https://user:word@client.example/",
          "https://client.example/#there",
          "https://client.example\\@evil.example/",
          "https://client.example/ callback",
          "https://client.example/\r\nLocation:x",
          "https://cli\u00e9nt.example/",
          "https://",
          "https:///callback",
          "https://client.example:/",
          "https://client.example:123456/",
          "HTTPS://client.example/",
          "javascript:alert(1)",
          "javascript://client.example/%0aalert(1)",
          "data:text/html,x",
          "file:///etc/passwd",
          "vscode://there",
          "cursor:callback",
          "blob:https://client.example/x"})
        EXPECT_FALSE(is_good(text)) << text;
    EXPECT_FALSE(is_good("https://client.example/" + std::string(500, 'a')));
}

TEST(RedirectUri, TheHostIsShownAsItIs) {
    EXPECT_EQ(RedirectUri::parse("https://a.example:8443/b", schemes)->host, "a.example");
    EXPECT_EQ(RedirectUri::parse("http://[::1]:80/", schemes)->host, "[::1]");
    EXPECT_EQ(RedirectUri::parse("cursor://evil/", schemes)->host, "cursor:");
    EXPECT_FALSE(RedirectUri::parse("https://127.0.0.1/", schemes)->loopback);
    EXPECT_TRUE(RedirectUri::parse("http://localhost/", schemes)->loopback);
}

bool matches(std::string_view asked, const std::string& registered) {
    return is_registered(*RedirectUri::parse(asked, schemes), {registered});
}

TEST(RedirectUri, IsTheSameText) {
    const std::string known = "https://client.example/callback";
    EXPECT_TRUE(matches(known, known));
    for (const char* other :
         {"https://client.example/callback/",
          "https://client.example/Callback",
          "https://Client.example/callback",
          "https://client.example:443/callback",
          "https://client.example:8443/callback",
          "https://client.example/callback?x=1",
          "https://client.example/x/../callback",
          "https://client.example/callbac%6b",
          "https://client.example.evil.example/callback",
          "https://evil.example/callback"})
        EXPECT_FALSE(matches(other, known)) << other;
}

TEST(RedirectUri, OfALoopbackThePortIsFreeAndNothingElse) {
    const std::string known = "http://127.0.0.1:1000/callback";
    EXPECT_TRUE(matches("http://127.0.0.1:65535/callback", known));
    EXPECT_TRUE(matches("http://127.0.0.1/callback", known));
    EXPECT_TRUE(matches("http://localhost:3/callback", "http://localhost/callback"));
    for (const char* other :
         {"http://localhost:1000/callback",
          "http://[::1]:1000/callback",
          "http://127.0.0.1:1000/callback/",
          "http://127.0.0.1:1000/callback?x=1",
          "http://127.0.0.1:1000/",
          "https://127.0.0.1:1000/callback"})
        EXPECT_FALSE(matches(other, known)) << other;
    EXPECT_FALSE(matches("http://localhost/callback", "https://localhost/callback"));
}

TEST(RedirectUri, MembersJoinTheQueryThatIsThere) {
    EXPECT_EQ(
        with_query("https://a.example/", {{"state", "a b&c"}}), "https://a.example/?state=a%20b%26c"
    );
    EXPECT_EQ(
        with_query("https://a.example/?x=1", {{"a", "1"}, {"b", "2"}}),
        "https://a.example/?x=1&a=1&b=2"
    );
}

}  // namespace
}  // namespace svc::oauth
