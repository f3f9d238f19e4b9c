#include "core/running_call.hpp"

#include "core/refusals.hpp"
#include "decl/reader.hpp"
#include "svc/encoding.hpp"
#include "svc/guard.hpp"
#include "svc/secrets.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <charconv>

namespace svc {

const Caller& Call::caller() const {
    if (const Caller* caller = caller_if_any()) return *caller;
    throw Failure(Fault::unauthorized, "Sign in, or send a bearer token.");
}

const Uuid& Call::org() const {
    if (const Caller& who = caller(); who.org_id) return *who.org_id;
    not_found("workspace");
}

void Call::require_version(std::int64_t current) const {
    const auto expected = expected_instead_ ? *expected_instead_ : expected_version();
    if (!expected || *expected == current) return;
    throw Failure(
        Fault::version_conflict,
        "It has changed since you read it: it is at version " + std::to_string(current) +
            ", you expected " + std::to_string(*expected) + "."
    )
        .with("current_version", std::to_string(current));
}

const Caller& settled_caller(Call& call) {
    auto* running = dynamic_cast<core::RunningCall*>(&call);
    return running ? running->settled_caller() : call.caller();
}

Failure workspace_past_due() {
    return Failure(
        Fault::past_due,
        "The workspace is past due, so nothing in it can be changed; an owner can settle the bill."
    );
}

std::string_view root_of(const Call& call, FieldPlace place) {
    if (!call.request()) return "arguments";
    return place == FieldPlace::body ? "body" : "query";
}

std::string loc_of(const Call& call, std::string_view path, FieldPlace place) {
    std::string loc = "[\"";
    loc.append(root_of(call, place)).append("\",").append(call.input_part_).append(path) += ']';
    return loc;
}

Failure wrong_at(
    const Call& call, std::string_view path, std::string_view message, FieldPlace place
) {
    return Failure::invalid_at(loc_of(call, path, place), "value_error", message);
}

Failure wrong_at(const Call& call, const std::vector<WrongPart>& parts) {
    std::string detail;
    const std::size_t count = std::min(parts.size(), decl::most_issues);
    for (const auto& [path, message] : std::span(parts).first(count)) {
        detail += detail.empty() ? '[' : ',';
        detail += Failure::issue_at(loc_of(call, path), "value_error", message);
    }
    return Failure::invalid_input(detail + ']');
}

Failure wrong_field(
    const Call& call, std::string_view field, std::string_view message, FieldPlace place
) {
    return wrong_at(call, '"' + std::string(field) + '"', message, place);
}

}  // namespace svc

namespace svc::core {

namespace {

Failure too_busy() {
    return Failure(Fault::unavailable, "The server is too busy for this now; try again.")
        .with_header("Retry-After", "2");
}

/// True when the comma-separated `list` has `token`, whatever the case.
bool has_token(std::string_view list, std::string_view token) {
    const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
    while (!list.empty()) {
        const auto comma = std::min(list.find(','), list.size());
        auto each = list.substr(0, comma);
        while (!each.empty() && (each.front() == ' ' || each.front() == '\t'))
            each.remove_prefix(1);
        each = each.substr(0, each.find_first_of(" \t;="));
        if (std::ranges::equal(each, token, same)) return true;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

/// Every event is of a kind that its module has added, so that the list of kinds is complete.
void require_declared(const Kernel& kernel, const Event& event) {
    if (!event.kind->record || kernel.find_event_kind(event.kind->name)) return;
    throw std::logic_error("an event of a kind nobody declared: " + std::string(event.kind->name));
}

[[noreturn]] void bad_cursor() {
    throw Failure::invalid_at(
        R"(["query","start_cursor"])",
        "value_error",
        "This is not the `next_cursor` of a page of this list with these filters"
    );
}

}  // namespace

RunningCall::RunningCall(const Run& run)
    : run_(run), mode_(run.operation.read_only() ? Tx::Mode::read : Tx::Mode::write) {}

Tx& RunningCall::tx() {
    if (tx_) return *tx_;
    tx_ = begin();
    run_.who.attach_identity_check(*tx_);
    return *tx_;
}

/// Whoever the caller turns out not to be any more sees nothing of it: the answers are not read
/// then.
std::unique_ptr<Tx> RunningCall::begin() {
    auto tx = run_.kernel.impl().database->begin(mode_);
    if (waits_briefly_) tx->wait_briefly();
    if (const Caller* caller = run_.who.caller()) tx->set_scope(caller->org_id, caller->user_id);
    return tx;
}

void RunningCall::wait_briefly() {
    waits_briefly_ = true;
    if (tx_) tx_->wait_briefly();
}

const Caller& RunningCall::settled_caller() {
    if (raw_input_) raw_input_->check_workspace();
    run_.who.require_workspace();
    run_.who.confirm();
    return caller();
}

Surface RunningCall::surface() const {
    const Caller* caller = caller_if_any();
    return run_.invocation || !caller ? run_.surface : caller->surface;
}

std::optional<SignIn> RunningCall::sign_in() const {
    const Authenticator* by = run_.who.authenticator();
    if (!by) return std::nullopt;
    return SignIn{std::string(by->name()), run_.who.credential().key};
}

std::optional<std::int64_t> RunningCall::expected_version() const {
    if (!run_.operation.versioned)
        throw std::logic_error(std::string(run_.operation.name) + " is not declared versioned");
    return expected_version_;
}

bool RunningCall::merge_properties() const {
    merged_ = run_.request && has_token(run_.request->header("prefer"), "merge-properties");
    return merged_;
}

void RunningCall::add_header(std::string_view name, std::string value) {
    headers_.emplace_back(name, std::move(value));
}

void RunningCall::check(const Event& event) {
    require_declared(run_.kernel, event);
    if (event.kind->record && event.subject.empty())
        throw std::logic_error("an event without its subject: " + std::string(event.kind->name));
    run_.kernel.impl().hooks.check(*this, event);
}

events::EventContext RunningCall::context_of_events() const {
    events::EventContext context = context_of(run_);
    if (run_.request) {
        const auto mutation = run_.request->header("x-svc-mutation");
        if (!mutation.empty()) context.mutation_id = Uuid::parse(mutation);
        if (!mutation.empty() && !context.mutation_id)
            throw Failure::invalid_at(
                R"(["header","x-svc-mutation"])", "uuid_parsing", "Should be a UUID"
            );
    }
    if (!context.cause_event) context.cause_event = cause_;
    return context;
}

void RunningCall::emit(const Event& event) {
    require_declared(run_.kernel, event);
    events::queue_event(tx(), event, context_of_events());
    emitted_ = true;
}

void RunningCall::emit_all(const std::vector<Event>& events) {
    for (const Event& event : events) require_declared(run_.kernel, event);
    events::queue_events(tx(), events, context_of_events());
    emitted_ |= !events.empty();
}

bool RunningCall::has_hooks(const EventKind& kind) {
    return run_.kernel.impl().hooks.concern(*this, kind);
}

bool RunningCall::goes_alone(const EventKind& kind) {
    if (tx_ || mode_ == Tx::Mode::read || has_hooks(kind)) return alone_;
    auto tx = begin();
    if (!run_.who.leaves_to_statement(*tx)) return false;
    tx->commit_along();
    tx_ = std::move(tx);
    return alone_ = true;
}

void RunningCall::caller_holds(bool holds) {
    if (alone_ || !holds) run_.who.settle_by_statement(holds);
}

ParamList RunningCall::event_row(const Event& event) {
    require_declared(run_.kernel, event);
    emitted_ = true;
    return events::row_of(event, context_of_events());
}

void RunningCall::after_commit(std::function<void()> then) {
    after_commit_.push_back(std::move(then));
}

/// False when the thread may be held up instead. A Failure when neither is possible.
bool RunningCall::parks_for_own_work() const {
    if (run_.kernel.stopping() || run_.may_block) return false;
    if (!run_.may_park)
        throw Failure(
            Fault::conflict, "This takes a moment, so it cannot be part of a batch; send it alone."
        )
            .with("reason", "not_in_batch");
    if (!run_.request_context.room_to_wait) throw too_busy();
    return true;
}

/// Whoever cannot wait for the work is not to begin it either.
std::shared_ptr<void>& RunningCall::own_work() {
    auto& work = run_.own_work ? *run_.own_work : run_.request_context.own_work;
    if (!work) parks_for_own_work();
    return work;
}

void RunningCall::wait_for_any(
    std::vector<std::string> topics, std::chrono::seconds at_most, Awaited awaited
) {
    const auto until = run_.request_context.started + at_most;
    const bool in_time = std::chrono::steady_clock::now() < until;
    if (awaited == Awaited::own_work) {
        if (!parks_for_own_work()) return;
        if (!in_time) throw too_busy();
        throw Parked{std::move(topics), until};
    }
    const bool stopping = run_.kernel.stopping();
    const bool small =
        run_.request_context.bytes <= most_kept_bytes && run_.request_context.room_to_wait;
    if (!run_.may_park || stopping || !in_time || !small) return;
    const Caller* caller = caller_if_any();
    if (caller && !run_.kernel.impl().wait_queue.admit(run_.request_context.place, caller->id))
        return;
    throw Parked{std::move(topics), until, awaited == Awaited::announced};
}

/// A cursor is bound to the operation, the caller and every filter.
std::string RunningCall::cursor_mark(std::string_view keys) const {
    std::string message(run_.operation.name);
    if (const Caller* caller = caller_if_any()) {
        message += '\n' + caller->id.str();
        if (caller->org_id) message += caller->org_id->str();
    }
    for (const Field& field : run_.operation.handler.input->fields) {
        // By name: each library has a description of its own.
        if (field.codec->record && field.codec->record().name == record_of<Paging>().name) continue;
        (message += '\n') += field.name;
        message += '=';
        field.codec->write(field.in_const(input_), message);
    }
    (message += '\n') += keys;
    return run_.kernel.sign("cursor", message).substr(0, 16);
}

std::string RunningCall::cursor(const std::vector<std::string>& keys) const {
    std::string text;
    Json<std::vector<std::string>>::write(keys, text);
    return base64(cursor_mark(text) + text);
}

std::optional<std::vector<std::string>> RunningCall::after(const Paging& paging) const {
    if (!paging.start_cursor) return std::nullopt;
    const auto bytes = from_base64(*paging.start_cursor);
    if (!bytes || bytes->size() <= 16) bad_cursor();
    const auto text = std::string_view(*bytes).substr(16);
    if (!same_secret(std::string_view(*bytes).substr(0, 16), cursor_mark(text))) bad_cursor();
    std::vector<std::string> keys;
    const json::value parsed = json::parse(text);
    for (const json::value& key : parsed.as_array())
        keys.emplace_back(std::string_view(key.as_string()));
    return keys;
}

void* RunningCall::find_service(std::string_view name) {
    void* service = nullptr;
    const auto& services = run_.kernel.impl().services;
    if (const auto found = services.find(name); found != services.end()) service = found->second;
    if (!service) throw std::logic_error("no module offers the service " + std::string(name));
    return service;
}

std::vector<std::pair<std::string, std::string>> RunningCall::take_headers() {
    if (std::exchange(merged_, false)) add_header("Preference-Applied", "merge-properties");
    return std::exchange(headers_, {});
}

void RunningCall::finish() {
    // What is sent with COMMIT is committed before its answers are read, so an identity that
    // has not been confirmed by then is confirmed first.
    run_.who.confirm();
    if (tx_) {
        tx_->commit();
        run_.request_context.round_trips += tx_->round_trips();
    }
    if (emitted_) run_.kernel.impl().nudge();
    for (auto& then : after_commit_) then();
}

}  // namespace svc::core
