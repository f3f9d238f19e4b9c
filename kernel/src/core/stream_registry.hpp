#pragma once

#include "core/caller_resolver.hpp"
#include "svc/bus.hpp"
#include "svc/open_streams.hpp"

#include <condition_variable>
#include <deque>
#include <map>
#include <set>
#include <thread>

namespace svc::core {

/// Knows whose every open stream is, and closes those that are nobody's any more.
class StreamRegistry final : public OpenStreams {
public:
    StreamRegistry(Kernel::Impl& kernel, Bus& bus);
    ~StreamRegistry() override { stop(); }

    void start();
    void stop() noexcept;
    void revalidate(const Uuid& org) override;
    void revalidate_person(const Uuid& user) override;

    /// The streams of one credential that were opened while it stood for this caller. Each is known
    /// from before its caller is confirmed until it ends, so that no change of the caller's rights
    /// falls between the two. Any thread.
    class Holder {
    public:
        explicit Holder(const CallerResolver& who);
        const Caller& caller() const { return caller_; }
        bool is_of(const CallerResolver& who) const;
        /// A stream will come to be, unless its request fails.
        void expect();
        /// The stream has come to be, or never will (null); it is ended at once when it may not be
        /// any more.
        void attach(const std::shared_ptr<http::Stream>& stream);
        void end();
        /// Forgets the streams that have ended; whether there are none and none will come.
        bool is_past();
        /// Whether the credential still stands for as much. Queues the question; the function
        /// returned reads the answer.
        std::function<bool()> ask(Tx& tx) const;

    private:
        const Authenticator& by_;
        const Credential credential_;
        const Caller caller_;
        std::mutex mutex_;
        std::deque<std::weak_ptr<http::Stream>> streams_;  // under mutex_
        std::size_t expected_ = 0;                         // under mutex_
        bool over_ = false;                                // under mutex_
    };
    /// Hands the stream to its holder, or says that there will be none.
    class Entry {
    public:
        explicit Entry(std::shared_ptr<Holder> holder) : holder_(std::move(holder)) {}
        ~Entry() {
            if (holder_) holder_->attach(nullptr);
        }
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        void attach(const std::shared_ptr<http::Stream>& stream) {
            std::exchange(holder_, nullptr)->attach(stream);
        }

    private:
        std::shared_ptr<Holder> holder_;
    };
    std::shared_ptr<Entry> enter(const CallerResolver& who);

private:
    using All = std::vector<std::shared_ptr<Holder>>;
    /// Whose streams are to be looked at.
    struct Doubts {
        std::set<Uuid> orgs;
        std::set<Uuid> people;
        bool any() const { return !orgs.empty() || !people.empty(); }
    };
    void doubt(std::set<Uuid> Doubts::* whom, const Uuid& id);
    void run();
    All suspects(const Doubts& doubts, bool everybody);
    void examine(const All& suspects);
    void forget(const All& gone);

    Kernel::Impl& kernel_;
    Bus& bus_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::multimap<std::string, std::shared_ptr<Holder>> held_;  // by the credential's key
    Doubts doubts_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace svc::core
