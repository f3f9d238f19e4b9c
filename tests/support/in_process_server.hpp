#pragma once

#include "core/app.hpp"
#include "core/kernel_impl.hpp"
#include "tests/support/places.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/program.hpp"
#include "tests/support/refusals.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <thread>

/// Modules as they are shipped, on a database of their own, without a server in front: operations
/// are run for callers that the test vouches for.
namespace svc::test {

using boost::json::value;

/// What an operation answered.
struct Answer {
    int status = 0;
    value body;

    std::string text(std::string_view pointer) const {
        return std::string(body.at_pointer(pointer).as_string());
    }
    std::int64_t number(std::string_view pointer) const {
        return body.at_pointer(pointer).to_number<std::int64_t>();
    }
    Uuid id(std::string_view pointer = "/id") const { return Uuid::parse(text(pointer)).value(); }
};

class InProcessServer {
public:
    explicit InProcessServer(
        const std::string& modules = "mail,orgs,auth,agents,boards,queue",
        const std::string& plugins = ""
    )
        : url_(Postgres::shared().fresh_database()) {
        // in_process() is never destroyed; what lies in its folder goes when the program ends.
        static const TempFolder all("workboard-in-process");
        static std::atomic<int> count{0};
        const auto var = all.path() / std::to_string(++count);
        core::Config::Sources sources;
        sources.flags = {
            {"modules", modules},
            {"plugins", plugins},
            {"server.var", var.string()},
            {"server.base_url", "https://board.example"},
            {"database.url", url_},
            {"database.pool", "20"},
            {"log.level", "warning"},
        };
        const std::filesystem::path build = build_folder();
        app_ = std::make_unique<core::App>(
            sources, core::Places{build / "lib" / "modules", build / "share"}
        );
        app_->open_modules();
        app_->open_database();
    }

    /// A workspace and its owner.
    Caller owner_of_new_org(const std::string& name = "Acme") {
        const Uuid org = new_uuid(), user = new_uuid();
        run("INSERT INTO orgs (id, name, slug, created_by, last_edited_by) VALUES ('" + org.str() +
            "', '" + name + "', '" + org.str() + "', '" + user.str() + "', '" + user.str() + "')");
        return join(org, user, OrgRole::owner, "Olga Owner");
    }

    /// Somebody more in that workspace.
    Caller person(const Caller& of, OrgRole role, const std::string& name) {
        return join(*of.org_id, new_uuid(), role, name);
    }

    /// An agent of `owner`'s.
    Caller agent(const Caller& owner, OrgRole role, const std::string& name) {
        const Uuid id = new_uuid();
        run("INSERT INTO agents (org_id, id, role, owner_user_id, created_by, last_edited_by)"
            " SELECT '" +
            owner.org_id->str() + "', '" + id.str() + "', '" + std::string(name_of(role)) +
            "', u, u, u FROM (SELECT '" + owner.id.str() + "'::uuid AS u) o");
        name_principal(*owner.org_id, id, "agent", name);
        Caller agent = owner;
        agent.type = PrincipalType::agent;
        agent.id = id;
        agent.name = name;
        agent.role = role;
        agent.token_id = new_uuid();
        return agent;
    }

    void grant(const Uuid& board, const Caller& to, const std::string& role) {
        run("INSERT INTO board_grants (org_id, principal_id, board_id, id, role, created_by,"
            " last_edited_by) VALUES ('" +
            to.org_id->str() + "', '" + to.id.str() + "', '" + board.str() + "', '" +
            new_uuid().str() + "', '" + role + "', '" + to.id.str() + "', '" + to.id.str() + "')");
    }

    Answer ask(const Caller& caller, std::string_view operation, const value& arguments) {
        const std::string text = boost::json::serialize(arguments);
        const Invoked answer = kernel().invoke(
            caller, {.operation = operation, .arguments = text, .surface = Surface::api}
        );
        if (answer.status >= 400) note_refusal(operation, answer.body);
        return {answer.status, answer.body.empty() ? value() : boost::json::parse(answer.body)};
    }

    /// The same, when it went well; throws with what was said otherwise.
    Answer must(const Caller& caller, std::string_view operation, const value& arguments) {
        Answer said = ask(caller, operation, arguments);
        if (said.status >= 300)
            throw std::runtime_error(
                std::string(operation) + ": " + boost::json::serialize(said.body)
            );
        return said;
    }

    /// Runs one of the modules' timers or all that there is of a kind of job, as the kernel would
    /// after a while.
    void run_job(std::string_view name) {
        for (const core::Timer& timer : kernel().impl().timers)
            if (timer.name == name) return timer.run();
        auto& jobs = kernel().impl().jobs;
        const std::string finder = std::string(name) + ".find";
        if (std::ranges::count(jobs.kinds(), finder, &JobKind::name) > 0)
            jobs.run_all(*kernel().impl().database, finder);
        jobs.run_all(*kernel().impl().database, name);
    }

    /// As the superuser, who is above row-level security; the first value.
    std::string run(const std::string& sql) const { return Postgres::shared().run(sql, url_); }

    /// Kinds of the events emitted so far, in order, oldest first.
    std::vector<std::string> emitted() const {
        const std::string list =
            run("SELECT coalesce(json_agg(kind ORDER BY id), '[]') FROM event_log WHERE kind IS "
                "NOT NULL");
        return boost::json::value_to<std::vector<std::string>>(boost::json::parse(list));
    }
    void forget_events() const { run("DELETE FROM event_log"); }

    Kernel& kernel() { return app_->kernel(); }
    const std::string& url() const { return url_; }

private:
    Caller join(const Uuid& org, const Uuid& user, OrgRole role, const std::string& name) {
        run("INSERT INTO users (id, email, email_key, email_verified, name) VALUES ('" +
            user.str() + "', '" + user.str() + "@x.org', '" + user.str() + "@x.org', true, '" +
            name + "')");
        run("INSERT INTO memberships (org_id, user_id, id, role) VALUES ('" + org.str() + "', '" +
            user.str() + "', '" + new_uuid().str() + "', '" + std::string(name_of(role)) + "')");
        name_principal(org, user, "user", name);
        Caller caller;
        caller.id = user;
        caller.name = name;
        caller.user_id = user;
        caller.org_id = org;
        caller.role = role;
        return caller;
    }

    void name_principal(
        const Uuid& org, const Uuid& id, const std::string& type, const std::string& name
    ) {
        run("INSERT INTO principals (org_id, id, type, name) VALUES ('" + org.str() + "', '" +
            id.str() + "', '" + type + "', '" + name + "')");
    }

    std::string url_;
    std::unique_ptr<core::App> app_;
};

/// What is on in the server below; tests of further modules add theirs before they use it.
inline std::string modules_in_process = "mail,orgs,auth,agents,boards,queue";

/// One for a whole program, which is quicker than one for each test.
inline InProcessServer& in_process() {
    // Never destroyed: libraries stay until the end.
    static InProcessServer* const here = new InProcessServer(modules_in_process);
    return *here;
}

/// A board of one's own for each test, with a queue and what goes with it.
struct BoardFixture {
    Caller owner;
    Uuid board, backlog, queue, done;

    explicit BoardFixture(const value& queue_settings = {{"enabled", true}}) {
        InProcessServer& w = in_process();
        owner = w.owner_of_new_org();
        board =
            w.must(
                 owner, "create_board", {{"name", "Desk"}, {"columns", value(boost::json::array())}}
            ).id();
        backlog = column({{"name", "Backlog"}, {"kind", "backlog"}});
        queue = column({{"name", "Queue"}, {"kind", "queue"}, {"queue", queue_settings}});
        done = column({{"name", "Done"}, {"kind", "done"}});
        w.forget_events();
    }

    Uuid column(boost::json::object what) {
        what["board_id"] = board.str();
        return in_process().must(owner, "create_column", what).id();
    }
    Answer card(const Uuid& column, boost::json::object what = {{"title", "Card"}}) {
        what["board_id"] = board.str();
        what["column_id"] = column.str();
        if (!what.contains("title")) what["title"] = "Card";
        return in_process().must(owner, "create_card", what);
    }
    Answer get(const Uuid& card) {
        return in_process().must(owner, "get_card", {{"card_id", card.str()}});
    }
    Answer claim(const Caller& by, boost::json::object what = {}) {
        what["board_id"] = board.str();
        what["column_id"] = queue.str();
        return in_process().must(by, "claim_next_card", what);
    }
    Answer claim() { return claim(owner); }
    std::vector<std::string> titles(const Uuid& column) {
        std::vector<std::string> titles;
        const Answer page = in_process().must(
            owner, "list_cards", {{"column_id", column.str()}, {"page_size", 100}}
        );
        for (const value& each : page.body.at("results").as_array())
            titles.emplace_back(each.at("title").as_string());
        return titles;
    }
};

}  // namespace svc::test
