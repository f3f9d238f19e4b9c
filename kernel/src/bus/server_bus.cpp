#include "bus/server_bus.hpp"

#include "events/wake_signal.hpp"

#include <Poco/Logger.h>

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace svc::bus {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Clock = ServerBus::Clock;

Poco::Logger& log() { return Poco::Logger::get("bus"); }

bool is_payload(std::string_view text) {
    return text.size() <= Bus::longest_payload &&
           std::ranges::none_of(text, [](unsigned char each) {
               return each < 0x20 || each == 0x7f;
           });
}

/// Until something is to be read from one of them, or until then.
void wait_for(std::span<pollfd> descriptors, Clock::time_point until) {
    const auto left = std::max(nanoseconds(until - Clock::now()), nanoseconds(0));
    timespec time{};
    time.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
    time.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
    if (ppoll(descriptors.data(), descriptors.size(), &time, nullptr) < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "waiting for the bus");
}

}  // namespace

/// One connection, from its first message to its end.
class ServerBus::Session {
public:
    Session(ServerBus& bus, std::unique_ptr<BusConnection> connection)
        : bus_(bus), connection_(std::move(connection)) {}

    /// Until the bus is to end; throws when the connection is of no use any more.
    void run() {
        next_beat_ = last_echo_ = Clock::now();
        while (!bus_.ending_) {
            send_what_is_due();
            wait();
            drain();
            if (Clock::now() - last_echo_ > bus_.settings_.silence)
                throw std::runtime_error("what this server sends does not come back to it");
        }
        if (bus_.has_pending()) send();
    }

private:
    void send_what_is_due() {
        const auto now = Clock::now();
        const bool beats = now >= next_beat_;
        if (beats) forget_silent(now);
        if (now >= next_send_ && (beats || bus_.has_pending())) send();
    }

    void send() {
        const auto notes = bus_.take_pending();
        connection_->send(bus_.format_->write(bus_.self_, notes));
        ++bus_.sent_;
        const auto now = Clock::now();
        next_send_ = now + bus_.settings_.spacing;
        next_beat_ = now + bus_.settings_.beat;
    }

    void wait() {
        if (is_left_) return;  // a connection that holds it may have nothing more to show
        auto until = std::min(next_beat_, last_echo_ + bus_.settings_.silence);
        if (bus_.has_pending()) until = next_send_;
        pollfd both[]{{connection_->descriptor(), POLLIN, 0}, {bus_.wakeup_.get(), POLLIN, 0}};
        wait_for(both, std::max(until, next_send_));
        eventfd_t ignored;
        if (both[1].revents) eventfd_read(bus_.wakeup_.get(), &ignored);
    }

    /// Takes what has come. More of it than servers ever send is taken slowly, so that whoever
    /// floods the channel does not get a processor for it.
    void drain() {
        constexpr int most_rounds = 4;
        is_left_ = false;
        for (int round = 0; round < most_rounds; ++round) {
            const auto some = connection_->receive();
            if (some.empty()) return;
            for (const std::string& each : some) take(each);
        }
        is_left_ = true;
        bus_.rest(bus_.settings_.spacing);
    }

    void take(const std::string& text) {
        const auto message = bus_.format_->read(text);
        if (!message) {
            ++bus_.rejected_;
            return;
        }
        if (message->sender == bus_.self_) return hear_itself();
        ++bus_.received_;
        const auto now = Clock::now();
        const bool is_new = bus_.heard_.insert_or_assign(message->sender, now).second;
        if (is_new) {
            next_beat_ = now;  // so that it knows of this one, too
            if (is_echoed_) bus_.peers_ = bus_.heard_.size();
        }
        for (const Note& each : message->notes) bus_.dispatch(each);
    }

    void hear_itself() {
        last_echo_ = Clock::now();
        if (std::exchange(is_echoed_, true)) return;
        bus_.note_connected();
    }

    void forget_silent(Clock::time_point now) {
        std::erase_if(bus_.heard_, [&](const auto& each) {
            return now - each.second > bus_.settings_.forget;
        });
        if (is_echoed_) bus_.peers_ = bus_.heard_.size();
    }

    ServerBus& bus_;
    const std::unique_ptr<BusConnection> connection_;
    bool is_echoed_ = false;
    bool is_left_ = false;  // perhaps more has come than was taken
    Clock::time_point next_send_{}, next_beat_{}, last_echo_{};
};

ServerBus::ServerBus() : ServerBus(Settings()) {}
ServerBus::ServerBus(Settings settings)
    : settings_(settings), wakeup_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (wakeup_.get() < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}
ServerBus::~ServerBus() { stop(); }

void ServerBus::subscribe(std::string_view channel, Listener listener) {
    if (!is_channel(channel)) throw std::logic_error("no channel: " + std::string(channel));
    if (driver_) throw std::logic_error("the bus has started already");
    listeners_[std::string(channel)].push_back(std::move(listener));
}

void ServerBus::publish(std::string_view channel, std::string_view payload) {
    if (!is_channel(channel) || !is_payload(payload))
        throw std::logic_error("nothing that can be published on " + std::string(channel));
    if (peers_ == 0) return;
    Note note(channel);
    if (!payload.empty()) (note += ' ') += payload;
    auto added = PendingNotes::Added::no_room;
    {
        const std::lock_guard lock(mutex_);
        added = pending_.add(std::move(note));
    }
    if (added == PendingNotes::Added::first) eventfd_write(wakeup_.get(), 1);
    if (added == PendingNotes::Added::no_room) ++dropped_;
}

void ServerBus::start(BusDriver& driver, std::string channel, MessageFormat::Sign sign) {
    driver_ = &driver;
    channel_ = std::move(channel);
    format_ = std::make_unique<MessageFormat>(std::move(sign));
    thread_ = std::thread([this] { run(); });
}

void ServerBus::stop() noexcept {
    ending_ = true;
    eventfd_write(wakeup_.get(), 1);
    if (thread_.joinable()) thread_.join();
}

void ServerBus::run() {
    auto pause = settings_.retry;
    while (!ending_) {
        try {
            Session(*this, driver_->connect(channel_)).run();
        } catch (const std::exception& problem) {
            if (connected_) pause = settings_.retry;
            note_lost(problem.what());
            rest(events::jittered(pause));
            pause = std::min(pause * 2, settings_.longest_retry);
        }
    }
    connected_ = false;
    peers_ = 0;
}

/// That long, or until it is to end.
void ServerBus::rest(milliseconds time) {
    for (const auto until = Clock::now() + time; !ending_ && Clock::now() < until;) {
        pollfd one[]{{wakeup_.get(), POLLIN, 0}};
        eventfd_t ignored;
        wait_for(one, until);
        if (!ending_ && one[0].revents) eventfd_read(wakeup_.get(), &ignored);
    }
}

void ServerBus::note_connected() {
    if (connections_++ == 0 || failing_)
        log().information("other servers are woken through " + driver_->describe());
    failing_ = false;
    connected_ = true;
    peers_ = heard_.size();
}

/// Until it is there again, nothing is kept for it: others poll.
void ServerBus::note_lost(const std::string& why) {
    connected_ = false;
    peers_ = 0;
    {
        const std::lock_guard lock(mutex_);
        pending_.clear();
    }
    if (!failing_)
        log().warning(
            driver_->describe() + ": " + why +
            "; until it is there again servers hear of each other's changes by polling"
        );
    failing_ = true;
}

void ServerBus::dispatch(const Note& note) {
    const auto [channel, payload] = parts_of(note);
    const auto found = listeners_.find(channel);
    if (found == listeners_.end()) return;  // of a newer version, perhaps
    for (const Listener& listener : found->second) try {
            listener(payload);
        } catch (const std::exception& error) {
            log().error("a listener of " + found->first + " threw: " + error.what());
        }
}

std::vector<Note> ServerBus::take_pending() {
    const std::lock_guard lock(mutex_);
    return pending_.take();
}

bool ServerBus::has_pending() const {
    const std::lock_guard lock(mutex_);
    return !pending_.empty();
}

ServerBus::Load ServerBus::load() const {
    const std::uint64_t made = connections_;
    return {
        .connected = connected_,
        .peers = peers_,
        .sent = sent_,
        .received = received_,
        .rejected = rejected_,
        .dropped = dropped_,
        .reconnects = made > 0 ? made - 1 : 0,
    };
}

}  // namespace svc::bus
