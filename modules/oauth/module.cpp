#include "svc/module.hpp"

#include "modules/lib/http_client/dial.hpp"
#include "modules/mcp/api.hpp"
#include "modules/oauth/answers.hpp"
#include "modules/oauth/authorization.hpp"
#include "modules/oauth/clients.hpp"
#include "modules/oauth/grants.hpp"
#include "modules/oauth/resources.hpp"
#include "modules/oauth/token_endpoint.hpp"
#include "svc/operator/upkeep.hpp"
#include "svc/workspace_jobs.hpp"

namespace svc::oauth {

namespace {

/// The server as its own authorization server (OAuth 2.1), for clients of MCP that cannot be given
/// a token.
class OAuth final : public Module, public mcp::TokenSource {
public:
    void open(Kernel& kernel) override {
        kernel_ = &kernel;
        settings_ = kernel.settings<Settings>();
        kernel.use<Upkeep>().before_start([this] {
            if (settings_.client_documents) check_ca_file("oauth.ca_file", settings_.ca_file);
        });
        kernel.offer(settings_);
        kernel.offer(documents_.emplace(kernel, settings_));
        kernel.offer<mcp::TokenSource>(*this);
        kernel.tag("oauth", "Clients that are connected by OAuth.");
        add_metadata(kernel);
        add_authorization_operations(kernel);
        add_endpoint("/oauth/register", register_client, 64 << 10);
        add_endpoint("/oauth/token", give_tokens, 16 << 10);
        add_endpoint("/oauth/revoke", revoke_token, 16 << 10);
        add_end_of_unused_codes(kernel);
        add_recurring_job(kernel, "oauth.forget_clients", std::chrono::hours(1), [&] {
            kernel_->transact(Tx::Mode::write, [&](Tx& tx) {
                tx.set_scope_to_all_orgs();
                forget_unused(tx, std::chrono::days(settings_.unused_registration_days));
            });
        });
    }

    void stop() noexcept override { documents_->stop(); }

    std::string challenge(std::string_view path) const override {
        return challenge_at(*kernel_, path);
    }

private:
    using Endpoint = http::Answer (*)(Kernel&, const http::Request&);
    void add_endpoint(const std::string& path, Endpoint endpoint, std::size_t body_limit) {
        kernel_->add(Route{
            .method = "POST",
            .path = path,
            .body_limit = body_limit,
            .handle = [this,
                       endpoint](RouteCall& call) { return endpoint(*kernel_, call.request()); },
            .with_refusals = with_refusals,
        });
        kernel_->add(Route{.method = "OPTIONS", .path = path, .handle = [](RouteCall&) {
                               return preflight_answer();
                           }});
    }

    Kernel* kernel_ = nullptr;
    Settings settings_;
    std::optional<Documents> documents_;
};

}  // namespace

}  // namespace svc::oauth

SVC_MODULE(svc::oauth::OAuth, "oauth", "agents", "auth", "mcp");
