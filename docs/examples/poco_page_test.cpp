#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

/// The page of CONTRIBUTING.md that is written against POCO, in a real server.
namespace svc::test {

class PocoPage : public testing::Test {
protected:
    static void SetUpTestSuite() {
        server_ = std::make_unique<Server>(Server::Options{
            .database_url = Postgres::shared().fresh_database(),
            .settings = {"modules=mail", "plugins=mail-file,poco-page"},
        });
    }
    static void TearDownTestSuite() { server_.reset(); }

    Client client = server_->client();

    Reply post(const std::string& form, const std::string& query = "") {
        return client.post(
            "/checklist" + query, form, {{"Content-Type", "application/x-www-form-urlencoded"}}
        );
    }

private:
    static inline std::unique_ptr<Server> server_;
};

TEST_F(PocoPage, ShowsItsFormAndTheTitleThatTheQueryNames) {
    const auto page = expect(200, client.get("/checklist?title=Spring+release%21"));
    EXPECT_EQ(page.header("content-type"), "text/html; charset=utf-8");
    EXPECT_NE(page.body.find(R"(name="title" value="Spring release!")"), std::string::npos)
        << page.body;
    EXPECT_EQ(page.body.find("<pre>"), std::string::npos) << "no checklist was asked for";
}

TEST_F(PocoPage, MakesAChecklistOfWhatIsPosted) {
    const auto page = expect(200, post("title=Release&lines=Tag+it%0D%0A%0D%0A++Tell+people"));
    EXPECT_NE(
        page.body.find("<pre>## Release\n\n- [ ] Tag it\n- [ ] Tell people\n</pre>"),
        std::string::npos
    ) << page.body;
    const auto titled = expect(200, post("lines=Tag+it", "?title=By+query"));
    EXPECT_NE(titled.body.find("<pre>## By query\n\n- [ ] Tag it\n"), std::string::npos);
}

TEST_F(PocoPage, ShowsAFormOfSeveralPartsAlike) {
    const std::string part = "--cut\r\nContent-Disposition: form-data; name=\"lines\"\r\n\r\n";
    const auto page = expect(
        200,
        client.post(
            "/checklist",
            part + "Tag it\r\n--cut--\r\n",
            {{"Content-Type", "multipart/form-data; boundary=cut"}}
        )
    );
    EXPECT_NE(page.body.find("<pre>- [ ] Tag it\n</pre>"), std::string::npos) << page.body;
}

TEST_F(PocoPage, LetsNobodyWriteMarkupIntoIt) {
    const std::string hostile = "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E%26%27";
    const auto page = expect(200, post("title=" + hostile + "&lines=%3C%2Ftextarea%3E" + hostile));
    EXPECT_EQ(page.body.find("<script"), std::string::npos) << page.body;
    EXPECT_NE(page.body.find(R"(value="&quot;&gt;&lt;script&gt;)"), std::string::npos);
    EXPECT_NE(page.body.find("&lt;/textarea&gt;"), std::string::npos);
    EXPECT_NE(page.body.find("&amp;&#39;"), std::string::npos);
    EXPECT_EQ(
        page.header("content-security-policy"),
        "default-src 'none'; form-action 'self'; frame-ancestors 'none'"
    );
}

TEST_F(PocoPage, RefusesWhatIsNoForm) {
    std::string many;
    for (int i = 0; i < 200; ++i) many += "field" + std::to_string(i) + "=x&";
    for (const std::string& form :
         {std::string("title=%"),
          std::string("title=%zz"),
          many,
          "lines=" + std::string(300'000, 'x')}) {
        const auto refused = expect(400, post(form));
        EXPECT_EQ(refused.body, "This form cannot be read.\n") << form.substr(0, 20);
    }
    EXPECT_EQ(client.get("/checklist?title=%zz").status, 400);
    EXPECT_EQ(
        client.post("/checklist", "--x", {{"Content-Type", "multipart/form-data"}}).status, 400
    );
    EXPECT_EQ(post("lines=" + std::string(2 << 20, 'x')).status, 413) << "beyond the route's limit";
}

TEST_F(PocoPage, AnswersHeadWithoutABody) {
    const auto page = expect(200, client.get("/checklist?title=a"));
    const auto head = expect(200, client.send("HEAD", "/checklist?title=a"));
    EXPECT_EQ(head.header("content-length"), std::to_string(page.body.size()));
    EXPECT_EQ(head.header("content-type"), page.header("content-type"));
    EXPECT_EQ(head.body, "");
    // Had a body followed, this answer would begin with it.
    EXPECT_EQ(client.get("/checklist?title=a").body, page.body);
}

TEST_F(PocoPage, TellsWhichMethodsItTakes) {
    const auto refused = expect(405, client.send("PUT", "/checklist", "x"));
    EXPECT_EQ(refused.header("allow"), "GET, HEAD, POST, OPTIONS");
    EXPECT_EQ(refused.text("/code"), "invalid_request");
}

TEST_F(PocoPage, MakesChecklistsOfThousandsOfLines) {
    std::string lines;
    for (int i = 0; i < 60'000; ++i) lines += "a%0A";
    const auto page = expect(200, post("lines=" + lines));
    EXPECT_GT(page.body.size(), 60'000u * (2 + 8));
    EXPECT_EQ(page.body.find("</pre>\n"), page.body.size() - 7);
}

TEST_F(PocoPage, ServesManyAtOnceEachWithItsOwn) {
    constexpr int clients = 16, requests = 50;
    std::atomic<int> right{0};
    std::vector<std::thread> crowd;
    for (int number = 0; number < clients; ++number)
        crowd.emplace_back([&, own = client, number]() mutable {
            for (int i = 0; i < requests; ++i) {
                const auto title = std::to_string(number) + "x" + std::to_string(i);
                const auto page = own.get("/checklist?title=" + title);
                right += page.status == 200 &&
                         page.body.find("value=\"" + title + "\"") != std::string::npos;
            }
        });
    for (auto& each : crowd) each.join();
    EXPECT_EQ(right, clients * requests);
}

}  // namespace svc::test
