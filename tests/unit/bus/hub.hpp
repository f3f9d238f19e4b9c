#pragma once

#include "bus/server_bus.hpp"
#include "http/descriptor.hpp"
#include "tests/support/eventually.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <deque>
#include <set>

namespace svc::test {

using namespace std::chrono_literals;

/// Carries messages between buses of one process, and does so badly when it is asked to.
class Hub final : public BusDriver {
public:
    std::string describe() const override { return "a hub"; }
    std::unique_ptr<BusConnection> connect(const std::string& channel) override {
        ++attempts;
        if (is_down) throw std::runtime_error("the hub is down");
        return std::make_unique<Line>(*this, channel);
    }

    /// To whoever is connected, whatever it is.
    void inject(const std::string& message) {
        const std::lock_guard lock(mutex_);
        for (Line* each : lines_) each->put(message);
    }
    /// Ends all connections.
    void cut() {
        const std::lock_guard lock(mutex_);
        for (Line* each : lines_) each->cut();
    }
    std::vector<std::string> carried() const {
        const std::lock_guard lock(mutex_);
        return carried_;
    }

    std::atomic<bool> is_down{false};
    std::atomic<bool> swallows{false};  ///< takes everything and delivers nothing
    std::atomic<int> copies{1};         ///< of each message
    /// Takes what has come into memory, as a client library does, and gives it away piece by piece.
    std::atomic<bool> buffers{false};
    std::atomic<int> attempts{0};

private:
    class Line final : public BusConnection {
    public:
        Line(Hub& hub, std::string channel)
            : hub_(hub), channel_(std::move(channel)), ready_(eventfd(0, EFD_CLOEXEC)) {
            const std::lock_guard lock(hub_.mutex_);
            hub_.lines_.insert(this);
        }
        ~Line() override {
            const std::lock_guard lock(hub_.mutex_);
            hub_.lines_.erase(this);
        }
        int descriptor() const override { return ready_.get(); }
        void send(std::string_view message) override {
            const std::lock_guard lock(hub_.mutex_);
            if (is_cut_) throw std::runtime_error("cut");
            hub_.carried_.emplace_back(message);
            if (hub_.swallows) return;
            for (int i = 0; i < hub_.copies; ++i)
                for (Line* each : hub_.lines_)
                    if (each->channel_ == channel_) each->put(std::string(message));
        }
        std::vector<std::string> receive() override {
            const std::lock_guard lock(hub_.mutex_);
            if (is_cut_) throw std::runtime_error("cut");
            std::vector<std::string> some;
            const std::size_t most = hub_.buffers ? 1 : 100;
            for (; !waiting_.empty() && some.size() < most; waiting_.pop_front())
                some.push_back(std::move(waiting_.front()));
            const bool is_quiet = hub_.buffers || (waiting_.empty() && some.empty());
            eventfd_t ignored;
            if (is_quiet && std::exchange(has_rung_, false)) eventfd_read(ready_.get(), &ignored);
            return some;
        }

        // Under the hub's mutex.
        void put(std::string message) {
            waiting_.push_back(std::move(message));
            ring();
        }
        void cut() {
            is_cut_ = true;
            ring();
        }

    private:
        void ring() {
            if (!std::exchange(has_rung_, true)) eventfd_write(ready_.get(), 1);
        }

        Hub& hub_;
        const std::string channel_;
        const http::Descriptor ready_;
        std::deque<std::string> waiting_;
        bool is_cut_ = false, has_rung_ = false;
    };

    mutable std::mutex mutex_;
    std::set<Line*> lines_;
    std::vector<std::string> carried_;
};

/// Beats often, so that tests need not wait.
inline bus::ServerBus::Settings brisk_bus() {
    bus::ServerBus::Settings settings;
    settings.beat = 100ms;
    settings.silence = 500ms;
    settings.forget = 2'000ms;
    settings.retry = 10ms;
    settings.longest_retry = 50ms;
    return settings;
}

/// One server's bus, and what it has heard on the channel `test`.
class HearingBus {
public:
    explicit HearingBus(
        BusDriver& driver,
        const std::string& key = "key",
        bus::ServerBus::Settings settings = brisk_bus()
    )
        : bus(settings) {
        bus.subscribe("test", [this](std::string_view payload) {
            const std::lock_guard lock(mutex_);
            heard_.emplace_back(payload);
        });
        bus.start(driver, "workboard_test", [key](std::string_view text) {
            // As long as an HMAC, and different for other texts and keys.
            const auto sum = std::to_string(std::hash<std::string>{}(key + std::string(text)));
            return sum + std::string(32 - std::min<std::size_t>(sum.size(), 32), '.');
        });
    }

    std::vector<std::string> heard() const {
        const std::lock_guard lock(mutex_);
        return heard_;
    }
    bool knows(std::size_t others) const {
        return eventually([&] { return bus.load().connected && bus.load().peers == others; });
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> heard_;

public:
    bus::ServerBus bus;  // last: its thread uses the above
};

}  // namespace svc::test
