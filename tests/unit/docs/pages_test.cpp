#include "tests/support/postgres.hpp"
#include "tests/support/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

/// The pages as the real program serves them.
namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Pages : public testing::Test {
protected:
    static std::vector<std::string> files_of(const std::string& page) {
        static const std::regex reference(R"re((?:href|src)="([^"]+\.(?:css|js|svg))")re");
        std::vector<std::string> files;
        for (std::sregex_iterator each(page.begin(), page.end(), reference), end; each != end;
             ++each)
            files.push_back((*each)[1]);
        return files;
    }

    Server server{{
        .database_url = Postgres::shared().fresh_database(),
        .settings = {"modules=docs,mail,orgs,auth,agents,boards", "plugins=mail-file"},
    }};
    Client browser{server.port()};
};

TEST_F(Pages, NeedNothingFromElsewhere) {
    for (const std::string path :
         {"/",
          "/docs",
          "/login",
          "/signup",
          "/verify-email",
          "/reset-password",
          "/invitations/x",
          "/shared/sl_x",
          "/boards",
          "/boards/x",
          "/cards/x"}) {
        const auto page = browser.get(path);
        ASSERT_EQ(page.status, 200) << path;
        EXPECT_THAT(page.header("content-type"), HasSubstr("text/html"));
        EXPECT_THAT(page.header("content-security-policy"), HasSubstr("default-src 'self'"));
        EXPECT_THAT(page.header("content-security-policy"), HasSubstr("frame-ancestors 'none'"));
        EXPECT_EQ(page.header("x-content-type-options"), "nosniff");
        EXPECT_GE(files_of(page.body).size(), 3U) << path;
        for (const auto& file : files_of(page.body)) {
            EXPECT_TRUE(file.starts_with('/')) << file;
            EXPECT_EQ(browser.get(file).status, 200) << file;
        }
    }
}

TEST_F(Pages, ScriptsAndStylesMayBeKeptForGood) {
    const auto page = browser.get("/docs");
    EXPECT_EQ(page.header("cache-control"), "no-cache");
    for (const auto& file : files_of(page.body)) {
        if (!file.ends_with(".svg")) {
            EXPECT_THAT(browser.get(file).header("cache-control"), HasSubstr("immutable")) << file;
        }
    }
}

TEST_F(Pages, TravelPacked) {
    const auto size = [&](const std::string& path, const std::string& accepted) {
        const auto reply = browser.send("GET", path, {}, {{"Accept-Encoding", accepted}});
        EXPECT_EQ(reply.header("content-encoding"), accepted == "identity" ? "" : accepted);
        EXPECT_EQ(reply.header("vary"), "Accept-Encoding");
        return reply.body.size();
    };
    for (const auto& file : files_of(browser.get("/docs").body)) {
        EXPECT_LT(size(file, "br"), size(file, "gzip")) << file;
        EXPECT_LT(size(file, "gzip"), size(file, "identity")) << file;
    }
}

TEST_F(Pages, TheReferenceShowsTheServersOwnDocument) {
    const auto page = browser.get("/docs/");
    for (const auto& file : files_of(page.body)) {
        if (!file.starts_with("/docs/docs.") || !file.ends_with(".js")) continue;
        const auto script = browser.get(file).body;
        EXPECT_THAT(script, HasSubstr(R"(url: "/openapi.json")"));
        EXPECT_THAT(script, HasSubstr("validatorUrl: null"));
        EXPECT_THAT(script, HasSubstr("X-Board-Version"));
        EXPECT_THAT(script, HasSubstr("X-CSRF-Token"));
        EXPECT_THAT(script, Not(HasSubstr("http:")));
        EXPECT_EQ(browser.get("/openapi.json").status, 200);
        return;
    }
    FAIL() << "the page has no script of its own";
}

TEST_F(Pages, WhatIsNowhereIsAPageForBrowsersAndJsonForPrograms) {
    const Headers browsers{{"Accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}};
    const auto page = browser.send("GET", "/nowhere/at/all", {}, browsers);
    EXPECT_EQ(page.status, 404);
    EXPECT_THAT(page.header("content-type"), HasSubstr("text/html"));
    EXPECT_THAT(page.body, HasSubstr("Nothing here"));
    for (const auto& file : files_of(page.body)) EXPECT_EQ(browser.get(file).status, 200) << file;
    for (const auto& answer :
         {browser.get("/nowhere/at/all"),
          browser.send("POST", "/nowhere", "{}", browsers),
          browser.send("GET", "/v1/nowhere", {}, browsers)}) {
        EXPECT_EQ(answer.status, 404);
        EXPECT_EQ(answer.header("content-type"), "application/json");
    }
    EXPECT_EQ(browser.get("/favicon.ico").status, 200);
    EXPECT_THAT(browser.get("/robots.txt").body, HasSubstr("Disallow: /"));
}

TEST_F(Pages, EveryAnswerTellsBrowsersToTrustItNoFurtherThanItGoes) {
    for (const std::string path : {"/", "/nowhere", "/healthz", "/openapi.json", "/v1/me"}) {
        const auto answer = browser.get(path);
        EXPECT_EQ(answer.header("x-content-type-options"), "nosniff") << path;
        EXPECT_EQ(answer.header("referrer-policy"), "no-referrer") << path;
        EXPECT_THAT(answer.header("content-security-policy"), HasSubstr("frame-ancestors 'none'"));
    }
}

TEST_F(Pages, LeadOnlyToWhatIsSwitchedOn) {
    const auto whole = browser.get("/").body;
    EXPECT_THAT(whole, HasSubstr("href=\"/docs\""));
    EXPECT_THAT(whole, HasSubstr("href=\"/signup\""));
    EXPECT_THAT(whole, Not(HasSubstr("/v1/mcp"))) << "there is no MCP on this server";
    EXPECT_THAT(whole, Not(HasSubstr("<!--")));
    const Server bare(
        {.database_url = Postgres::shared().fresh_database(),
         .settings = {"modules=mail", "plugins=mail-file"}}
    );
    Client visitor{bare.port()};
    const auto little = visitor.get("/").body;
    for (const std::string path : {"/docs", "/signup", "/login", "/boards"}) {
        EXPECT_THAT(little, Not(HasSubstr("href=\"" + path))) << path;
        EXPECT_EQ(visitor.get(path).status, 404) << path;
    }
}

TEST_F(Pages, OfErrorsAndChangesStandBesideTheReference) {
    for (const std::string path : {"/docs/errors", "/docs/changes"}) {
        const auto page = browser.get(path);
        EXPECT_EQ(page.status, 200) << path;
        EXPECT_THAT(page.header("content-type"), HasSubstr("text/html"));
        EXPECT_THAT(page.header("content-security-policy"), HasSubstr("default-src 'none'"));
        EXPECT_THAT(browser.get("/openapi.json").body, HasSubstr("](" + path + ")"));
    }
    const auto errors = browser.get("/docs/errors").body;
    EXPECT_THAT(errors, HasSubstr("<title>Errors – Workboard</title>"));
    EXPECT_THAT(
        errors, HasSubstr("<td><code id=\"version_conflict\">version_conflict</code></td>")
    );
    EXPECT_THAT(errors, HasSubstr("<code id=\"token_expired\">")) << "not the first in its cell";
    EXPECT_THAT(errors, HasSubstr("&quot;object&quot;: &quot;error&quot;"));
    EXPECT_THAT(errors, Not(HasSubstr("\n|"))) << "a table is a table";
}

TEST_F(Pages, NothingElseIsServed) {
    for (const std::string path :
         {"/docs/nothing.js",
          "/docs/../server.key",
          "/..%2fserver.key",
          "/docs/%2e%2e/www/index.html"})
        EXPECT_GE(browser.get(path).status, 400) << path;
    EXPECT_EQ(browser.send("POST", "/docs", "x").status, 405);
}

}  // namespace
}  // namespace svc::test
