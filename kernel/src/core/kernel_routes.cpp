#include "core/app.hpp"
#include "core/dispatcher.hpp"
#include "core/kernel_impl.hpp"

namespace svc::core {

namespace {

http::Answer text_answer(int status, std::string body) {
    http::Answer answer;
    answer.status = status;
    answer.content_type = "text/plain; charset=utf-8";
    answer.body = std::move(body);
    return answer;
}

}  // namespace

http::Answer App::ready() const {
    if (kernel_->stopping()) return text_answer(503, "stopping\n");
    if (!kernel_->impl().database->reachable()) return text_answer(503, "no database\n");
    return text_answer(200, "ready\n");
}

http::Answer App::metrics() const {
    http::Answer answer = text_answer(200, {});
    answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
    dispatcher_->write_metrics(answer.body);
    for (const Gauge& each : kernel_->impl().gauges) write_gauge(each, answer.body);
    return answer;
}

void App::add_kernel_routes() {
    kernel_->add(Route{.method = "GET", .path = "/healthz", .handle = [](RouteCall&) {
                           return text_answer(200, "ok\n");
                       }});
    kernel_->impl().at_once.insert("/healthz");
    kernel_->add(Route{
        .method = "GET", .path = "/readyz", .handle = [this](RouteCall&) { return ready(); }});
    kernel_->add(Route{
        .method = "GET", .path = "/metrics", .handle = [this](RouteCall&) { return metrics(); }});
    kernel_->add(Route{.method = "GET", .path = "/openapi.json", .handle = [this](RouteCall&) {
                           http::Answer answer;
                           answer.headers.emplace_back("Access-Control-Allow-Origin", "*");
                           answer.body = kernel_->openapi();
                           return answer;
                       }});
    const auto pages = kernel_->share_folder() / "www";
    if (std::filesystem::is_directory(pages)) kernel_->add_folder("/", pages);
}

void App::add_kernel_gauges() {
    const auto gauge = [&](std::string name, std::string help, std::function<double()> read) {
        kernel_->add_metric("workboard_" + std::move(name), std::move(help), std::move(read));
    };
    const auto http = [this](auto member) {
        return [this, member] { return static_cast<double>(server_->load().*member); };
    };
    gauge("http_connections", "Connections open.", http(&http::Load::connections));
    gauge("http_busy_workers", "Workers that run a request.", http(&http::Load::busy_workers));
    gauge("http_queued_requests", "Requests waiting for a worker.", http(&http::Load::queued));
    gauge("http_parked_requests", "Requests that wait for something.", http(&http::Load::parked));
    gauge("http_streams", "Streams open.", http(&http::Load::streams));
    gauge("http_accepted_total", "Connections accepted.", http(&http::Load::accepted));
    gauge("http_refused_total", "Requests refused before routing.", http(&http::Load::refused));
    const auto data = [this](auto member) {
        return [this, member] { return static_cast<double>(database().load().*member); };
    };
    gauge("db_connections", "Database connections open.", data(&db::Load::connections));
    gauge("db_busy_connections", "Database connections in use.", data(&db::Load::busy));
    gauge("db_waiting", "Requests waiting for a database connection.", data(&db::Load::waiting));
    gauge("db_round_trips_total", "Database round trips.", data(&db::Load::round_trips));
    gauge("db_statements_total", "Statements run.", data(&db::Load::statements));
    gauge("db_prepared_total", "Statements prepared.", data(&db::Load::prepared));
    gauge("db_retries_total", "Transactions run again.", data(&db::Load::retries));
    gauge("db_reconnects_total", "Connections made anew.", data(&db::Load::reconnects));
    gauge(
        "db_wait_seconds_total",
        "Time spent waiting for a connection.",
        data(&db::Load::wait_seconds)
    );
    gauge("access_log_dropped_total", "Lines of the access log that were dropped.", [this] {
        return static_cast<double>(access_log_->dropped());
    });
    const auto events = [this](auto member) {
        return [this, member] { return static_cast<double>(sequencer_->load().*member); };
    };
    gauge(
        "events_sequenced_total",
        "Events put in order by this server.",
        events(&events::Sequencer::Load::events)
    );
    gauge(
        "events_position",
        "Of the last event this server knows.",
        events(&events::Sequencer::Load::position)
    );
    gauge(
        "events_lag_seconds",
        "How long the oldest event of the last batch had waited.",
        events(&events::Sequencer::Load::lag_seconds)
    );
    const auto waits = [this](auto member) {
        return [this, member] { return static_cast<double>(kernel_->impl().waits.load().*member); };
    };
    gauge("calls_waiting", "Calls that wait without a worker.", waits(&Waits::Load::waiting));
    gauge("calls_resumed_total", "Calls that waited and ran again.", waits(&Waits::Load::resumed));
}

}  // namespace svc::core
