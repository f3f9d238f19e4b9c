#pragma once

#include "core/caller_resolver.hpp"
#include "svc/open_streams.hpp"

#include <condition_variable>
#include <set>
#include <thread>

namespace svc::core {

/// Knows whose every open stream is, and closes those that are nobody's any more.
class StreamRegistry final : public OpenStreams {
public:
    explicit StreamRegistry(Kernel::Impl& kernel) : kernel_(kernel) {}
    ~StreamRegistry() override { stop(); }

    void start();
    void stop() noexcept;
    void revalidate(const Uuid& org) override;

    /// A stream from before its caller is confirmed until it ends, so that no change of the
    /// caller's rights falls between the two.
    class Entry {
    public:
        explicit Entry(const CallerResolver& who);
        const Caller& caller() const { return caller_; }
        /// The stream has come to be; it is closed at once when it may not be any more.
        void attach(const std::shared_ptr<http::Stream>& stream);
        void end();
        /// The stream has ended, or never came to be.
        bool is_past(long owners) const;
        /// Whether the credential still stands for as much. Queues the question; the function
        /// returned reads the answer.
        std::function<bool()> ask(Tx& tx) const;

    private:
        const Authenticator& by_;
        const Credential credential_;
        const Caller caller_;
        mutable std::mutex mutex_;
        std::weak_ptr<http::Stream> stream_;
        bool attached_ = false, over_ = false;
    };
    std::shared_ptr<Entry> enter(const CallerResolver& who);

private:
    using All = std::vector<std::shared_ptr<Entry>>;
    void run();
    All suspects(const std::set<Uuid>& orgs, bool everybody);
    void examine(const All& suspects);

    Kernel::Impl& kernel_;
    std::mutex mutex_;
    std::condition_variable wake_;
    All held_;
    std::set<Uuid> doubted_;  // workspaces whose streams are to be looked at
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace svc::core
