#include "modules/mcp/sessions.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <algorithm>
#include <charconv>

namespace svc::mcp {

namespace {

constexpr Sql find_ended{"mcp.find_ended_session", R"(
    SELECT session_id AS id
      FROM mcp_ended_sessions
     WHERE org_id = $1 AND session_id = $2
)"};

constexpr Sql end_session{"mcp.end_session", R"(
    WITH gone AS (
        DELETE FROM mcp_ended_sessions
         WHERE org_id = $1 AND expires_at < now()
    )
    INSERT INTO mcp_ended_sessions (org_id, session_id, expires_at)
    VALUES ($1, $2, $3)
    ON CONFLICT DO NOTHING
)"};

// A token reads <id>-<expiry>-<version>-<mac>: hex, hex seconds, digits, hex.
constexpr std::size_t id_size = 32, expiry_size = 10, version_size = 8, mac_size = 64;
constexpr std::size_t claims_size = id_size + 1 + expiry_size + 1 + version_size;
constexpr std::size_t most_remembered = 10'000;

std::string without_dashes(std::string text) {
    std::erase(text, '-');
    return text;
}

std::string hex_seconds(Timestamp time) {
    std::string out(expiry_size, '0');
    for (auto [at, left] = std::pair(expiry_size, time.micros / 1'000'000); at > 0; left /= 16)
        out[--at] = "0123456789abcdef"[left % 16];
    return out;
}

Timestamp from_hex_seconds(std::string_view text) {
    std::int64_t seconds = 0;
    std::from_chars(text.begin(), text.end(), seconds, 16);
    return {seconds * 1'000'000};
}

std::string_view version_of(std::string_view digits) {
    for (std::string_view each : handshake_versions)
        if (without_dashes(std::string(each)) == digits) return each;
    return without_dashes(std::string(sse_version)) == digits ? sse_version : std::string_view();
}

}  // namespace

std::string Sessions::seal(const Caller& caller, std::string_view claims) const {
    std::string message(claims);
    message += '\n';
    message += name_of(caller.type);
    message += '\n';
    caller.id.append_to(message);
    if (caller.org_id) caller.org_id->append_to(message);
    return hex(kernel_.sign("mcp.session", message));
}

std::string Sessions::open(const Caller& caller, std::string_view version) const {
    const Timestamp expires_at{
        Timestamp::now().micros + std::chrono::microseconds(lifetime_).count()
    };
    std::string token = without_dashes(new_uuid().str());
    (token += '-') += hex_seconds(expires_at);
    (token += '-') += without_dashes(std::string(version));
    const std::string mac = seal(caller, token);
    return token + '-' + mac;
}

std::optional<Session> Sessions::find(const Caller& caller, std::string_view token) {
    if (token.size() != claims_size + 1 + mac_size || token[claims_size] != '-')
        return std::nullopt;
    const auto claims = token.substr(0, claims_size);
    const std::string mac = seal(caller, claims);
    if (!same_secret(mac, token.substr(claims_size + 1))) return std::nullopt;

    Session session;
    session.id = Uuid::parse(claims.substr(0, id_size)).value_or(Uuid{});
    session.expires_at = from_hex_seconds(claims.substr(id_size + 1, expiry_size));
    session.version = version_of(claims.substr(claims_size - version_size));
    if (session.expires_at <= Timestamp::now() || session.version.empty()) return std::nullopt;
    if (ended(caller, session.id)) return std::nullopt;
    return session;
}

bool Sessions::seen_alive(const std::string& session) const {
    const std::lock_guard lock(mutex_);
    const auto found = alive_.find(session);
    return found != alive_.end() && Clock::now() - found->second < fresh;
}

bool Sessions::ended(const Caller& caller, const Uuid& session) {
    const std::string key = session.str();
    if (seen_alive(key)) return false;
    const auto asked = Clock::now();
    bool found = false;
    kernel_.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(caller.org_id, caller.user_id);
        found = tx.queue(find_ended, caller.org_id, session).rows() > 0;
    });
    if (found) return true;
    const std::lock_guard lock(mutex_);
    if (alive_.size() >= most_remembered) alive_.clear();
    alive_[key] = asked;
    return false;
}

void Sessions::end(const Caller& caller, const Session& session) {
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(caller.org_id, caller.user_id);
        tx.queue(end_session, caller.org_id, session.id, session.expires_at);
    });
    const std::lock_guard lock(mutex_);
    alive_.erase(session.id.str());
}

}  // namespace svc::mcp
