#include "svc/module.hpp"

#include "modules/mcp/api.hpp"
#include "modules/mcp/endpoint.hpp"
#include "modules/mcp/mailbox.hpp"
#include "svc/bus.hpp"

#include <algorithm>

namespace svc::mcp {

namespace {

const std::pair<std::string, std::string> for_any_page{"Access-Control-Allow-Origin", "*"};

class Mcp final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel_ = &kernel;
        settings_ = kernel.settings<Settings>();
        origins_.emplace(kernel, settings_.allowed_origins);
        add_door("*", "/v1/mcp/http", "GET, POST, DELETE", &Endpoint::serve);
        add_door("GET", "/v1/mcp/sse", "GET", &Endpoint::open_sse);
        for (const char* path : {"/v1/mcp/messages/", "/v1/mcp/messages"})
            add_door("POST", path, "POST", &Endpoint::take_message);
        kernel.add(Route{
            .method = "GET",
            .path = "/v1/mcp/manifest",
            .access = Access::anyone,
            .handle = [this](RouteCall& call) { return manifest(call.request()); },
            .with_refusals = [](auto&, int) { return http::Headers{for_any_page}; },
        });
        kernel.add(Route{
            .method = "*",
            .path = "/v1/mcp/*",
            .access = Access::anyone,
            .handle = [](RouteCall& call) { return nothing_there(call); },
            .with_refusals = refusals(),
        });
        add_mailbox_sweep(kernel);
        kernel.every("mcp.keep_alive", std::chrono::seconds(15), [this] {
            endpoint_->streams().keep_alive();
        });
        kernel.listen([this](std::span<const StoredEvent> batch) {
            if (started_) endpoint_->streams().hear(batch);
        });
        kernel.use<Bus>().subscribe(Streams::channel, [this](std::string_view session) {
            if (started_) endpoint_->streams().look_for(session);
        });
    }

    void start() override {
        catalog_.emplace(*kernel_);
        endpoint_.emplace(*kernel_, *catalog_, *origins_, settings_);
        endpoint_->streams().start();
        started_ = true;
    }
    void stop() noexcept override {
        if (endpoint_) endpoint_->streams().stop();
    }

private:
    /// To which pages they are shown, and where a client gets a token.
    std::function<http::Headers(const http::Request&, int)> refusals() const {
        return [this](const http::Request& request, int status) {
            auto headers = origins_->for_page(request);
            const auto* tokens = kernel_->find<TokenSource>();
            if (status == 401 && tokens)
                headers.emplace_back("WWW-Authenticate", tokens->challenge(request.path));
            return headers;
        };
    }

    /// A path by which clients with a token come in, and pages that may.
    void add_door(
        std::string method,
        std::string path,
        std::string_view methods,
        http::Answer (Endpoint::*serve)(RouteCall&)
    ) {
        auto preflight = [this, methods](RouteCall& call) {
            return origins_->preflight(call.request(), methods);
        };
        auto answer = [this, serve](RouteCall& call) {
            auto out = ((*endpoint_).*serve)(call);
            std::ranges::move(origins_->for_page(call.request()), std::back_inserter(out.headers));
            return out;
        };
        kernel_->add(Route{
            .method = "OPTIONS",
            .path = path,
            .handle = std::move(preflight),
            .with_refusals = refusals(),
        });
        kernel_->add(Route{
            .method = std::move(method),
            .path = std::move(path),
            .access = Access::me,
            .body_limit = 2 << 20,
            .handle = std::move(answer),
            .with_refusals = refusals(),
        });
    }

    /// MCP has versions of its own, so none is asked for below /v1/mcp, not even to learn this.
    static http::Answer nothing_there(RouteCall& call) {
        throw Failure(
            Fault::no_route, "There is nothing at " + std::string(call.request().path) + "."
        );
    }

    /// Made on first use: few servers are asked, and none waits for it when it starts.
    http::Answer manifest(const http::Request& request) {
        std::call_once(manifest_once_, [&] {
            manifest_.emplace(catalog_->manifest(kernel_->base_url()));
        });
        http::Answer answer{.headers = {{"Cache-Control", "no-cache"}, for_any_page}};
        manifest_->write(request, answer);
        return answer;
    }

    Kernel* kernel_ = nullptr;
    Settings settings_;
    std::optional<Origins> origins_;
    std::optional<Catalog> catalog_;  // made once every module has declared its operations
    std::optional<Endpoint> endpoint_;
    std::atomic<bool> started_ = false;  // what other threads bring has somebody to go to
    std::once_flag manifest_once_;
    std::optional<http::SharedText> manifest_;
};

}  // namespace

}  // namespace svc::mcp

SVC_MODULE(svc::mcp::Mcp, "mcp", "boards");
