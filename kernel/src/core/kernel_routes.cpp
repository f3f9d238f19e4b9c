#include "core/app.hpp"
#include "core/dispatcher.hpp"
#include "core/kernel_impl.hpp"
#include "svc/secrets.hpp"

#include <Poco/Logger.h>
#include <Poco/URI.h>

#include <algorithm>
#include <iterator>

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
    if (kernel_->stopping() || draining_) return text_answer(503, "stopping\n");
    if (!kernel_->impl().database->reachable()) return text_answer(503, "no database\n");
    return text_answer(200, "ready\n");
}

/// Nobody else than this machine's own users can ask, as far as the settings tell: a `base_url` of
/// another host says that a proxy stands in front.
bool App::metrics_are_private() const {
    if (!is_loopback(server_settings_.address)) return false;
    if (server_settings_.base_url.empty()) return true;
    try {
        return is_loopback(Poco::URI(server_settings_.base_url).getHost());
    } catch (const Poco::Exception&) {
        return false;
    }
}

http::Answer App::metrics(const http::Request& request) {
    const std::string& token = metrics_settings_.token;
    const bool allowed = token.empty()
                             ? metrics_are_private()
                             : same_secret(request.header("authorization"), "Bearer " + token);
    if (!allowed)
        throw Failure(
            Fault::unauthorized,
            token.empty() ? "The operator has not set metrics.token." : "That is not metrics.token."
        );
    http::Answer answer = text_answer(200, {});
    answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
    dispatcher_->write_metrics(answer.body);
    for (const Gauge& each : kernel_->impl().gauges) write_gauge(each, answer.body);
    write_metrics(all_metrics(), answer.body);
    return answer;
}

std::vector<Metric> App::all_metrics() {
    auto all = process_metrics();
    all.push_back({"build_info", "1, with the version.", R"(version=")" SVC_VERSION R"(")", 1});
    all.push_back(
        {"process_start_time_seconds", "When this process began to serve.", "", started_at_}
    );
    const auto of_modules = read_module_metrics();
    all.insert(all.end(), of_modules.begin(), of_modules.end());
    return all;
}

std::vector<LoadedModule> App::Status::loaded_modules() const {
    std::vector<LoadedModule> out;
    for (const Loaded& each : app_.modules_)
        out.push_back(
            {.name = std::string(each.card->name),
             .version = std::string(each.card->version),
             .is_driver =
                 std::ranges::find(app_.top_.plugins, each.card->name) != app_.top_.plugins.end(),
             .needs = {each.card->needs.begin(), each.card->needs.end()}}
        );
    return out;
}

std::vector<SettingInForce> App::Status::settings() const {
    std::vector<SettingInForce> out;
    for (const auto& [section, settings] : app_.config_.effective())
        for (const auto& [name, setting] : settings)
            out.push_back({section, name, setting.value, setting.source});
    return out;
}

std::vector<Metric> App::Status::metrics() {
    auto all = app_.all_metrics();
    for (Metric& each : all) each.name = metric_name(each.name);
    for (const Gauge& each : app_.kernel_->impl().gauges)
        all.push_back(
            {each.name, each.help, "", each.read(), each.is_charted, each.limit, each.module}
        );
    return all;
}

/// One copy of the document for however many read it, and however slowly.
http::Answer App::document(const http::Request& request) {
    std::call_once(document_once_, [this] { document_.emplace(kernel_->openapi()); });
    http::Answer answer;
    answer.headers = {{"Access-Control-Allow-Origin", "*"}};
    document_->write(request, answer);
    return answer;
}

/// Some of them ask the database, which is not to be asked as often as anybody likes. While it does
/// not answer, those of modules are left out, and nobody waits for more than the question whether
/// it does; while it is slow, those that are asked for last.
std::vector<Metric> App::read_module_metrics() {
    constexpr std::chrono::seconds good_for{10}, long_enough{3};
    const std::lock_guard lock(metrics_mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (metrics_read_ != decltype(metrics_read_){} && now - metrics_read_ < good_for)
        return module_metrics_;
    module_metrics_.clear();
    if (database().reachable())
        for (const auto& reader : kernel_->impl().upkeep.metrics()) try {
                if (std::chrono::steady_clock::now() - now > long_enough) break;
                auto some = reader.read();
                for (Metric& each : some) each.module = reader.module;
                std::ranges::move(some, std::back_inserter(module_metrics_));
                unread_metrics_.erase(&reader);
            } catch (const std::exception& problem) {
                // What is not known is left out.
                if (unread_metrics_.insert(&reader).second)
                    Poco::Logger::get("metrics").warning(
                        (reader.module.empty() ? "kernel" : reader.module) +
                        ": some are left out, as they cannot be read: " + problem.what()
                    );
            }
    metrics_read_ = std::chrono::steady_clock::now();
    return module_metrics_;
}

void App::add_kernel_routes() {
    kernel_->add(Route{.method = "GET", .path = "/healthz", .handle = [](RouteCall&) {
                           return text_answer(200, "ok\n");
                       }});
    kernel_->impl().at_once.insert("/healthz");
    kernel_->add(Route{
        .method = "GET", .path = "/readyz", .handle = [this](RouteCall&) { return ready(); }});
    kernel_->add(Route{.method = "GET", .path = "/metrics", .handle = [this](RouteCall& call) {
                           return metrics(call.request());
                       }});
    kernel_->add(Route{.method = "GET", .path = "/openapi.json", .handle = [this](RouteCall& call) {
                           return document(call.request());
                       }});
    const auto pages = kernel_->share_folder() + "/www";
    if (std::filesystem::is_directory(pages)) kernel_->add_folder("/", pages);
}

namespace {

/// Adds gauges that read one member each of a component's load.
template <class Load>
class Gauges {
public:
    Gauges(Kernel& kernel, std::function<Load()> load) : kernel_(kernel), load_(std::move(load)) {}

    template <class Member>
    void add(std::string name, std::string help, Member member) const {
        kernel_.add_metric(std::move(name), std::move(help), [load = load_, member] {
            return static_cast<double>(load().*member);
        });
    }
    template <class Member>
    void add_charted(
        std::string name, std::string help, Member member, std::optional<double> limit = {}
    ) const {
        add(std::move(name), std::move(help), member);
        kernel_.impl().gauges.back().is_charted = true;
        kernel_.impl().gauges.back().limit = limit;
    }

private:
    Kernel& kernel_;
    std::function<Load()> load_;
};

void add_http_gauges(const Gauges<http::Load>& to) {
    using http::Load;
    to.add("http_connections", "Connections open.", &Load::connections);
    to.add("http_busy_workers", "Workers that run a request.", &Load::busy_workers);
    to.add("http_queued_requests", "Requests waiting for a worker.", &Load::queued);
    to.add("http_parked_requests", "Requests that wait for something.", &Load::parked);
    to.add("http_streams", "Streams open.", &Load::streams);
    to.add("http_accepted_total", "Connections accepted.", &Load::accepted);
    to.add("http_refused_total", "Requests refused before routing.", &Load::refused);
}

void add_database_gauges(const Gauges<db::Load>& to) {
    using db::Load;
    to.add("db_connections", "Database connections open.", &Load::connections);
    to.add_charted("db_busy_connections", "Database connections in use.", &Load::busy);
    constexpr double many = 100;
    to.add_charted(
        "db_waiting", "Requests waiting for a database connection.", &Load::waiting, many
    );
    to.add("db_round_trips_total", "Database round trips.", &Load::round_trips);
    to.add("db_statements_total", "Statements run.", &Load::statements);
    to.add("db_prepared_total", "Statements prepared.", &Load::prepared);
    to.add("db_retries_total", "Transactions run again.", &Load::retries);
    to.add("db_reconnects_total", "Reconnections to the database.", &Load::reconnects);
    to.add("db_wait_seconds_total", "Time spent waiting for a connection.", &Load::wait_seconds);
}

void add_event_gauges(const Gauges<events::Sequencer::Load>& to) {
    using Load = events::Sequencer::Load;
    to.add("events_sequenced_total", "Events put in order by this server.", &Load::events);
    to.add("events_position", "Number of the last event this server knows.", &Load::position);
    to.add(
        "events_lag_seconds",
        "How long the oldest event of the last batch had waited.",
        &Load::lag_seconds
    );
}

void add_bus_gauges(const Gauges<bus::ServerBus::Load>& to) {
    using Load = bus::ServerBus::Load;
    to.add("bus_connected", "1 while other servers can be woken, else 0.", &Load::connected);
    to.add("bus_peers", "Other servers that were heard of late.", &Load::peers);
    to.add("bus_sent_total", "Messages to other servers.", &Load::sent);
    to.add("bus_received_total", "Messages of other servers.", &Load::received);
    to.add(
        "bus_rejected_total", "Messages that no server of this database has made.", &Load::rejected
    );
    to.add("bus_dropped_total", "Wake-ups for which there was no room.", &Load::dropped);
    to.add("bus_reconnects_total", "Reconnections to the bus.", &Load::reconnects);
}

void add_admission_gauges(const Gauges<Admission::Load>& to) {
    using Load = Admission::Load;
    to.add("requests_running", "Requests that have had their turn.", &Load::running);
    to.add(
        "requests_in_background",
        "Those of them of which few run at a time: slow ones, and of callers with many open.",
        &Load::background
    );
    to.add("requests_in_line", "Requests that wait for their turn.", &Load::waiting);
}

void add_wait_gauges(const Gauges<WaitQueue::Load>& to) {
    using Load = WaitQueue::Load;
    to.add("calls_waiting", "Calls that wait without a worker.", &Load::waiting);
    to.add("calls_resumed_total", "Calls that waited and ran again.", &Load::resumed);
}

void add_group_gauges(const Gauges<RequestGroups::Load>& to) {
    using Load = RequestGroups::Load;
    to.add(
        "requests_served_together_total",
        "Requests that were served in the transaction of another.",
        &Load::together
    );
}

}  // namespace

void App::add_kernel_gauges() {
    add_http_gauges({*kernel_, [this] { return server_->load(); }});
    add_database_gauges({*kernel_, [this] { return database().load(); }});
    kernel_->add_metric(
        "access_log_dropped_total",
        "Lines of the access log that were dropped.",
        [this] { return static_cast<double>(access_log_->dropped()); }
    );
    add_event_gauges({*kernel_, [this] { return sequencer_->load(); }});
    add_bus_gauges({*kernel_, [this] { return bus_->load(); }});
    add_admission_gauges({*kernel_, [this] { return kernel_->impl().admission.load(); }});
    add_wait_gauges({*kernel_, [this] { return kernel_->impl().wait_queue.load(); }});
    add_group_gauges({*kernel_, [this] { return kernel_->impl().request_groups.load(); }});
}

}  // namespace svc::core
