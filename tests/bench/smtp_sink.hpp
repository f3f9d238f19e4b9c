#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace svc::bench {

/// A mail server on this machine that takes whatever it is sent and remembers to whom.
class SmtpSink {
public:
    SmtpSink();
    ~SmtpSink();
    SmtpSink(const SmtpSink&) = delete;
    SmtpSink& operator=(const SmtpSink&) = delete;

    std::uint16_t port() const { return port_; }
    std::size_t mails() const { return mails_; }
    /// How many mails each address got.
    std::map<std::string, int> by_recipient() const;

private:
    void serve();
    void converse(int socket);

    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::atomic<std::size_t> mails_{0};
    mutable std::mutex mutex_;
    std::map<std::string, int> by_recipient_;  // under mutex_
    std::vector<std::thread> threads_;
};

}  // namespace svc::bench
