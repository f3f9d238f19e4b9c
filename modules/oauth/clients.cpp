// Clients: those that have registered, and those that a document describes.

#include "modules/oauth/clients.hpp"

#include "modules/oauth/answers.hpp"
#include "svc/json.hpp"

#include <boost/json.hpp>

namespace svc::oauth {

namespace json = boost::json;

namespace {

constexpr Sql present{"oauth.present", R"(
    SELECT WHERE set_config('app.credential', $1, true) IS NOT NULL)"};

constexpr Sql find_registered{"oauth.find_client", R"(
    SELECT id, name, to_json(redirect_uris) AS redirect_uris FROM oauth_clients WHERE id = $1)"};

constexpr Sql insert_client{"oauth.register_client", R"(
    INSERT INTO oauth_clients (id, name, redirect_uris) VALUES ($1, $2, $3))"};

constexpr Sql client_used{"oauth.client_used", R"(
    UPDATE oauth_clients SET used_at = now() WHERE id = $1)"};

constexpr Sql forget_ungranted{"oauth.forget_unused_clients", R"(
    DELETE FROM oauth_clients WHERE used_at IS NULL AND created_time < now() - $1::interval)"};

constexpr Sql forget_old{"oauth.forget_old_clients", R"(
    DELETE FROM oauth_clients WHERE used_at < now() - interval '1 year')"};

struct Registered {
    Uuid id;
    std::string name;
    std::vector<std::string> redirect_uris;
};
SVC_RECORD(Registered, (id), (name), (redirect_uris));

std::optional<Client> find_registered_client(Tx& tx, const std::string& id) {
    const auto uuid = Uuid::parse(id);
    if (!uuid || uuid->str() != id) return std::nullopt;
    tx.queue(present, id);
    auto found = tx.one<Registered>(find_registered, *uuid);
    if (!found) return std::nullopt;
    return Client{id, std::move(found->name), std::move(found->redirect_uris), std::nullopt};
}

std::string host_of(const std::string& url) { return WebAddress::parse(url).host; }

}  // namespace

std::optional<Client> find_client(Call& call, const std::string& id) {
    if (id.starts_with("https:")) {
        auto described = call.use<Documents>().find(call, id);
        if (!described) return std::nullopt;
        return Client{
            id, std::move(described->name), std::move(described->redirect_uris), host_of(id)
        };
    }
    return find_registered_client(call.tx(), id);
}

void note_use(Tx& tx, const Client& client) {
    if (client.host) return;
    tx.queue(present, client.id);
    tx.queue(client_used, *Uuid::parse(client.id));
}

void forget_unused(Tx& tx, std::chrono::seconds unused) {
    tx.queue(forget_ungranted, unused);
    tx.queue(forget_old);
}

// ------------------------------------------------------------------------- registration

namespace {

/// Counts it, whatever comes of it; Failure 429.
void admit(Kernel& kernel, const Settings& settings, const http::Request& request) {
    const DatabaseRateLimit in_all(
        kernel, {"client_registrations", settings.registrations_a_day, std::chrono::hours(24)}
    );
    const DatabaseRateLimit from_place(
        kernel,
        {"client_registrations_from_one_place",
         settings.registrations_from_one_place,
         std::chrono::hours(1)}
    );
    RateWindow of_place, of_all;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        of_place = from_place.count(tx, network_of(request.client_address)).one_or_retry();
    });
    from_place.require(of_place);
    // One place alone is not to use up what is there for all.
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        of_all = in_all.count(tx, "all").one_or_retry();
    });
    in_all.require(of_all);
}

json::value parse_body(const http::Request& request) try {
    return parse_json(request.body);
} catch (const Failure&) {
    throw OAuthError("invalid_client_metadata", "The body has to be one JSON object.");
}

ClientMetadata metadata_in(const http::Request& request, const Settings& settings) try {
    return read_metadata(parse_body(request), settings.redirect_schemes);
} catch (const BadMetadata& problem) {
    throw OAuthError(problem.error(), problem.what());
}

json::object registered(const Uuid& id, const ClientMetadata& client) {
    return {
        {"client_id", id.str()},
        {"client_id_issued_at", Timestamp::now().micros / 1'000'000},
        {"client_name", client.name},
        {"redirect_uris", json::array(client.redirect_uris.begin(), client.redirect_uris.end())},
        {"grant_types", {"authorization_code", "refresh_token"}},
        {"response_types", json::array{"code"}},
        {"token_endpoint_auth_method", "none"}
    };
}

}  // namespace

http::Answer register_client(Kernel& kernel, const http::Request& request) try {
    const auto& settings = kernel.use<Settings>();
    if (!settings.registration)
        throw OAuthError("access_denied", "Clients do not register themselves here.", 403);
    const ClientMetadata client = metadata_in(request, settings);
    admit(kernel, settings, request);
    const Uuid id = new_uuid();
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.queue(present, id.str());
        tx.queue(insert_client, id, client.name, client.redirect_uris);
    });
    return json_answer(201, registered(id, client));
} catch (const OAuthError& error) {
    return error_answer(error);
}

}  // namespace svc::oauth
