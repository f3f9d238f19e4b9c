#include "modules/oauth/documents.hpp"

#include "svc/json.hpp"

#include <Poco/Logger.h>
#include <boost/json.hpp>

#include <algorithm>

namespace svc::oauth {

namespace {

using namespace std::chrono_literals;

constexpr auto time_to_fetch = 5s;
constexpr std::size_t most_bytes = 16 << 10;
constexpr std::chrono::seconds good_for = 10min, bad_for = 30s;
constexpr std::size_t most_kept = 1'000;
constexpr std::size_t threads = 2, most_waiting = 16;
constexpr std::int64_t fetches = 30;  // by one person, within
constexpr auto fetches_within = 10min;

HttpClient::Settings client_settings(const Settings& settings) {
    return {
        .time = time_to_fetch,
        .most_bytes = most_bytes,
        .ca_file = settings.ca_file,
        .rules = settings.allow_private_targets ? AddressRules() : AddressRules::public_and({})
    };
}

void require_usual_port(const WebAddress& address) {
    if (address.port != 443 && address.port != 8443)
        throw HttpError(address.host + ": that is no port of web servers");
}

}  // namespace

Documents::Documents(Kernel& kernel, const Settings& settings)
    : settings_(settings),
      limit_({"client_document", fetches, fetches_within}),
      pool_(kernel, threads, most_waiting) {}

Documents::Found Documents::find(Call& call, const std::string& client_id) {
    if (!settings_.client_documents || !is_document_address(client_id)) return std::nullopt;
    if (auto known = kept(client_id)) return *std::move(known);
    const auto found = pool_.result_of<Found>(call, [&]() -> std::function<Found()> {
        limit_.require(limit_.count(call.caller().id.str(), call.request_id()));
        return [this, client_id] { return fetch(client_id); };
    });
    keep(client_id, found);
    return found;
}

std::optional<Documents::Found> Documents::kept(const std::string& client_id) {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(client_id);
    if (found == kept_.end() || found->second.until < Clock::now()) return std::nullopt;
    return found->second.found;
}

void Documents::keep(const std::string& client_id, const Found& found) {
    const auto now = Clock::now();
    const std::lock_guard lock(mutex_);
    if (kept_.size() >= most_kept)
        std::erase_if(kept_, [&](const auto& each) { return each.second.until < now; });
    if (kept_.size() >= most_kept) kept_.erase(kept_.begin());
    kept_[client_id] = {found, now + (found ? good_for : bad_for)};
}

const HttpClient& Documents::http() {
    std::call_once(http_once_, [&] { http_.emplace(client_settings(settings_)); });
    return *http_;
}

Documents::Found Documents::fetch(const std::string& client_id) try {
    const auto address = WebAddress::parse(client_id);
    if (!settings_.allow_private_targets) require_usual_port(address);
    const HttpAnswer answer =
        http().run({.to = address, .headers = {{"Accept", "application/json"}}});
    if (answer.status != 200)
        throw HttpError(address.host + ": answered " + std::to_string(answer.status));
    return read_document(parse_json(answer.body), client_id, settings_.redirect_schemes);
} catch (const std::exception& problem) {
    Poco::Logger::get("oauth").notice(
        "the document of the client " + client_id + " is of no use: " + problem.what()
    );
    return std::nullopt;
}

}  // namespace svc::oauth
