#pragma once

#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/recurring_jobs.hpp"
#include "tests/support/workspace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// A server with its own store, and what uploading to it takes.
namespace svc::test {

namespace json = boost::json;

inline const std::string png("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16);

/// A multipart/form-data form, the file as its last part.
struct Form {
    std::vector<std::pair<std::string, std::string>> fields;
    std::string file;

    static constexpr std::string_view boundary = "----TestBoundary42";
    std::string body() const {
        std::string out;
        const auto open = [&](const std::string& rest) {
            out += "--" + std::string(boundary) + "\r\nContent-Disposition: form-data; " + rest;
        };
        for (const auto& [name, value] : fields)
            open("name=\"" + name + "\"\r\n\r\n" + value + "\r\n");
        open("name=\"file\"; filename=\"x\"\r\nContent-Type: a/b\r\n\r\n" + file + "\r\n");
        return out + "--" + std::string(boundary) + "--\r\n";
    }
    static Headers headers() {
        return {{"Content-Type", "multipart/form-data; boundary=" + std::string(boundary)}};
    }
    std::string& operator[](const std::string& name) {
        for (auto& [each, value] : fields)
            if (each == name) return value;
        return fields.emplace_back(name, "").second;
    }
    void leave_out(const std::string& name) {
        std::erase_if(fields, [&](const auto& each) { return each.first == name; });
    }
};

/// What presign_file answered.
struct Announced {
    explicit Announced(const Reply& reply) : answer(reply.json()) {
        id = answer.at("id").as_string();
        url = answer.at("upload_url").as_string();
        for (const auto& [name, value] : answer.at("upload_url_fields").as_object())
            form.fields.emplace_back(name, value.as_string());
    }
    json::value answer;
    std::string id, url;
    Form form;
};

class FilesTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        database = Postgres::shared().fresh_database();
        server = std::make_unique<Server>(Server::Options{
            .database_url = database,
            .settings = {"files.sweep_seconds=1", "files.pending_uploads=20"},
        });
    }
    static void TearDownTestSuite() { server.reset(); }

    FilesTest() : space(make_workspace(*server, "p" + std::to_string(++people) + "@example.com")) {
        board = expect(201, me().post("/v1/boards", json::value{{"name", "Desk"}})).text("/id");
        column = expect(200, me().get("/v1/boards/" + board + "/columns")).text("/results/0/id");
        card = new_card(board, column);
    }
    Client& me() { return space.client; }

    std::string new_card(const std::string& on, const std::string& in) {
        const json::value body{{"column_id", in}, {"title", "Card"}};
        return expect(201, me().post("/v1/boards/" + on + "/cards", body)).text("/id");
    }
    /// Somebody else of the workspace, as a program: a token of this role.
    Client token(const std::string& role, const std::string& kind = "integration") {
        json::object body{{"kind", kind}, {"name", "T"}, {"role", role}};
        if (kind == "agent") body["agent"] = {{"name", "Robot"}};
        Client made = server->client();
        made.token(expect(201, me().post("/v1/tokens", json::value(body))).text("/token"));
        return made;
    }

    static Reply presign(Client& by, json::object what) {
        return by.post("/v1/files:presign", json::value(std::move(what)));
    }
    Announced announce(
        Client& by, json::object what = {{"filename", "a.png"}, {"content_type", "image/png"}}
    ) {
        return Announced(expect(201, presign(by, std::move(what))));
    }
    static std::string path_of(const std::string& url) {
        return url.substr(url.find('/', url.find("//") + 2));
    }
    static Reply send(const Announced& to, const Form& form) {
        return server->client().post(path_of(to.url), form.body(), Form::headers());
    }
    static Reply upload(const Announced& to, const std::string& bytes) {
        Form form = to.form;
        form.file = bytes;
        return send(to, form);
    }
    static Reply commit(Client& by, const std::string& id) {
        return by.post("/v1/files/" + id + ":commit");
    }
    /// A file that is available; its id.
    std::string file(Client& by, const std::string& bytes = png, const json::object& what = {}) {
        json::object wanted{{"filename", "a.png"}, {"content_type", "image/png"}};
        for (const auto& [name, value] : what) wanted[name] = value;
        const Announced made = announce(by, wanted);
        expect(204, upload(made, bytes));
        expect(200, commit(by, made.id));
        return made.id;
    }
    static Reply attach(Client& by, const std::string& to, const std::string& id) {
        return by.post("/v1/cards/" + to + "/attachments", json::value{{"file_id", id}});
    }
    static Reply download(const std::string& url, const Headers& headers = {}) {
        return server->client().send("GET", path_of(url), {}, headers);
    }
    static Reply read(Client& by, const std::string& id) { return by.get("/v1/files/" + id); }

    /// What lies in the store below the workspace's folder.
    std::size_t objects_of(const std::string& id) const {
        const auto folder = server->var() / "objects" / space.org_id / id;
        std::error_code gone;  // the server may just be removing it
        const std::filesystem::directory_iterator entries(folder, gone);
        return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
    }
    static std::string run(const std::string& sql) { return Postgres::shared().run(sql, database); }

    inline static std::unique_ptr<Server> server;
    inline static std::string database;
    inline static int people = 0;
    Workspace space;
    std::string board, column, card;
};

}  // namespace svc::test
