#pragma once

#include "core/logs.hpp"
#include "core/routes.hpp"
#include "core/run.hpp"
#include "core/secret_paths.hpp"
#include "http/server.hpp"
#include "http/static_files.hpp"

#include <unordered_map>

namespace svc::core {

/// Takes whole requests from the front end to operations and routes, and answers them: the
/// order of checks of contract section 4.3. Built when all modules are open; any thread.
class Dispatcher final : public http::Service {
public:
    struct Settings {
        std::vector<std::string> version_headers;  ///< any of them satisfies the version rule
        std::string transport_security;  ///< the header of that name; none while it is empty
    };
    Dispatcher(Kernel& kernel, Settings settings, AccessLog& log);
    ~Dispatcher() override;

    http::Outcome serve(http::Exchange& exchange) override;
    bool serve_at_once(http::Exchange& exchange) override;
    http::BodyRules body_rules(std::string_view method, std::string_view path) const override;
    std::unique_ptr<http::BodySink> receive(const http::Request& head) override;
    void refuse(const http::Refusal& why, const http::Request& seen, http::Answer& answer)
        const override;
    void write_metrics(std::string& out) const { metrics_.write(out); }

private:
    struct Folder {
        Folder(
            const Kernel::Impl::Folder& from,
            http::StaticFiles::Serves serves,
            http::StaticFiles::Origin origin
        )
            : prefix(from.prefix), files(from.path, std::move(serves), std::move(origin)) {}
        std::string prefix;
        http::StaticFiles files;
    };
    /// What the log and the metrics say about a request.
    struct Served {
        std::string_view name;
        std::optional<Caller> caller;
    };
    std::vector<std::string> endpoint_names() const;
    using Methods = std::vector<std::string_view>;
    /// `known` gets the methods of a path that does not take this one.
    const Route* find_route(std::string_view method, std::string_view path, Methods& known) const;
    Methods all_methods() const;
    http::Outcome dispatch(
        http::Exchange& exchange, RequestContext& request_context, Served& served
    ) const;
    http::Outcome run_endpoint(
        const Match& match,
        http::Exchange& exchange,
        RequestContext& request_context,
        Served& served
    ) const;
    http::Outcome run_operation_of(
        const Match& match,
        http::Exchange& exchange,
        RequestContext& request_context,
        Served& served
    ) const;
    http::Outcome run_route(
        const Route& route,
        http::Exchange& exchange,
        RequestContext& request_context,
        Served& served
    ) const;
    void check_version(const http::Request& request) const;
    bool serve_file(const http::Request& request, Methods& here, http::Answer& answer) const;
    /// A page that says so, for a browser that asks for what is nowhere.
    bool serve_missing_page(const http::Request& request, const Methods& here, http::Answer& answer)
        const;
    /// Whether this server has an operation of this name, or anything at this path.
    bool serves(std::string_view name) const;
    bool answer_options(const http::Request& request, const Methods& here, http::Answer& answer)
        const;
    /// What the route at the request's path says of its refusals, of which `answer` is one.
    void add_refusal_headers(const http::Request& request, http::Answer& answer) const;
    [[noreturn]] static void no_route(const http::Request& request, const Methods& here);
    void finish(
        http::Exchange& exchange, const RequestContext& request_context, const Served& served
    );

    Kernel& kernel_;
    Settings settings_;
    AccessLog& log_;
    Routes operations_;
    SecretPaths secret_paths_;
    std::unordered_map<std::string_view, std::vector<const Route*>> exact_;
    std::vector<const Route*> below_;  // paths that end in "/*", longest first
    std::vector<std::unique_ptr<Folder>> folders_;
    std::unordered_map<const Route*, std::size_t> route_numbers_;
    std::size_t unmatched_;  // the endpoint number of everything else
    std::string allowed_anywhere_;
    mutable RequestMetrics metrics_;
};

}  // namespace svc::core
