#pragma once

#include "tests/support/recurring_jobs.hpp"
#include "tests/support/webhook_receiver.hpp"
#include "tests/unit/agents/agents_fixture.hpp"

#include "modules/webhooks/lib/signature.hpp"

#include <thread>

/// Webhooks of a workspace on the real program, and an endpoint that they are sent to.
namespace svc::test {

using namespace std::chrono_literals;

class WebhooksTest : public AgentsTest {
protected:
    explicit WebhooksTest(std::vector<std::string> settings = {})
        : AgentsTest(with_private_targets(std::move(settings))) {}

    static std::vector<std::string> with_private_targets(std::vector<std::string> settings) {
        settings.emplace_back("webhooks.allow_private_targets=true");
        return settings;
    }

    Reply make_webhook(const std::string& url, json::object more = {}) {
        more["url"] = url;
        return expect(201, ada.post("/v1/webhooks", json::value(more)));
    }
    std::string path_of(const std::string& webhook, const std::string& more = "") const {
        return "/v1/webhooks/" + webhook + more;
    }
    Reply read_webhook(const std::string& id) { return expect(200, ada.get(path_of(id))); }
    Reply change(const std::string& id, json::value what) {
        return expect(200, send(ada, "PATCH", path_of(id), std::move(what)));
    }
    /// Its deliveries, newest first.
    json::array deliveries(const std::string& webhook, const std::string& query = "") {
        return expect(200, ada.get(path_of(webhook, "/deliveries" + query)))
            .json()
            .at("results")
            .as_array();
    }
    /// Waits until there is one like this; its newest.
    json::object delivery(const std::string& webhook, const std::string& status) {
        json::object found;
        const bool there = eventually([&] {
            for (const json::value& each : deliveries(webhook))
                if (each.at("status").as_string() == status) return found = each.as_object(), true;
            return false;
        });
        if (!there) throw std::runtime_error("no delivery is " + status);
        return found;
    }

    /// An event of the workspace: a board is made. Its id.
    std::string make_board(const std::string& name) {
        return expect(201, ada.post("/v1/boards", json::value{{"name", name}})).text("/id");
    }
    std::string ask_endpoint(const std::string& webhook, const std::string& what) {
        return ask(
            "SELECT " + what + " FROM webhook_endpoints WHERE webhook_id = '" + webhook + "'"
        );
    }

    static std::string signature_of(const Received& received, const std::string& secret) {
        const auto sent = received.header("x-svc-signature");
        const std::int64_t at = std::stoll(sent.substr(2, sent.find(',') - 2));
        return webhooks::signature({secret}, at, received.body);
    }

    /// From now on it answers so there, once `gate` is opened.
    void hold(const std::string& path, int status, const std::atomic<bool>& gate) {
        receiver.answer(path, [this, status, &gate](int socket, const Received&) {
            while (!gate && !receiver.stopping()) std::this_thread::sleep_for(5ms);
            return write_all(socket, http_answer(status));
        });
    }

    std::atomic<bool> opened{false}, opened_too{false};  ///< gates; the receiver goes before them
    WebhookReceiver receiver;
};

}  // namespace svc::test
