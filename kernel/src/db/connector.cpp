#include "db/connector.hpp"

#include "db/errors.hpp"

#include <Poco/Exception.h>

#include <algorithm>
#include <map>

namespace svc::db {

namespace {

using Keywords = std::map<std::string, std::string, std::less<>>;

std::string first_line(std::string_view text) {
    return std::string(text.substr(0, text.find('\n')));
}

constexpr std::string_view how_to_write =
    "; written as postgresql://user:password@host:port/database, signs of the password such as "
    "@ / % have to be percent-encoded";

/// What libpq complains of, without the text that it quotes: the password may be in it.
std::string sort_of_mistake(std::string_view complaint) {
    struct Sort {
        std::string_view begins, is;
    };
    static constexpr Sort sorts[] = {
        {"missing \"=\" after", "a word has no \"=\" behind it"},
        {"unterminated quoted string", "a quoted value has no end"},
        {"invalid connection option", "a keyword is none that libpq knows"},
        {"invalid URI query parameter", "a parameter behind the ? is none that libpq knows"},
        {"missing key/value separator", "a parameter behind the ? has no \"=\""},
        {"extra key/value separator", "a parameter behind the ? has more than one \"=\""},
        {"invalid percent-encoded token", "a % is not followed by two hexadecimal digits"},
        {"forbidden value %00", "it holds a %00"},
        {"unexpected spaces found", "it holds blanks; write them as %20"},
        {"end of string reached", "an IPv6 address has no ] at its end"},
        {"IPv6 host address", "an IPv6 address is empty"},
        {"unexpected character", "behind a host neither : nor / follows"},
        {"definition of service", "its service has no definition"},
        {"service file", "the file of its service cannot be read"},
        {"out of memory", "out of memory"},
    };
    const auto known = std::ranges::find_if(sorts, [&](const Sort& each) {
        return complaint.starts_with(each.begins);
    });
    const std::string_view is =
        known == std::end(sorts) ? "is neither a URL nor keywords of libpq" : known->is;
    return std::string(is) + std::string(how_to_write);
}

/// Whether a sign of the password has ended it, and what is left of it stands where the host or the
/// port should: connecting would quote it.
bool is_cut_short(const Keywords& keywords) {
    const auto value = [&](std::string_view keyword) {
        const auto found = keywords.find(keyword);
        return found == keywords.end() ? std::string_view() : std::string_view(found->second);
    };
    const std::string_view host = value("host");
    const bool is_name = !host.starts_with('/') && !host.starts_with('@');  // else a socket
    return (is_name && host.find('@') != std::string_view::npos) ||
           value("port").find_first_not_of("0123456789, ") != std::string_view::npos;
}

Keywords parse(const Settings& settings) {
    char* complaint = nullptr;
    PQconninfoOption* options = PQconninfoParse(settings.url.c_str(), &complaint);
    if (!options) {
        const std::string why = sort_of_mistake(complaint ? complaint : "out of memory");
        PQfreemem(complaint);
        throw std::runtime_error(settings.url_setting + ": " + why);
    }
    Keywords keywords;
    for (const auto* each = options; each->keyword; ++each)
        if (each->val && *each->val) keywords.emplace(each->keyword, each->val);
    PQconninfoFree(options);
    if (is_cut_short(keywords))
        throw std::runtime_error(
            settings.url_setting + ": has no host and port where they should be" +
            std::string(how_to_write)
        );
    return keywords;
}

/// What the URL may say otherwise. Every statement carries its whole key, so that one plan is right
/// for all values; with array parameters PostgreSQL would otherwise plan at each call. And there is
/// an index for the key: whole tables, and all of a workspace, are read only where there is none,
/// however small they are believed (docs/decisions/0057-keys-are-followed.md).
std::string default_options(Use use) {
    const std::string words = "-c plan_cache_mode=force_generic_plan";
    return use == Use::migration ? words
                                 : words + " -c enable_seqscan=off -c enable_bitmapscan=off";
}

/// Server settings of every session, as words for the `options` of the start-up packet: so they
/// cost no round trip and are there again after PQreset.
std::string session_options(const Settings& settings, Use use) {
    const auto milliseconds = [](std::chrono::milliseconds time) {
        return std::to_string(time.count());
    };
    std::string words =
        "-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=postgres -c client_min_messages=warning"
        " -c bytea_output=hex -c standard_conforming_strings=on -c row_security=on -c jit=off";
    if (!settings.synchronous_commit) words += " -c synchronous_commit=off";
    if (use == Use::migration) return words + " -c statement_timeout=0";
    // Others let go again; what only waited for them may be tried again, and is told apart so.
    return words + " -c statement_timeout=" + milliseconds(settings.statement_timeout) +
           " -c lock_timeout=" + milliseconds(settings.statement_timeout * 4 / 5) +
           " -c idle_in_transaction_session_timeout=30000";
}

std::string in_quotes(std::string_view value) {
    std::string out = "'";
    for (const char each : value) {
        if (each == '\'' || each == '\\') out += '\\';
        out += each;
    }
    return out + '\'';
}

std::string joined(const Keywords& keywords) {
    std::string out;
    for (const auto& [keyword, value] : keywords) {
        if (!out.empty()) out += ' ';
        out += keyword + '=' + in_quotes(value);
    }
    return out;
}

}  // namespace

Connector::Connector(const Settings& settings, Use use) {
    Keywords keywords = parse(settings);
    // What the URL says stands; these are for what it leaves open.
    for (const auto& [keyword, value] : Keywords{
             {"connect_timeout", "3"},
             {"fallback_application_name", "workboard"},
             {"keepalives_count", "3"},
             {"keepalives_idle", "30"},
             {"keepalives_interval", "10"},
             {"target_session_attrs", "read-write"},
             {"tcp_user_timeout", "10000"}})
        keywords.emplace(keyword, value);
    keywords["client_encoding"] = "UTF8";
    std::string& options = keywords["options"];
    options = default_options(use) + ' ' + options + ' ' + session_options(settings, use);
    text_ = joined(keywords);
}

Connector::~Connector() {
    // Still owned by somebody, so that no tool calls them lost.
    static auto& kept = *new std::vector<std::unique_ptr<Session>>;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    for (auto& session : broken_) kept.push_back(std::move(session));
}

std::unique_ptr<Connector::Session> Connector::take_broken() {
    const std::lock_guard lock(mutex_);
    if (broken_.empty()) return nullptr;
    auto session = std::move(broken_.back());
    broken_.pop_back();
    return session;
}

std::unique_ptr<Connector::Session> Connector::open() {
    auto session = take_broken();
    std::string why;
    if (session) {
        if (session->reset()) return session;
        why = PQerrorMessage(*session);
    } else {
        session = std::make_unique<Session>();
        try {
            session->connect(text_);
            return session;
        } catch (const Poco::Exception&) {
            why = PQerrorMessage(*session);
        }
    }
    close(std::move(session));
    throw Lost(first_line(why));
}

void Connector::close(std::unique_ptr<Session> session) noexcept {
    if (session->isConnected()) return;
    const std::lock_guard lock(mutex_);
    broken_.push_back(std::move(session));
}

}  // namespace svc::db
