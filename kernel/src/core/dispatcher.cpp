#include "core/dispatcher.hpp"

#include "svc/page_sources.hpp"
#include "svc/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

namespace svc::core {

namespace {

/// The id a request is known by, here and in the answer; kept over its waits.
std::shared_ptr<RequestContext> request_context_of(http::Exchange& exchange) {
    if (exchange.state) return std::static_pointer_cast<RequestContext>(exchange.state);
    auto request_context = std::make_shared<RequestContext>();
    request_context->request_id = new_uuid().str();
    exchange.state = request_context;
    return request_context;
}

/// What every answer says to a browser that is led to it: it is what it says it is, and no page
/// takes it for a part of itself. Pages and files have policies of their own.
void add_security_headers(http::Answer& answer, const std::string& transport_security) {
    const auto has = [&](std::string_view name) {
        return std::ranges::any_of(answer.headers, [&](const auto& each) {
            return each.first == name;
        });
    };
    constexpr std::array<std::pair<const char*, const char*>, 3> headers{{
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
    }};
    answer.headers.reserve(answer.headers.size() + headers.size() + 1);
    for (const auto& [name, value] : headers)
        if (!has(name)) answer.headers.emplace_back(name, value);
    if (!transport_security.empty())
        answer.headers.emplace_back("Strict-Transport-Security", transport_security);
}

/// For the header Allow: what a path takes, and what follows from that.
std::string allowed(const std::vector<std::string_view>& methods) {
    std::string out;
    for (std::string_view each : methods) {
        (out += each) += ", ";
        if (each == "GET") out += "HEAD, ";
    }
    return out + "OPTIONS";
}

/// Where a browser only follows a link it cannot send our headers: an operation that leads on, or
/// one that is asked by `redirect=true` to do so.
bool follows_link(const Operation& operation, const http::Request& request) {
    if (operation.is_redirect()) return true;
    if (std::ranges::find(operation.also, 302) == operation.also.end()) return false;
    const auto query = http::parse_query(request.query);
    return query && std::ranges::any_of(*query, [](const auto& each) {
               return each.first == "redirect" && each.second == "true";
           });
}

std::string_view stem(const Route& route) {
    return std::string_view(route.path).substr(0, route.path.size() - 1);
}

}  // namespace

Dispatcher::Dispatcher(Kernel& kernel, Settings settings, AccessLog& log)
    : kernel_(kernel),
      settings_(std::move(settings)),
      log_(log),
      operations_(kernel.operations()),
      secret_paths_(kernel.operations()),
      unmatched_(kernel.operations().size() + kernel.impl().routes.size()),
      metrics_(endpoint_names()) {
    std::size_t number = kernel.operations().size();
    for (const Route& route : kernel.impl().routes) {
        route_numbers_[&route] = number++;
        if (route.path.ends_with("/*")) below_.push_back(&route);
        else exact_[route.path].push_back(&route);
    }
    std::ranges::sort(below_, std::greater{}, [](const Route* each) { return each->path.size(); });
    const auto has = [this](std::string_view name) { return serves(name); };
    http::StaticFiles::Origin origin;
    if (const auto* sources = kernel.find<PageSources>())
        origin = [sources] { return sources->origin(); };
    for (const auto& each : kernel.impl().folders)
        folders_.push_back(std::make_unique<Folder>(each, has, origin));
    std::ranges::sort(folders_, std::greater{}, [](const auto& each) {
        return each->prefix.size();
    });
    allowed_anywhere_ = allowed(all_methods());
}

Dispatcher::~Dispatcher() = default;

/// Of all operations together; routes take none besides.
Dispatcher::Methods Dispatcher::all_methods() const {
    std::set<std::string_view> methods{"GET"};
    for (const Declared& each : kernel_.operations()) methods.insert(each.operation->method());
    return {methods.begin(), methods.end()};
}

std::vector<std::string> Dispatcher::endpoint_names() const {
    std::vector<std::string> names;
    for (const Declared& each : kernel_.operations()) names.emplace_back(each.operation->name);
    for (const Route& each : kernel_.impl().routes) names.push_back(each.path);
    names.emplace_back("(other)");
    return names;
}

http::Outcome Dispatcher::serve(http::Exchange& exchange) {
    const auto request_context = request_context_of(exchange);
    Served served;
    request_context->endpoint = unmatched_;
    request_context->bytes = exchange.bytes_held();
    request_context->room_to_wait = exchange.room_to_park();
    if (!request_context->waiter.resume)
        request_context->waiter = {
            .resume = [&exchange] { exchange.resume(); },
            .gone = [&exchange] { return exchange.abandoned(); }};
    try {
        if (dispatch(exchange, *request_context, served) == http::Outcome::parked)
            return http::Outcome::parked;
    } catch (const Parked& wait) {
        request_context->has_waited = true;
        kernel_.impl().admission.leave(request_context->turn);
        kernel_.impl().wait_queue.park(
            request_context->place, wait, request_context->ticket, request_context->waiter
        );
        return http::Outcome::parked;
    } catch (const Failure& failure) {
        exchange.answer = answer_of(failure, request_context->request_id);
        add_refusal_headers(exchange.request(), exchange.answer);
    } catch (const std::exception& problem) {
        exchange.answer = answer_of_unexpected(problem.what(), request_context->request_id);
        add_refusal_headers(exchange.request(), exchange.answer);
    }
    kernel_.impl().admission.leave(request_context->turn);
    finish(exchange, *request_context, served);
    return http::Outcome::answered;
}

bool Dispatcher::serve_at_once(http::Exchange& exchange) {
    const http::Request& request = exchange.request();
    return kernel_.impl().at_once.contains(request.path) &&
           serve(exchange) == http::Outcome::answered;
}

void Dispatcher::finish(
    http::Exchange& exchange, const RequestContext& request_context, const Served& served
) {
    exchange.answer.headers.emplace_back("X-Request-Id", request_context.request_id);
    add_security_headers(exchange.answer, settings_.transport_security);
    if (Budgets* budgets = kernel_.impl().budgets; budgets && served.caller)
        budgets->report(*served.caller, exchange.answer.headers);
    const auto took = std::chrono::steady_clock::now() - request_context.started;
    metrics_.count(
        request_context.endpoint, exchange.answer.status, took, request_context.round_trips
    );
    const http::Request& request = exchange.request();
    // Without the query, which may hold a ticket or an address.
    const std::string target = secret_paths_.shown(request.path);
    std::string principal, org;
    if (served.caller) {
        principal = served.caller->id.str();
        if (served.caller->org_id) org = served.caller->org_id->str();
    }
    log_.write({
        .request_id = request_context.request_id,
        .method = request.method,
        .target = target,
        .operation = served.name,
        .client = request.client_address,
        .principal = principal,
        .org = org,
        .status = exchange.answer.status,
        .bytes = exchange.answer.size(),
        .took = took,
        .round_trips = request_context.round_trips,
    });
}

const Route* Dispatcher::find_route(std::string_view method, std::string_view path, Methods& known)
    const {
    const auto serves = [&](const Route* route) {
        if (route->method == "*" || route->method == (method == "HEAD" ? "GET" : method))
            return true;
        known.emplace_back(route->method);
        return false;
    };
    if (const auto found = exact_.find(path); found != exact_.end())
        for (const Route* each : found->second)
            if (serves(each)) return each;
    for (const Route* each : below_)
        if (path.starts_with(stem(*each)) && serves(each)) return each;
    return nullptr;
}

http::Outcome Dispatcher::dispatch(
    http::Exchange& exchange, RequestContext& request_context, Served& served
) const {
    const http::Request& request = exchange.request();
    Methods here;
    if (const Route* route = find_route(request.method, request.path, here))
        return run_route(*route, exchange, request_context, served);
    const bool versioned = request.path.starts_with("/v1/") && here.empty();
    const Match match = operations_.find(request.method, request.path);
    const bool led_here = match.endpoint && follows_link(match.endpoint->operation(), request);
    if (versioned && request.method != "OPTIONS" && !led_here) check_version(request);
    if (match.endpoint) return run_endpoint(match, exchange, request_context, served);
    here.insert(here.end(), match.allow.begin(), match.allow.end());
    if (serve_file(request, here, exchange.answer) ||
        answer_options(request, here, exchange.answer) ||
        serve_missing_page(request, here, exchange.answer))
        return http::Outcome::answered;
    no_route(request, here);
}

bool Dispatcher::serves(std::string_view name) const {
    if (!name.starts_with('/')) return kernel_.find_operation(name) != nullptr;
    return exact_.contains(name) ||
           std::ranges::any_of(folders_, [&](const auto& each) { return each->prefix == name; });
}

bool Dispatcher::serve_missing_page(
    const http::Request& request, const Methods& here, http::Answer& answer
) const {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (!reads || !here.empty() || request.path.starts_with("/v1/")) return false;
    if (request.header("accept").find("text/html") == std::string_view::npos) return false;
    for (const auto& folder : folders_) {
        if (folder->prefix != "/") continue;
        if (auto page = folder->files.missing_page()) return answer = std::move(*page), true;
    }
    return false;
}

bool Dispatcher::serve_file(const http::Request& request, Methods& here, http::Answer& answer)
    const {
    const bool reads = request.method == "GET" || request.method == "HEAD";
    for (const auto& folder : folders_) {
        if (!request.path.starts_with(folder->prefix)) continue;
        const auto path =
            http::decode(request.path.substr(folder->prefix.size()), http::Decode::path);
        if (!path) continue;
        if (!reads && folder->files.has(*path)) return here.emplace_back("GET"), false;
        if (auto found = folder->files.find(request, *path))
            return answer = std::move(*found), true;
    }
    return false;
}

bool Dispatcher::answer_options(
    const http::Request& request, const Methods& here, http::Answer& answer
) const {
    const bool of_server = request.path == "*";
    if (request.method != "OPTIONS" || (here.empty() && !of_server)) return false;
    answer.status = 204;
    answer.headers.emplace_back("Allow", of_server ? allowed_anywhere_ : allowed(here));
    return true;
}

void Dispatcher::check_version(const http::Request& request) const {
    for (const std::string& name : settings_.version_headers)
        if (!request.header(name).empty()) return;
    throw Failure(
        Fault::missing_version,
        fmt::format(
            "Every request under /v1 carries the header {}; the present version is {}.",
            version_header,
            api_version
        )
    );
}

void Dispatcher::no_route(const http::Request& request, const Methods& here) {
    if (here.empty())
        throw Failure(Fault::no_route, "There is nothing at " + std::string(request.path) + ".");
    throw Failure(Fault::wrong_method, "This path takes " + allowed(here) + ".")
        .with_header("Allow", allowed(here));
}

http::BodyRules Dispatcher::body_rules(std::string_view method, std::string_view path) const {
    constexpr std::size_t of_strangers = 64 << 10;  // read, so that they are told what is wrong
    Methods known;
    if (const Route* route = find_route(method, path, known))
        return {route->body_limit, route->receive != nullptr};
    const Match match = operations_.find(method, path);
    return {match.endpoint ? match.endpoint->operation().body_limit : of_strangers};
}

std::unique_ptr<http::BodySink> Dispatcher::receive(const http::Request& head) {
    Methods known;
    return find_route(head.method, head.path, known)->receive(head);
}

/// A method that the path does not take is refused as its others are.
void Dispatcher::add_refusal_headers(const http::Request& request, http::Answer& answer) const {
    Methods known;
    const Route* route = find_route(request.method, request.path, known);
    if (const auto at = exact_.find(request.path); !known.empty() && at != exact_.end())
        route = at->second.front();
    if (!route || !route->with_refusals) return;
    for (auto& header : route->with_refusals(request, answer.status)) {
        std::erase_if(answer.headers, [&](const auto& each) { return each.first == header.first; });
        answer.headers.push_back(std::move(header));
    }
}

void Dispatcher::refuse(const http::Refusal& why, const http::Request& seen, http::Answer& answer)
    const {
    const auto id = new_uuid().str();
    answer.status = why.status;
    answer.headers.emplace_back("X-Request-Id", id);
    add_refusal_headers(seen, answer);
    add_security_headers(answer, settings_.transport_security);
    if (why.status == 405) answer.headers.emplace_back("Allow", allowed_anywhere_);
    const std::string_view code = why.status == 413   ? "request_too_large"
                                  : why.status == 503 ? "service_unavailable"
                                                      : "invalid_request";
    answer.body = R"({"object":"error","status":)" + std::to_string(why.status) + R"(,"code":)";
    write_text(code, answer.body);
    answer.body += R"(,"message":)";
    write_text(why.reason, answer.body);
    answer.body += R"(,"request_id":)";
    write_text(id, answer.body);
    answer.body += '}';
}

}  // namespace svc::core
