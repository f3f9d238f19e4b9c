// `workboard token …` and `workboard agent …`: what an operator stops, whatever the state of the
// bill. The operations do it, for a caller that is the system.

#include "modules/agents/commands.hpp"

#include "modules/agents/lib/token_text.hpp"
#include "modules/agents/system_actor.hpp"

#include <boost/json.hpp>

#include <cstdio>

namespace svc::agents {

namespace {

// What looks like a token is looked for by what is kept of it.
constexpr Sql find_token_anywhere{"agents.find_token_anywhere", R"(
    SELECT t.org_id, t.id, t.name, o.slug, t.revoked_at IS NOT NULL AS is_over
    FROM tokens t
    JOIN orgs o ON o.id = t.org_id
    WHERE t.id = $1::uuid OR t.digest = decode($2, 'hex'))"};

constexpr Sql find_agent_anywhere{"agents.find_agent_anywhere", R"(
    SELECT a.org_id, a.id, coalesce(p.name, '') AS name, o.slug,
        a.status = 'disabled' AS is_over
    FROM agents a
    JOIN orgs o ON o.id = a.org_id
    LEFT JOIN principals p ON p.org_id = a.org_id AND p.id = a.id
    WHERE a.id = $1)"};

constexpr Sql tokens_of_owner{"agents.tokens_of_owner", R"(
    SELECT t.org_id, t.id, t.name, o.slug, false AS is_over
    FROM tokens t
    JOIN orgs o ON o.id = t.org_id
    WHERE t.owner_user_id = $1 AND t.revoked_at IS NULL
    ORDER BY t.org_id, t.id)"};

/// A token or an agent of any workspace.
struct Found {
    Uuid org_id;
    Uuid id;
    std::string name;
    std::string slug;
    bool is_over = false;
};
SVC_RECORD(Found, (org_id), (id), (name), (slug), (is_over));

std::string line_of(const Found& found) {
    return found.id.str() + " (" + found.name + ") of the workspace " + found.slug;
}

int complain(const std::string& what) {
    std::fprintf(stderr, "workboard: %s\n", what.c_str());
    return 1;
}

template <class... Arg>
std::vector<Found> search(Kernel& kernel, const Sql& sql, const Arg&... arg) {
    std::vector<Found> found;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        found = tx.all<Found>(sql, arg...);
    });
    return found;
}

// ------------------------------------------------------------------------------------ token

int revoke(Kernel& kernel, const std::string& which) {
    const std::string digest = is_token(which) ? digest_of(which) : std::string();
    const auto found = search(kernel, find_token_anywhere, Uuid::parse(which), digest);
    if (found.empty())
        return complain("there is no token " + (digest.empty() ? which : std::string("like that")));
    if (found.front().is_over) {
        std::puts(("the token " + line_of(found.front()) + " was revoked already").c_str());
        return 0;
    }
    run_as_system(
        kernel,
        found.front().org_id,
        "workboard token revoke",
        "revoke_token",
        {{"token_id", found.front().id.str()}}
    );
    std::puts(("revoked the token " + line_of(found.front())).c_str());
    return 0;
}

int run_token(Kernel& kernel, std::span<const std::string> words) {
    if (words.size() == 2 && words[0] == "revoke") return revoke(kernel, words[1]);
    std::fputs("usage: workboard token revoke <id, or the token itself>\n", stderr);
    return 2;
}

// ------------------------------------------------------------------------------------ agent

int disable(Kernel& kernel, const std::string& which, const std::string* reason) {
    const auto id = Uuid::parse(which);
    const auto found = id ? search(kernel, find_agent_anywhere, *id) : std::vector<Found>();
    if (found.empty()) return complain("there is no agent " + which);
    if (found.front().is_over) {
        std::puts(("the agent " + line_of(found.front()) + " was disabled already").c_str());
        return 0;
    }
    boost::json::object arguments{{"agent_id", found.front().id.str()}};
    if (reason) arguments["reason"] = *reason;
    run_as_system(
        kernel, found.front().org_id, "workboard agent disable", "disable_agent", arguments
    );
    std::puts(("disabled the agent " + line_of(found.front())).c_str());
    return 0;
}

int run_agent(Kernel& kernel, std::span<const std::string> words) {
    const bool with_reason = words.size() == 3;
    if ((words.size() == 2 || with_reason) && words[0] == "disable")
        return disable(kernel, words[1], with_reason ? &words[2] : nullptr);
    std::fputs("usage: workboard agent disable <id> [\"<reason>\"]\n", stderr);
    return 2;
}

}  // namespace

Command token_command(Kernel& kernel) {
    return {
        .name = "token",
        .summary = "`token revoke` ends a token at once",
        .run = [&kernel](std::span<const std::string> words) { return run_token(kernel, words); },
    };
}

Command agent_command(Kernel& kernel) {
    return {
        .name = "agent",
        .summary = "`agent disable` stops an agent at once",
        .run = [&kernel](std::span<const std::string> words) { return run_agent(kernel, words); },
    };
}

std::size_t revoke_tokens_of(Kernel& kernel, const Uuid& person, std::string_view command) {
    const auto tokens = search(kernel, tokens_of_owner, person);
    for (const Found& each : tokens)
        run_as_system(
            kernel, each.org_id, command, "revoke_token", {{"token_id", each.id.str()}}
        );
    return tokens.size();
}

}  // namespace svc::agents
