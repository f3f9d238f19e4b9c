#pragma once

#include "tests/support/eventually.hpp"
#include "tests/unit/files/files_fixture.hpp"
#include "tests/unit/orgs/orgs_fixture.hpp"

/// Ada's workspace on the real program, and what reports and surveys take.
namespace svc::test {

using testing::HasSubstr;
using testing::Not;

class FeedbackTest : public WorkspacesTest {
protected:
    explicit FeedbackTest(std::vector<std::string> settings = {})
        : WorkspacesTest(with_key(std::move(settings))), user(id_of(ada)) {}

    static std::vector<std::string> with_key(std::vector<std::string> settings) {
        settings.emplace_back(key_of_all_servers);
        return settings;
    }

    static Reply give(Client& by, json::object more = {}, const std::string& query = "") {
        json::object body{{"type", "bug"}, {"message", "The board does not load."}};
        for (const auto& [name, value] : more) body[name] = value;
        return by.post("/v1/feedback" + query, json::value(body));
    }
    static Reply read(Client& by, const std::string& id) { return by.get("/v1/feedback/" + id); }
    static Reply presign(Client& by, json::object more = {}) {
        json::object body{{"filename", "shot.png"}, {"content_type", "image/png"}};
        for (const auto& [name, value] : more) body[name] = value;
        return by.post("/v1/feedback/screenshots:presign", json::value(body));
    }
    static Reply commit(Client& by, const std::string& id, const std::string& query = "") {
        return by.post("/v1/feedback/screenshots/" + id + ":commit" + query);
    }
    Reply upload(const Announced& to, const std::string& bytes) {
        Form form = to.form;
        form.file = bytes;
        return client().post(path_of(to.url), form.body(), Form::headers());
    }
    /// A screenshot that is available; its id.
    std::string screenshot(Client& by) {
        const Announced made(expect(201, presign(by)));
        expect(204, upload(made, png));
        return expect(200, commit(by, made.id)).text("/id");
    }

    static std::string because(const Reply& reply) {
        return reply.text("/additional_data/rate_limit_reason");
    }
    /// The windows that are open have been so for that much longer.
    void an_hour_goes_by(const std::string& interval = "1 hour") {
        ask("UPDATE rate_windows SET opened_at = opened_at - interval '" + interval +
            "', ends_at = ends_at - interval '" + interval + "'");
    }

    /// The command as the operator of this server gives it, who has its key.
    Finished operator_says(std::vector<std::string> words) {
        words.insert(words.end(), {"--set", key_of_all_servers});
        return operate(std::move(words));
    }

    static std::string path_of(const std::string& url) {
        return url.substr(url.find('/', url.find("//") + 2));
    }

    std::string user;
};

}  // namespace svc::test
