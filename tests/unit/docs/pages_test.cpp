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
        .settings = {"modules=docs", "plugins="},
    }};
    Client browser{server.port()};
};

TEST_F(Pages, NeedNothingFromElsewhere) {
    for (const std::string path : {"/", "/docs", "/login", "/verify-email", "/reset-password"}) {
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
