#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace svc::test {

/// Listens on an address of this machine. Each connection has a thread that does with it whatever
/// `serve` does, after which it is shut down; so are all at the end.
class Listener {
public:
    using Serve = std::function<void(int socket)>;

    /// `port` "0" takes any.
    explicit Listener(
        Serve serve, const std::string& address = "127.0.0.1", const std::string& port = "0"
    );
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    const std::string& port() const { return port_; }
    int connections() const;

private:
    void accept_all();

    const Serve serve_;
    int listener_ = -1;
    std::string port_;
    mutable std::mutex mutex_;
    bool stopping_ = false;
    std::vector<int> sockets_;
    std::vector<std::thread> threads_;
    std::thread accepting_;
};

}  // namespace svc::test
