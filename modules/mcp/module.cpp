#include "svc/module.hpp"

#include "modules/mcp/endpoint.hpp"
#include "svc/bus.hpp"

namespace svc::mcp {

namespace {

class Mcp final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel_ = &kernel;
        settings_ = kernel.settings<Settings>();
        kernel.add(Route{
            .method = "*",
            .path = "/v1/mcp/http",
            .access = Access::me,
            .body_limit = 2 << 20,
            .handle = [this](RouteCall& call) { return endpoint_->serve(call); },
        });
        kernel.add(Route{
            .method = "GET",
            .path = "/v1/mcp/manifest",
            .access = Access::anyone,
            .handle = [this](RouteCall&) { return manifest(); },
        });
        kernel.add(Route{
            .method = "GET",
            .path = "/v1/mcp/sse",
            .access = Access::me,
            .handle = [this](RouteCall& call) { return endpoint_->open_sse(call); },
        });
        for (const char* path : {"/v1/mcp/messages/", "/v1/mcp/messages"})
            kernel.add(Route{
                .method = "POST",
                .path = path,
                .access = Access::me,
                .body_limit = 2 << 20,
                .handle = [this](RouteCall& call) { return endpoint_->take_message(call); },
            });
        kernel.add(Route{
            .method = "*",
            .path = "/v1/mcp/*",
            .access = Access::anyone,
            .handle = [](RouteCall& call) { return nothing_there(call); },
        });
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
        endpoint_.emplace(*kernel_, *catalog_, settings_);
        endpoint_->streams().start();
        started_ = true;
    }
    void stop() noexcept override {
        if (endpoint_) endpoint_->streams().stop();
    }

private:
    /// MCP has versions of its own, so none is asked for below /v1/mcp, not even to learn this.
    static http::Answer nothing_there(RouteCall& call) {
        throw Failure(
            Fault::no_route, "There is nothing at " + std::string(call.request().path) + "."
        );
    }

    /// Made on first use: few servers are asked, and none waits for it when it starts.
    http::Answer manifest() {
        std::call_once(manifest_once_, [&] {
            manifest_ =
                std::make_shared<const std::string>(catalog_->manifest(kernel_->base_url()));
        });
        return {.headers = {{"Cache-Control", "no-cache"}}, .shared_body = manifest_};
    }

    Kernel* kernel_ = nullptr;
    Settings settings_;
    std::optional<Catalog> catalog_;  // made once every module has declared its operations
    std::optional<Endpoint> endpoint_;
    std::atomic<bool> started_ = false;  // what other threads bring has somebody to go to
    std::once_flag manifest_once_;
    std::shared_ptr<const std::string> manifest_;  // shared: answers send it as it is
};

}  // namespace

}  // namespace svc::mcp

SVC_MODULE(svc::mcp::Mcp, "mcp", "boards");
