#include "http/exchange.hpp"

#include "http/server_state.hpp"

#include <utility>

namespace svc::http {

namespace {

constexpr std::size_t body_worth_keeping = 64 << 10;

}  // namespace

void LiveExchange::begin(Connection& connection) {
    connection_.store(&connection, std::memory_order_relaxed);
    const auto size = connection.assembler.passes_on() ? connection.assembler.head_size()
                                                       : connection.assembler.size();
    const auto bytes = connection.in.view().substr(connection.begin, size);
    const auto question = std::min(head.target.find('?'), head.target.size());
    request_.method = head.method;
    request_.target = head.target;
    request_.path = head.target.substr(0, question);
    request_.query = head.target.substr(std::min(question + 1, head.target.size()));
    request_.body = bytes.substr(connection.assembler.head_size());
    request_.headers = head.all();
    const Reception* reception = connection.reception.get();
    sink = reception ? reception->sink.get() : nullptr;
    sink_failure = reception ? reception->failure : nullptr;
    if (peer_text_.empty() || !(connection.peer == peer_)) {
        peer_ = connection.peer;
        peer_text_ = peer_.str();
    }
    Proxies::Origin origin{peer_text_, connection.channel.secure()};
    if (connection.trusted_peer) origin = server_state_.proxies.origin(origin, request_.headers);
    request_.client_address = origin.address;
    request_.secure = origin.secure;
}

void LiveExchange::resume() {
    if (stage_.exchange(Running::again, std::memory_order_acq_rel) != Running::parked) return;
    server_state_.work_queue.resume(*this);
    server_state_.wake();
}

bool LiveExchange::room_to_park() const {
    return room_ > 0 || server_state_.has_room(bytes_held());
}

void LiveExchange::hold_room() {
    if (room_ > 0) return;
    room_ = bytes_held();
    server_state_.held.fetch_add(room_, std::memory_order_relaxed);
}

void LiveExchange::give_room_back() {
    if (room_ == 0) return;  // most never wait, and the count is everybody's
    server_state_.held.fetch_sub(std::exchange(room_, 0), std::memory_order_relaxed);
}

void LiveExchange::resume_if_parked() {
    auto parked = Running::parked;
    if (!stage_.compare_exchange_strong(parked, Running::again, std::memory_order_acq_rel)) return;
    server_state_.work_queue.resume(*this);
    server_state_.wake();
}

bool LiveExchange::park() {
    auto now = Running::now;
    return stage_.compare_exchange_strong(now, Running::parked, std::memory_order_acq_rel);
}

void LiveExchange::reset() {
    state.reset();
    stream = nullptr;
    answer.status = 200;
    answer.headers.clear();
    answer.content_type.assign("application/json");
    answer.shared_body.reset();
    answer.tail.clear();
    answer.file.reset();
    sink = nullptr;
    sink_failure = nullptr;
    answer.body.clear();
    if (answer.body.capacity() > body_worth_keeping) answer.body.shrink_to_fit();
}

LiveExchange& Exchanges::take() {
    std::lock_guard lock(mutex_);
    if (free_.empty()) return *all_.emplace_back(std::make_unique<LiveExchange>(server_state_));
    LiveExchange& exchange = *free_.back();
    free_.pop_back();
    return exchange;
}

void Exchanges::give_back(LiveExchange& exchange) {
    exchange.reset();
    std::lock_guard lock(mutex_);
    free_.push_back(&exchange);
}

void Exchanges::forget_all() {
    for (const auto& each : all_) each->reset();
}

void Exchanges::resume_parked() {
    std::lock_guard lock(mutex_);
    for (const auto& each : all_) each->resume_if_parked();
}

}  // namespace svc::http
