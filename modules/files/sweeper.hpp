#pragma once

#include "modules/files/files.hpp"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace svc::files {

/// How long after its time an upload that had begun may end and be committed.
constexpr std::chrono::seconds grace{600};

/// Removes what nobody needs from the store: uploads that were never committed, what is left of
/// those that were, and deleted files. On a thread of its own, since a store may be slow. Every
/// server may sweep at any time; a row that one is at is nobody else's for some minutes, and what a
/// crash leaves half done is done again after those.
class Sweeper {
public:
    explicit Sweeper(const Service& service) : service_(service) {}
    ~Sweeper() { stop(); }
    void start();
    void stop() noexcept;

private:
    void run();
    void sweep();
    void mark_orphans();
    void sweep_in(const Uuid& org);
    bool sweep_batch(const Uuid& org);
    bool clear(const Uuid& org, const Uuid& file, const std::optional<Uuid>& kept) const;

    const Service& service_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;  // under mutex_
    std::thread thread_;
};

}  // namespace svc::files
