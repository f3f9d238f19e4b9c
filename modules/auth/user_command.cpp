// `workboard user …`: accounts as an operator makes them, lets them in and shuts them out.

#include "modules/auth/user_command.hpp"
#include "modules/orgs/api/directory_writes.hpp"

#include "modules/auth/sessions.hpp"
#include "modules/auth/settings.hpp"
#include "modules/orgs/api.hpp"
#include "svc/json.hpp"
#include "svc/secrets.hpp"

#include <boost/json.hpp>

#include <cstdio>

namespace svc::auth {

namespace {

/// What is told of a seat whose person was shut out, or let in again.
struct SeatAccess {
    Uuid id;
    Uuid user_id;
    bool disabled = false;
    std::int64_t version = 1;
};
SVC_RECORD(
    SeatAccess,
    (id, "The membership."),
    (user_id, "The person."),
    (disabled, "Whether the account is disabled."),
    (version, "The membership's.")
);

constexpr EventKind member_disabled{
    .name = "member.disabled",
    .object = "membership",
    .summary = "The operator has disabled a member's account: it cannot sign in.",
    .record = &record_of<SeatAccess>,
    .vetoable = false,
    .said_audience = Audience::everyone,
};
constexpr EventKind member_enabled{
    .name = "member.enabled",
    .object = "membership",
    .summary = "The operator has enabled a member's account again.",
    .record = &record_of<SeatAccess>,
    .vetoable = false,
    .said_audience = Audience::everyone,
};

// What looks like an id is one, and never also an address.
constexpr Sql find_person{"auth.find_person_of_command", R"(
    SELECT id, email, name, email_verified, disabled_at IS NOT NULL AS disabled
    FROM users
    WHERE id = $1::uuid OR email_key = $2
    FOR NO KEY UPDATE)"};

constexpr Sql all_people{"auth.all_people", R"(
    SELECT u.id, u.email, u.name, u.email_verified, u.disabled_at IS NOT NULL AS disabled
    FROM users u
    WHERE u.id > $1
    ORDER BY u.id
    LIMIT $2)"};

constexpr Sql drop_sign_ups{"auth.drop_sign_ups", R"(
    DELETE FROM sign_ups WHERE email_key = $1)"};

constexpr Sql add_reset{"auth.add_reset", R"(
    INSERT INTO password_resets (token_digest, email_key, expires_at)
    VALUES ($1, $2, now() + $3))"};

constexpr Sql end_all_sessions{"auth.end_sessions_of_disabled", R"(
    UPDATE sessions SET revoked_at = now()
    WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > now())"};

constexpr Sql seats_of{"auth.seats_of", R"(
    SELECT org_id, id, version FROM memberships WHERE user_id = $1 ORDER BY org_id)"};

struct Account {
    Uuid id;
    Email email;
    std::optional<std::string> name;
    bool email_verified = false;
    bool disabled = false;
};
SVC_RECORD(Account, (id), (email), (name), (email_verified), (disabled));

/// What an account may be given on the command line.
struct NewPerson {
    std::optional<std::string> name;
};
SVC_RECORD(NewPerson, (name, "", length(1, 120), trimmed));

struct Membership {
    Uuid org_id;
    Uuid id;
    std::int64_t version = 1;
};
SVC_RECORD(Membership, (org_id), (id), (version));

constexpr const char* usage =
    "usage: workboard user list\n"
    "       workboard user add <address> [\"<name>\"]\n"
    "       workboard user reset-password <address or id>\n"
    "       workboard user disable <address or id>\n"
    "       workboard user enable <address or id>\n";

Email address_of(const std::string& text) {
    if (auto email = Email::parse(text)) return *std::move(email);
    throw std::runtime_error(text + " is not an address");
}

NewPerson person_of(const std::optional<std::string>& name) {
    NewPerson person;
    if (!name) return person;
    Reader reader;
    bool good = false;
    try {
        const auto given = boost::json::serialize(boost::json::object{{"name", *name}});
        reader.read(record_of<NewPerson>(), parse_json(given), &person);
        good = reader.clean();
    } catch (const Failure&) {  // no UTF-8
    }
    if (!good)
        throw std::runtime_error("a name has 1 to 120 characters, none of them a control character"
        );
    return person;
}

std::optional<Account> find(Tx& tx, const std::string& who) {
    tx.set_scope_to_all_orgs();
    const auto email = Email::parse(who);
    return tx.one<Account>(
        find_person, Uuid::parse(who), email ? email_key(*email) : std::string()
    );
}

Account require(Tx& tx, const std::string& who) {
    if (auto account = find(tx, who)) return *std::move(account);
    throw std::runtime_error("there is no account of " + who);
}

std::string line_of(const Account& account) {
    return account.id.str() + "  " + account.email.str() + "  " + account.name.value_or("-") +
           "  " +
           (account.disabled         ? "disabled"
            : account.email_verified ? "active"
                                     : "unconfirmed");
}

// ----------------------------------------------------------------------------- list, add, reset

int list(Kernel& kernel) {
    constexpr std::int64_t at_once = 1'000;
    std::vector<Account> page;
    Uuid after;
    do {
        kernel.transact(Tx::Mode::read, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            page = tx.all<Account>(all_people, after, at_once);
        });
        for (const Account& each : page) std::puts(line_of(each).c_str());
        if (!page.empty()) after = page.back().id;
    } while (page.size() == static_cast<std::size_t>(at_once));
    return 0;
}

/// A link by which whoever has it sets the account's password, once.
std::string link_to_password(Kernel& kernel, Tx& tx, const Email& email) {
    const std::string token = random_token();
    tx.queue(
        add_reset,
        sha256(token),
        email_key(email),
        std::chrono::seconds(std::chrono::minutes(kernel.use<Settings>().reset_minutes))
    );
    return kernel.base_url() + "/reset-password?token=" + token;
}

void print_link(Kernel& kernel, const std::string& link) {
    std::printf(
        "with this link, within %lld minutes and once, its password can be set:\n%s\n",
        static_cast<long long>(kernel.use<Settings>().reset_minutes),
        link.c_str()
    );
}

int add(Kernel& kernel, const std::string& address, const std::optional<std::string>& name) {
    const Email email = address_of(address);
    const NewPerson person = person_of(name);
    Account made;
    std::string link;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        const auto before = find(tx, email.str());
        if (before && before->email_verified)
            throw std::runtime_error(email.str() + " has an account already");
        made = before.value_or(Account{.id = new_uuid(), .email = email});
        made.email_verified = true;
        if (person.name) made.name = person.name;
        if (before) orgs::confirm_person(tx, made.id, person.name, orgs::OldName::replaced);
        else orgs::add_person(tx, made.id, email, email_key(email), person.name);
        tx.queue(drop_sign_ups, email_key(email));
        link = link_to_password(kernel, tx, email);
    });
    std::puts(("added the account " + line_of(made)).c_str());
    print_link(kernel, link);
    return 0;
}

int reset(Kernel& kernel, const std::string& who) {
    Account account;
    std::string link;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        account = require(tx, who);
        if (!account.email_verified)
            throw std::runtime_error(
                account.email.str() + " has not been confirmed; `workboard user add` does that"
            );
        link = link_to_password(kernel, tx, account.email);
    });
    std::puts(("the account " + line_of(account)).c_str());
    print_link(kernel, link);
    return 0;
}

// ------------------------------------------------------------------------------ disable, enable

/// The account's row and its sessions, and an event in each of its workspaces. False when that is
/// how it was.
bool set_access(Kernel& kernel, const std::string& who, bool disabled, Account& account) {
    bool is_changed = false;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        account = require(tx, who);
        is_changed = account.disabled != disabled;
        if (!is_changed) return;
        orgs::set_disabled(tx, account.id, disabled);
        if (disabled) tx.queue(end_all_sessions, account.id);
        for (const Membership& membership : tx.all<Membership>(seats_of, account.id)) {
            const SeatAccess was{membership.id, account.id, !disabled, membership.version};
            const SeatAccess is{membership.id, account.id, disabled, membership.version};
            Event event = changed(disabled ? member_disabled : member_enabled, was, is);
            event.name = account.name;
            emit_as_system(
                tx,
                membership.org_id,
                disabled ? "workboard user disable" : "workboard user enable",
                event
            );
        }
        account.disabled = disabled;
    });
    return is_changed;
}

int disable(Kernel& kernel, const std::string& who) {
    Account account;
    const bool is_new = set_access(kernel, who, true, account);
    // Also when it was disabled before: then the command is at its second try, perhaps.
    auto* token_holders = kernel.find<orgs::TokenHolders>();
    const auto tokens =
        token_holders ? token_holders->end_all_of(kernel, account.id, "workboard user disable") : 0;
    const std::string done = is_new ? "disabled the account " : "it was disabled already: ";
    std::puts((done + line_of(account)).c_str());
    std::printf("its sessions are over, and %zu tokens were revoked\n", tokens);
    return 0;
}

int enable(Kernel& kernel, const std::string& who) {
    Account account;
    const bool is_new = set_access(kernel, who, false, account);
    const std::string done = is_new ? "enabled the account " : "it was not disabled: ";
    std::puts((done + line_of(account)).c_str());
    return 0;
}

int run(Kernel& kernel, std::span<const std::string> words) {
    const auto is = [&](std::string_view name, std::size_t size) {
        return words.size() == size && words[0] == name;
    };
    if (is("list", 1)) return list(kernel);
    if (is("add", 2)) return add(kernel, words[1], std::nullopt);
    if (is("add", 3)) return add(kernel, words[1], words[2]);
    if (is("reset-password", 2)) return reset(kernel, words[1]);
    if (is("disable", 2)) return disable(kernel, words[1]);
    if (is("enable", 2)) return enable(kernel, words[1]);
    std::fputs(usage, stderr);
    return 2;
}

}  // namespace

void add_user_command(Kernel& kernel) {
    kernel.add(member_disabled);
    kernel.add(member_enabled);
    kernel.add(Command{
        .name = "user",
        .summary = "list, add, reset-password, disable and enable accounts",
        .run = [&kernel](std::span<const std::string> words) { return run(kernel, words); },
        .looks = {"list"},
    });
}

}  // namespace svc::auth
