#include "modules/webhooks/sender.hpp"

#include "modules/webhooks/lib/signature.hpp"

#include <Poco/Logger.h>

#include <algorithm>
#include <set>

namespace svc::webhooks {

namespace {

using namespace std::chrono_literals;

/// For what other servers record.
constexpr auto poll = 1'000ms;
/// Leases are held for three times as long.
constexpr auto extend_every = 10s;
/// An endpoint that nothing is due for is kept so long, and looked at so often meanwhile, for more
/// often comes at once.
constexpr auto linger = 1'000ms, look_again = 250ms;
/// What comes within this is written down together.
constexpr auto gather = 3ms;
constexpr auto patience_at_stop = 3s;
constexpr auto pause_without_database = 1s;
constexpr std::size_t most_lines = 5'000;
constexpr std::size_t bodies_at_once = 128, bodies_kept = 16 << 20, most_bodies = 96 << 20;

Poco::Logger& log() { return Poco::Logger::get("webhooks"); }

HttpLoop::Settings loop_settings(const Settings& settings) {
    return {
        .connect_time = std::chrono::seconds(settings.connect_seconds),
        .time = std::chrono::seconds(settings.timeout_seconds),
        .ca_file = settings.ca_file,
        .rules = settings.allow_private_targets ? AddressRules() : AddressRules::public_and({}),
    };
}

HttpRequest::Headers headers_of(
    const Line& line, const Pending& delivery, const std::string& body
) {
    const std::int64_t now = Timestamp::now().micros / 1'000'000;
    const std::string event = delivery.event_id.str();
    return {
        {"Content-Type", "application/json"},
        {"X-Svc-Signature", signature(line.secrets, now, body)},
        {"X-Svc-Event-Id", event},
        {"X-Svc-Delivery-Id", delivery.id.str()},
        {"X-Svc-Attempt", std::to_string(delivery.attempt_count + 1)},
        {"webhook-id", event},
        {"webhook-timestamp", std::to_string(now)},
        {"webhook-signature", standard_signature(line.secrets, event, now, body)},
    };
}

}  // namespace

Sender::Sender(Kernel& kernel, const Settings& settings)
    : kernel_(kernel),
      settings_(settings),
      reach_(settings.allow_private_targets ? Reach::anywhere : Reach::public_only),
      bodies_(bodies_kept, most_bodies) {}

Sender::~Sender() { stop(); }

void Sender::start() {
    loop_ = std::make_unique<HttpLoop>(loop_settings(settings_));
    thread_ = std::thread([this] { run(); });
}

void Sender::stop() noexcept {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    loop_.reset();
}

void Sender::wake(const Uuid& webhook) {
    {
        const std::lock_guard lock(mutex_);
        woken_.push_back(webhook);
    }
    changed_.notify_all();
}

void Sender::transact(const std::function<void(Tx&)>& work, Tx::Mode mode) {
    kernel_.transact(mode, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        work(tx);
    });
}

// ------------------------------------------------------------------------ the thread

void Sender::run() {
    std::optional<Clock::time_point> end;
    for (;;) {
        try {
            work();
            if (std::exchange(away_, false)) log().information("goes on sending");
        } catch (const std::exception& problem) {
            rest_after(problem);
        }
        const std::lock_guard lock(mutex_);
        if (!stopping_) continue;
        if (!end) end = Clock::now() + patience_at_stop;
        const bool idle = counts_.in_flight == 0 && finished_.empty() && unsettled_.empty();
        if (idle || Clock::now() >= *end) break;
    }
    leave();
}

/// Ends what is still under way. Nobody knows whether that was taken, so another server gets these
/// endpoints once whoever was sent something is done with it: after the time that one may take.
void Sender::leave() {
    loop_.reset();
    try {
        hear_wakes();
        settle();
        std::vector<const Line*> quiet;
        std::vector<LineKey> busy;
        for (const auto& [key, line] : lines_)
            if (line.in_flight == 0) quiet.push_back(&line);
            else busy.push_back(key);
        transact([&](Tx& tx) {
            shorten(tx, lease_, busy, std::chrono::seconds(settings_.timeout_seconds));
            release(tx, lease_, quiet);
        });
    } catch (const std::exception& problem) {
        log().warning(
            std::string("the endpoints are free when their leases end: ") + problem.what()
        );
    }
    lines_.clear();
}

bool Sender::is_stopping() {
    const std::lock_guard lock(mutex_);
    return stopping_ || kernel_.stopping();
}

void Sender::work() {
    wait();
    ++round_;
    hear_wakes();
    settle();
    keep_leases();
    if (is_stopping()) return;
    take();
    read();
    launch();
    let_go();
}

void Sender::wait() {
    std::unique_lock lock(mutex_);
    const auto pause = stopping_                     ? 10ms
                       : std::exchange(busy_, false) ? 0ms
                       : lines_.empty()              ? poll
                                                     : look_again;
    changed_.wait_for(lock, pause, [&] {
        return !finished_.empty() || !woken_.empty() || stopping_;
    });
    if (finished_.empty()) return;
    lock.unlock();
    std::this_thread::sleep_for(gather);
}

void Sender::rest_after(const std::exception& problem) {
    if (!std::exchange(away_, true)) log().warning(std::string("cannot go on: ") + problem.what());
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, pause_without_database, [&] { return stopping_; });
}

void Sender::hear_wakes() {
    std::vector<Uuid> woken;
    {
        const std::lock_guard lock(mutex_);
        woken.swap(woken_);
        std::ranges::move(finished_, std::back_inserter(unsettled_));
        finished_.clear();
    }
    if (woken.empty()) return;
    const std::set<Uuid> ids(woken.begin(), woken.end());
    std::size_t known = 0;
    for (auto& [key, line] : lines_) {
        if (!ids.contains(key.webhook_id)) continue;
        ++known;
        put_back(line);
    }
    if (known < ids.size()) take_ = true;
}

/// What waits is read anew: it may go elsewhere now, or nowhere.
void Sender::put_back(Line& line) {
    line.look = true;
    line.waiting.clear();
}

// -------------------------------------------------------------------- what is there

void Sender::take() {
    const auto now = Clock::now();
    if ((!take_ && now < take_at_) || lines_.size() >= most_lines) return;
    constexpr std::int64_t at_once = 200;
    Taken taken;
    transact([&](Tx& tx) { taken = take_lines(tx, lease_, at_once); });
    take_ = taken.more;
    busy_ |= take_;
    take_at_ = now + poll;
    for (const LineKey& each : taken.lines) {
        // One that is there already is this server's again before it knew that it was not.
        Line& line = lines_[each];
        line.org_id = each.org_id;
        line.webhook_id = each.webhook_id;
        put_back(line);
    }
}

void Sender::keep_leases() {
    const auto now = Clock::now();
    if (lines_.empty() || now < extend_at_) return;
    std::vector<LineKey> mine, held;
    for (const auto& [key, line] : lines_) mine.push_back(key);
    transact([&](Tx& tx) { held = extend(tx, lease_, mine); });
    extend_at_ = now + extend_every;
    const std::set<LineKey> ours(held.begin(), held.end());
    std::erase_if(lines_, [&](const auto& each) { return !ours.contains(each.first); });
}

void Sender::read() {
    const auto now = Clock::now();
    std::vector<Line*> lines;
    for (auto& [key, line] : lines_) {
        const bool has_room = line.in_flight < line.limit();
        const bool again = has_room && now - line.looked_at >= look_again;
        if (line.waiting.empty() && (line.look || again)) lines.push_back(&line);
    }
    if (lines.empty()) return;
    transact([&](Tx& tx) { read_lines(kernel_, reach_, tx, lines); }, Tx::Mode::read);
    for (Line* each : lines) each->read_in = round_;
}

// ------------------------------------------------------------------------- sending

/// The lines take turns: each time another is the first, so that none is left out when there is
/// not room for all.
Sender::Chosen Sender::choose() {
    Chosen chosen;
    auto room = settings_.at_once - static_cast<std::int64_t>(counts_.in_flight);
    std::map<Uuid, std::int64_t> taken;  // of each workspace
    auto turn = lines_.upper_bound(first_);
    for (std::size_t i = 0; i < lines_.size() && room > 0; ++i, ++turn) {
        if (turn == lines_.end()) turn = lines_.begin();
        auto& [key, line] = *turn;
        const auto busy = in_flight_of_.find(key.org_id);
        auto room_here = settings_.at_once_per_workspace - taken[key.org_id] -
                         (busy == in_flight_of_.end() ? 0 : busy->second);
        for (auto slots = line.limit() - line.in_flight;
             slots > 0 && room > 0 && room_here > 0 && !line.waiting.empty();
             --slots, --room, --room_here) {
            chosen.emplace_back(&line, std::move(line.waiting.front()));
            line.waiting.pop_front();
            ++taken[key.org_id];
            first_ = key;
        }
    }
    return chosen;
}

/// What was looked for before sending.
struct Sender::Looked {
    /// Of events that were not there yet, as far as there is room.
    std::set<std::int64_t> positions;
    std::set<LineKey> changed;
};

/// Reads the events, and whether a webhook was changed since it was read: by another server too,
/// whose change is to hold from here on.
Sender::Looked Sender::look_before(const Chosen& chosen) {
    const bool room = bodies_.make_room();
    Looked looked;
    std::set<const Line*> lines;
    for (const auto& [line, delivery] : chosen) {
        if (line->read_in != round_) lines.insert(line);
        if (room && looked.positions.size() < bodies_at_once && !bodies_.find(delivery.position))
            looked.positions.insert(delivery.position);
    }
    if (looked.positions.empty() && lines.empty()) return looked;
    Fetched fetched;
    transact([&](Tx& tx) { fetched = fetch(tx, lines, looked.positions); }, Tx::Mode::read);
    for (StoredEvent& each : fetched.events) bodies_.add(each.position, std::move(each.envelope));
    looked.changed = std::move(fetched.changed);
    return looked;
}

void Sender::launch() {
    Chosen chosen = choose();
    if (chosen.empty()) return;
    Looked looked;
    try {
        looked = look_before(chosen);
    } catch (...) {
        for (auto& [line, delivery] : chosen) put_back(*line);
        throw;
    }
    for (auto each = chosen.rbegin(); each != chosen.rend(); ++each) {
        auto& [line, delivery] = *each;
        if (looked.changed.contains(key_of(*line))) {
            put_back(*line);
            busy_ = true;
        } else if (const auto body = bodies_.find(delivery.position)) {
            send(*line, std::move(delivery), body);
        } else if (looked.positions.contains(delivery.position)) {
            give_up(*line, std::move(delivery));
        } else {
            line->waiting.push_front(std::move(delivery));
            busy_ |= !looked.positions.empty();
        }
    }
}

void Sender::begin(Line& line, const Pending& delivery) {
    line.busy.insert(delivery.id);
    ++line.in_flight;
    ++in_flight_of_[line.org_id];
    ++counts_.in_flight;
}

void Sender::send(Line& line, Pending delivery, const Bodies::Body& body) {
    begin(line, delivery);
    const LineKey key = key_of(line);
    const std::int64_t epoch = line.epoch;
    if (!line.fault.empty())
        return finish({key, epoch, std::move(delivery), {.error = line.fault}});
    HttpLoop::Post post{
        .to = line.to,
        .headers = headers_of(line, delivery, *body),
        .body = body,
        .lane = line.webhook_id.str(),
        .group = line.org_id.str(),
    };
    try {
        loop_->post(std::move(post), [this, key, epoch, delivery](HttpLoop::Outcome outcome) {
            finish({key, epoch, delivery, std::move(outcome)});
        });
    } catch (const HttpError& problem) {
        finish({key, epoch, std::move(delivery), {.error = problem.what()}});
    }
}

void Sender::give_up(Line& line, Pending delivery) {
    begin(line, delivery);
    const char* why = "the event is no longer kept";
    finish({key_of(line), line.epoch, std::move(delivery), {.error = why}, true});
}

void Sender::finish(Finished finished) {
    {
        const std::lock_guard lock(mutex_);
        finished_.push_back(std::move(finished));
    }
    changed_.notify_all();
}

// ---------------------------------------------------------------------- letting go

void Sender::let_go() {
    const auto now = Clock::now();
    std::vector<const Line*> idle;
    for (const auto& [key, line] : lines_) {
        if (line.in_flight > 0) continue;
        const bool done = line.waiting.empty() && !line.look && now - line.active_at >= linger;
        if (line.rest || !line.open || done) idle.push_back(&line);
    }
    if (idle.empty()) return;
    bool is_due = false;
    transact([&](Tx& tx) { is_due = release(tx, lease_, idle); });
    take_ |= is_due;
    busy_ |= is_due;
    std::vector<LineKey> keys;
    for (const Line* each : idle) keys.push_back(key_of(*each));
    for (const LineKey& each : keys) lines_.erase(each);
}

}  // namespace svc::webhooks
