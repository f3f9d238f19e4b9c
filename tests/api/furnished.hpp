#pragma once

#include "tests/api/interface.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/reused_server.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

/// Workspaces that have one of everything: things are made by the operations that make things, and
/// ids are read off what lists and answers say. So operations that come later are covered as they
/// are.
namespace svc::test {

/// What an id is called where it stands in a path, if not after the thing itself.
inline const std::map<std::string, std::vector<std::string>> also_called{
    {"org_id", {"organization"}},
    {"session_id", {"user_session"}},
    {"principal_id", {"agent"}},
    {"parent_id", {"block", "card"}},
    {"outbox_id", {"email_outbox", "email"}},
    {"link_id", {"card_link", "link"}},
    {"run_id", {"automation_run"}},
    {"delivery_id", {"webhook_delivery"}},
    {"automation_id", {"agent"}},  // scripts are the operator's: no workspace has the id of one
};

/// Bodies of operations that the smallest and the largest body of the schema do not fit, because
/// fields exclude each other or texts have a form of their own. Ids are filled in by their names.
inline const std::map<std::string, std::string> bodies{
    {"create_token", R"({"kind": "agent", "name": "Key", "agent_id": "{agent_id}"})"},
    {"create_column", R"({"name": "Queue", "kind": "queue", "queue": {"enabled": true}})"},
    {"create_board", R"({"name": "Board"})"},
    {"create_webhook", R"({"url": "https://hooks.example.com/{random}"})"},
    {"link_cards", R"({"type": "relates", "target_id": "BOA-2"})"},
    {"presign_file", R"({"filename": "a.txt", "content_type": "text/plain"})"},
    {"presign_feedback_screenshot", R"({"filename": "a.png", "content_type": "image/png"})"},
    {"update_member", R"({"role": "member"})"},
    {"add_member", R"({"email": "carol-{random}@example.com"})"},
    {"move_block", R"({"parent_id": "{card_id}"})"},
    {"append_block_children", R"({"children": [{"paragraph": {}}]})"},
    {"batch_blocks", R"({"operations": [{"op": "delete", "id": "{block_id}"}]})"},
    {"batch_cards", R"({"operations": [{"update": {"card_id": "{card_id}", "title": "Other"}}]})"},
    {"create_comment", R"({"parent": {"card_id": "{card_id}"}, "markdown": "Hello"})"},
};

/// Not called to make things: it would end or lock out the very caller.
inline const std::set<std::string> not_made_by{"create_org", "log_out", "sign_up", "log_in"};

class Side {
public:
    Side(const Server& server, const std::string& email, const std::string& name)
        : workspace(make_workspace(server, email, name)) {
        note("organization", workspace.org_id);
        note("user", workspace.user_id);
    }

    void note(const std::string& object, const std::string& id) {
        if (!is_uuid(id)) return;
        auto& known = ids_[object];
        if (std::ranges::find(known, id) == known.end()) known.push_back(id);
    }
    /// Every id in an answer, by the `object` it is of or by the name it goes by.
    void learn(const json::value& answer) {
        if (const auto* list = answer.if_array())
            for (const auto& each : *list) learn(each);
        const auto* object = answer.if_object();
        if (!object) return;
        const auto* kind = object->if_contains("object");
        const auto* id = object->if_contains("id");
        if (kind && kind->is_string() && id && id->is_string()) {
            // A reference to a principal says `user` whatever it is.
            const auto* sort = object->if_contains("principal_type");
            note(std::string((sort ? sort : kind)->as_string()), std::string(id->as_string()));
        }
        for (const auto& [name, value] : *object) {
            if (value.is_string() && std::string_view(name).ends_with("_id"))
                note(std::string(name), std::string(value.as_string()));
            learn(value);
        }
    }
    std::optional<std::string> id_for(const std::string& parameter) const {
        std::vector<std::string> names;
        if (parameter.ends_with("_id")) names.push_back(parameter.substr(0, parameter.size() - 3));
        if (const auto also = also_called.find(parameter); also != also_called.end())
            names.insert(names.end(), also->second.begin(), also->second.end());
        names.push_back(parameter);
        for (const auto& each : names)
            if (const auto found = ids_.find(each); found != ids_.end())
                return found->second.front();
        return std::nullopt;
    }
    /// Values for a path; nothing, and the name of the first that is missing, when there is one.
    std::optional<std::map<std::string, std::string>> fill(
        const Described& operation, std::string& missing
    ) const {
        std::map<std::string, std::string> values;
        for (const Parameter& each : operation.in_path) {
            const auto value = is_id(each) ? id_for(each.name) : std::optional(word(each));
            if (!value) {
                missing = each.name;
                return std::nullopt;
            }
            values[each.name] = *value;
        }
        return values;
    }

    Workspace workspace;

private:
    static bool is_uuid(const std::string& text) { return Uuid::parse(text).has_value(); }
    std::map<std::string, std::vector<std::string>> ids_;
};

/// A server, what its document says, and how a workspace on it is filled.
class Furnished : public testing::Test {
protected:
    Furnished() : interface(server.client().get("/openapi.json").json()) {}

    /// One of everything, as far as operations make it; three times over, for what needs others
    /// first.
    void furnish(Side& side) {
        for (int round = 0; round < 3; ++round) {
            for (const Described& each : interface.operations())
                if (makes_something(each)) make(side, each);
            for (const Described& each : interface.operations())
                if (each.method == "GET" && !each.for_anyone) look(side, each);
        }
        work(side);
        notify(side);
    }
    static bool makes_something(const Described& operation) {
        const bool post = (operation.method == "POST" && operation.status == 201) ||
                          operation.name == "append_block_children";
        return !operation.for_anyone && !not_made_by.contains(operation.name) &&
               (post || operation.method == "PUT");
    }
    void make(Side& side, const Described& operation) {
        std::string missing;
        const auto values = side.fill(operation, missing);
        if (!values) return;
        for (const auto& body : bodies_for(side, operation)) {
            const auto made =
                side.workspace.client.send(operation.method, operation.at(*values), body);
            if (made.status / 100 != 2) continue;
            if (!made.body.empty()) side.learn(made.json());
            return;
        }
    }
    void look(Side& side, const Described& operation) {
        std::string missing;
        const auto values = side.fill(operation, missing);
        if (!values) return;
        const auto seen = side.workspace.client.get(operation.at(*values));
        if (seen.status == 200) side.learn(seen.json());
    }
    /// A lease, which only work leaves.
    void work(Side& side) {
        const auto board = side.id_for("board_id").value();
        const json::value columns =
            expect(200, side.workspace.client.get("/v1/boards/" + board + "/columns")).json();
        for (const auto& column : columns.at("results").as_array()) {
            if (column.at("kind") != "queue") continue;
            const std::string id(column.at("id").as_string());
            const json::value card{{"column_id", id}, {"title", "Work"}};
            expect(201, side.workspace.client.post("/v1/boards/" + board + "/cards", card));
            side.learn(expect(
                           200,
                           side.workspace.client.post(
                               "/v1/boards/" + board + "/columns/" + id + ":claim-next"
                           )
            )
                           .json());
            return;
        }
        FAIL() << "there is no queue to claim from";
    }

    /// A notification, which only others cause: an agent gives the owner a card.
    void notify(Side& side) {
        Client agent = server.client();
        agent.token(side.workspace.mint("agent", "Messenger"));
        const json::value mine{{"assignees", {side.workspace.user_id}}};
        const auto card = "/v1/cards/" + side.id_for("card_id").value();
        expect(200, agent.send("PATCH", card, json::serialize(mine)));
        ASSERT_TRUE(eventually([&] {
            const auto list = expect(200, side.workspace.client.get("/v1/notifications"));
            side.learn(list.json());
            return side.id_for("notification_id").has_value();
        }));
    }

    /// Bodies to try, one after the other, until one is not refused for its form.
    std::vector<std::string> bodies_for(const Side& side, const Described& operation) const {
        if (const auto known = bodies.find(operation.name); known != bodies.end())
            return {filled(side, known->second)};
        if (!operation.body) return {""};
        const auto ids = [&](const std::string& name) { return side.id_for(name); };
        std::vector<std::string> all;
        for (const auto fields : {Interface::Fields::required, Interface::Fields::all})
            all.push_back(json::serialize(interface.sample(*operation.body, fields, ids)));
        return all;
    }
    static std::string filled(const Side& side, std::string text) {
        for (auto at = text.find('{', 1); at != text.npos; at = text.find('{', at + 1)) {
            const auto end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at + 1);
            if (end == text.npos || text[end] != '}' || end == at + 1) continue;
            const auto name = text.substr(at + 1, end - at - 1);
            const auto value = name == "random" ? new_uuid().str() : side.id_for(name).value_or("");
            text.replace(at, end - at + 1, value);
        }
        return text;
    }

    std::vector<Described> with_ids() const {
        std::vector<Described> list;
        for (const Described& each : interface.operations())
            if (!each.for_anyone && std::ranges::any_of(each.in_path, is_id)) list.push_back(each);
        return list;
    }

private:
    ReusedServer reused_;

protected:
    const std::string& database = reused_.database();
    Server& server = reused_.server();
    Interface interface;
};

}  // namespace svc::test
