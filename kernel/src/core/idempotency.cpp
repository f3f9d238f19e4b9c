#include "core/idempotency.hpp"

#include "svc/encoding.hpp"

#include <fmt/format.h>
#include <boost/json.hpp>

#include <algorithm>
#include <cstring>

namespace svc::core {

namespace {

constexpr Sql take_lock{"kernel.idempotency_lock", R"(
    SELECT pg_try_advisory_xact_lock($1) AS locked)"};

constexpr Sql find_answer{"kernel.idempotency_find", R"(
    SELECT encode(body, 'hex') AS body, status, encode(answer, 'hex') AS answer
    FROM idempotency_keys
    WHERE org_id = $1 AND principal_id = $2 AND request = $3
      AND created_at > now() - interval '24 hours')"};

constexpr Sql keep_answer{"kernel.idempotency_keep", R"(
    INSERT INTO idempotency_keys (org_id, principal_id, request, body, status, answer)
    VALUES ($1, $2, $3, $4, $5, $6)
    ON CONFLICT (org_id, principal_id, request) DO UPDATE
    SET body = excluded.body, status = excluded.status, answer = excluded.answer,
        created_at = now())"};

constexpr Sql orgs_with_old{"kernel.idempotency_orgs", R"(
    SELECT DISTINCT org_id FROM idempotency_keys WHERE created_at < now() - interval '24 hours')"};

constexpr Sql delete_old{"kernel.idempotency_sweep", R"(
    DELETE FROM idempotency_keys
    WHERE org_id = $1 AND created_at < now() - interval '24 hours')"};

struct LockedKey {
    bool locked = false;
};
SVC_RECORD(LockedKey, (locked));

struct Kept {
    std::string body;
    std::int64_t status = 0;
    std::string answer;
};
SVC_RECORD(Kept, (body), (status), (answer));

struct OrgRow {
    Uuid org_id;
};
SVC_RECORD(OrgRow, (org_id));

constexpr std::string_view purpose = "idempotency and headers";
// What is sealed under this one is a body alone: rows that an earlier version wrote.
constexpr std::string_view purpose_before = "idempotency";

/// The headers, names and values by turns, as one line of JSON; behind it the body. A cookie is for
/// the session that got it, and there may be a newer one.
std::string packed(const http::Answer& answer) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : answer.headers)
        if (name != "Set-Cookie") texts.insert(texts.end(), {name, value});
    std::string out;
    Json<std::vector<std::string>>::write(texts, out);
    return (out += '\n') += answer.body;
}

void unpack(std::string_view text, http::Answer& answer) {
    const auto end = text.find('\n');
    const json::value line = json::parse(text.substr(0, end));
    const json::array& texts = line.as_array();
    for (std::size_t at = 0; at + 1 < texts.size(); at += 2)
        answer.headers.emplace_back(texts[at].as_string(), texts[at + 1].as_string());
    answer.body = text.substr(end + 1);
}

/// Eight bytes of the digest name the lock: two keys that share them only wait in vain once.
std::int64_t lock_number(const Sha256& digest) {
    std::int64_t number = 0;
    std::memcpy(&number, digest.data(), sizeof number);
    return number;
}

std::string_view key_of(const Run& run) {
    if (!run.request || run.operation.method() != "POST" || !run.who.caller()) return {};
    if (!run.request->has("idempotency-key")) return {};
    const auto key = run.request->header("idempotency-key");
    const bool printable = std::ranges::all_of(key, [](char c) { return c >= ' ' && c < 0x7f; });
    if (!key.empty() && key.size() <= 255 && printable) return key;
    throw Failure::invalid_at(
        R"(["header","idempotency-key"])",
        "value_error",
        "Should have 1 to 255 printable characters"
    );
}

/// An escaped colon is a colon: `%3Aarchive` is `:archive`.
std::string with_plain_colons(std::string_view target) {
    std::string out;
    const auto query = std::min(target.find('?'), target.size());
    for (std::size_t at = 0; at < target.size(); ++at) {
        const auto three = target.substr(at, 3);
        const bool colon = at < query && (three == "%3A" || three == "%3a");
        out += colon ? ':' : target[at];
        if (colon) at += 2;
    }
    return out;
}

}  // namespace

IdempotencyKey::IdempotencyKey(const Run& run, RunningCall& call, const Input& input)
    : run_(run), call_(call), key_(key_of(run)) {
    if (key_.empty()) return;
    const Caller& caller = *run.who.caller();
    request_ = sha256(fmt::format(
        "{}\n{}\n{}\n{} {}\n{}",
        org().str(),
        caller.id.str(),
        caller.token_id.value_or(Uuid{}).str(),
        run.request->method,
        with_plain_colons(run.request->target),
        key_
    ));
    body_digest_ = sha256(input.body());
}

const Uuid& IdempotencyKey::org() const {
    static const Uuid none;
    const Caller& caller = *run_.who.caller();
    return caller.org_id ? *caller.org_id : none;
}

bool IdempotencyKey::replay(http::Answer& answer) {
    if (key_.empty()) return false;
    Tx& tx = call_.tx();
    auto locked = tx.later<LockedKey>(take_lock, lock_number(request_));
    const auto kept = tx.one<Kept>(find_answer, org(), run_.who.caller()->id, request_);
    if (!locked.one_or_retry().locked)
        throw Failure(Fault::conflict, "A request with this Idempotency-Key is still running.")
            .with("reason", "idempotency_in_flight")
            .with_header("Retry-After", "1");
    if (!kept) return false;
    if (kept->body != hex(body_digest_))
        throw Failure::invalid_at(
            R"(["header","idempotency-key"])",
            "idempotency_mismatch",
            "This key was used for a request with another body"
        );
    answer.status = static_cast<int>(kept->status);
    const Secret& secret = *run_.kernel.impl().secret;
    const std::string sealed = from_hex(kept->answer).value_or("");
    if (const auto text = secret.unseal(purpose, key_, sealed); !text.empty()) unpack(text, answer);
    else answer.body = secret.unseal(purpose_before, key_, sealed);
    answer.headers.emplace_back("Idempotency-Replayed", "true");
    return true;
}

void IdempotencyKey::keep(const http::Answer& answer) {
    if (key_.empty()) return;
    const std::string sealed = run_.kernel.impl().secret->seal(purpose, key_, packed(answer));
    // Whatever the handler went on to work in: the answer is kept where the request was made.
    const Caller& caller = *run_.who.caller();
    call_.tx().set_scope(caller.org_id, caller.user_id);
    call_.tx().queue(
        keep_answer, org(), caller.id, request_, body_digest_, answer.status, as_bytes(sealed)
    );
}

void sweep_idempotency_keys(db::Database& database) {
    std::vector<OrgRow> orgs;
    database.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        orgs = tx.all<OrgRow>(orgs_with_old);
    });
    for (const OrgRow& each : orgs)
        database.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope_to_all_orgs();
            tx.run(delete_old, each.org_id);
        });
}

}  // namespace svc::core
