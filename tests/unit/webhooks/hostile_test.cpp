// Endpoints that do not behave, beside one that does.

#include "tests/unit/webhooks/webhooks_fixture.hpp"

#include <sys/socket.h>

namespace svc::test {
namespace {

class HostileEndpoints : public WebhooksTest {
protected:
    HostileEndpoints() : WebhooksTest({"webhooks.timeout_seconds=2"}) {}

    void drip(const std::string& path, const std::string& first, const std::string& drop) {
        receiver.answer(path, [this, first, drop](int socket, const Received&) {
            write_all(socket, first);
            while (!receiver.stopping() && write_all(socket, drop))
                std::this_thread::sleep_for(5ms);
            return false;
        });
    }
};

TEST_F(HostileEndpoints, DelayNoOtherAndBringNothingDown) {
    drip("/hangs", "", "");
    drip("/drips", "HTTP/1.1 200 OK\r\n", "X: y\r\n");
    drip("/streams", "HTTP/1.1 200 OK\r\n\r\n", std::string(60'000, 'z'));
    receiver.answer("/redirects", 307, "Location: http://127.0.0.1:1/\r\n");
    receiver.answer("/refuses", 500);
    receiver.answer("/resets", [](int socket, const Received&) {
        const linger now{1, 0};
        ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
    });
    receiver.answer("/garbage", [](int socket, const Received&) {
        return write_all(socket, std::string(100'000, '\xFF')) && false;
    });
    std::map<std::string, std::string> ids;
    const json::object taking{{"events", {"board.created"}}};
    for (const char* path :
         {"/hangs", "/drips", "/streams", "/redirects", "/refuses", "/resets", "/garbage"})
        ids[path] = make_webhook(receiver.url(path), taking).text("/id");
    ids["/closed"] = make_webhook("http://127.0.0.1:1/", taking).text("/id");
    ids["/no-name"] = make_webhook("http://no-such-host.invalid/", taking).text("/id");
    ids["/no-tls"] =
        make_webhook("https://127.0.0.1:" + std::to_string(receiver.port()) + "/", taking)
            .text("/id");
    make_webhook(receiver.url("/good"), taking);

    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 10; ++i) make_board("Board " + std::to_string(i));
    ASSERT_TRUE(eventually([&] { return receiver.count("/good") == 10; }));
    EXPECT_EQ(ask("SELECT count(*) FROM webhook_deliveries WHERE status = 'abandoned'"), "0");
    const auto turns = (std::chrono::steady_clock::now() - begun) / std::chrono::seconds(2);
    EXPECT_LE(receiver.count("/hangs"), static_cast<std::size_t>(2 + turns)) << "one at a time";

    const std::map<std::string, std::string> errors{
        {"/hangs", "no answer in time"},
        {"/drips", "no answer in time"},
        {"/redirects", "answered 307; redirects are not followed"},
        {"/refuses", "answered 500"},
        {"/resets", ""},
        {"/garbage", "this is no HTTP answer"},
        {"/closed", "cannot connect: Connection refused"},
        {"/no-name", "no-such-host.invalid has no address"},
        {"/no-tls", ""},
    };
    for (const auto& [path, error] : errors) {
        const auto failed = delivery(ids.at(path), "failed");
        const std::string said(failed.at("attempts").at(0).at("error").as_string());
        EXPECT_THAT(said, testing::HasSubstr(error)) << path;
        EXPECT_NE(said, "") << path;
    }
    EXPECT_EQ(
        delivery(ids.at("/streams"), "succeeded").at("attempts").at(0).at("status_code"), 200
    );
    EXPECT_LE(
        delivery(ids.at("/streams"), "succeeded").at("response_excerpt").as_string().size(), 1024u
    );
}

/// A server whose webhooks may go to the internet alone.
class GuardedWebhooks : public AgentsTest {
protected:
    WebhookReceiver receiver;
};

TEST_F(GuardedWebhooks, PrivateTargetsAreRefusedWhenTheyAreNamedAndWhenTheyAreSentTo) {
    const auto refused = ada.post("/v1/webhooks", json::value{{"url", receiver.url()}});
    EXPECT_EQ(json::serialize(first_loc(expect(422, refused))), R"(["body","url"])");
    const auto id =
        expect(201, ada.post("/v1/webhooks", json::value{{"url", "https://example.com/"}}))
            .text("/id");
    EXPECT_EQ(
        send(ada, "PATCH", "/v1/webhooks/" + id, {{"url", "https://169.254.169.254/"}}).status, 422
    );
    const auto error_after = [&](const std::string& url) {
        ask("UPDATE webhooks SET url = '" + url + "' RETURNING 1");
        ask("DELETE FROM webhook_deliveries RETURNING 1");
        ask("UPDATE webhook_endpoints SET consecutive_failures = 0, probe_at = NULL RETURNING 1");
        expect(202, ada.post("/v1/webhooks/" + id + ":test"));
        std::string error;
        EXPECT_TRUE(eventually([&] {
            error = ask("SELECT attempts -> 0 ->> 'error' FROM webhook_deliveries");
            return !error.empty();
        }));
        return error;
    };
    // As they stand there once an operator has revoked the permission.
    EXPECT_EQ(error_after(receiver.url()), "events are sent over https alone");
    EXPECT_EQ(
        error_after("https://127.0.0.1:" + std::to_string(receiver.port())),
        "events are sent to the ports 443 and 8443"
    );
    EXPECT_EQ(error_after("https://127.0.0.1/"), "this is not on the public internet");
    EXPECT_EQ(receiver.connections(), 0);
}

}  // namespace
}  // namespace svc::test
