#include "tests/support/postgres_proxy.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace svc::test {

namespace {

constexpr const char* socket_name = ".s.PGSQL.5432";

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error("socket name too long");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

std::string percent_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
    }
    return out;
}

bool send_all(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

/// Cuts a stream of the protocol's messages at their ends.
class Messages {
public:
    explicit Messages(bool begins_untyped) : untyped_(begins_untyped) {}
    void take(std::string_view bytes) { held_ += bytes; }
    /// The next whole message; empty when there is none yet.
    std::string next() {
        const std::size_t head = untyped_ ? 4 : 5;
        if (held_.size() < head) return {};
        std::uint32_t length = 0;
        for (std::size_t i = head - 4; i < head; ++i)
            length = length << 8 | static_cast<unsigned char>(held_[i]);
        const std::size_t whole = length + head - 4;
        if (held_.size() < whole) return {};
        untyped_ = false;  // the start-up packet alone has no type
        std::string message = held_.substr(0, whole);
        held_.erase(0, whole);
        return message;
    }

private:
    std::string held_;
    bool untyped_;
};

}  // namespace

/// One client and its connection to the server, a thread for each direction.
class PostgresProxy::Link {
public:
    Link(PostgresProxy& proxy, int client, int server)
        : proxy_(proxy), client_(client), server_(server) {}

    void run() {
        std::thread back([this] { pass(server_, answers_, &Link::give_to_client); });
        pass(client_, requests_, &Link::give_to_server);
        back.join();
    }

private:
    using Give = bool (Link::*)(const std::string& message);

    /// Until either side ends, a fault is due or the proxy closes.
    void pass(int from, Messages& messages, Give give) {
        std::array<char, 65536> buffer;
        while (!ended_ && !proxy_.closing_) {
            pollfd one{from, POLLIN, 0};
            if (poll(&one, 1, 50) <= 0) continue;
            const auto count = recv(from, buffer.data(), buffer.size(), 0);
            if (count <= 0) break;
            messages.take({buffer.data(), static_cast<std::size_t>(count)});
            std::string message;
            while (!(message = messages.next()).empty())
                if (!(this->*give)(message)) return end();
        }
        end();
    }

    void end() {
        ended_ = true;
        shutdown(client_, SHUT_RDWR);
        shutdown(server_, SHUT_RDWR);
    }

    bool give_to_server(const std::string& message) {
        const bool asks = started_ && (message[0] == 'S' || message[0] == 'Q' || message[0] == 'H');
        // The server begins with what it gets, so a request is held back until it is whole.
        held_ += message;
        if (started_ && !asks) return true;
        started_ = true;
        if (asks) fault_ = proxy_.next_request();
        return fault_ != Fault::cut_before && send_all(server_, std::exchange(held_, {}));
    }

    bool give_to_client(const std::string& message) {
        const bool ready = message[0] == 'Z';
        if (fault_ == Fault::cut_after && ready) return false;
        return fault_ != Fault::none || send_all(client_, message);
    }

    PostgresProxy& proxy_;
    const int client_, server_;
    Messages requests_{true}, answers_{false};
    std::string held_;
    bool started_ = false;
    std::atomic<Fault> fault_{Fault::none};
    std::atomic<bool> ended_{false};
};

PostgresProxy::PostgresProxy(std::string_view url) {
    const auto host = url.find("host=") + 5;
    server_ = percent_decoded(url.substr(host)) + "/" + socket_name;
    std::string folder = "/tmp/workboard-proxy-XXXXXX";
    if (!mkdtemp(folder.data())) throw std::runtime_error("cannot make a folder");
    folder_ = folder;
    url_ = std::string(url.substr(0, host)) + folder;
    listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(folder_ / socket_name);
    if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        listen(listener_, 64) != 0)
        throw std::runtime_error("cannot listen");
    acceptor_ = std::thread([this] { accept(); });
}

PostgresProxy::~PostgresProxy() {
    closing_ = true;
    acceptor_.join();
    for (auto& thread : threads_) thread.join();
    close(listener_);
    std::filesystem::remove_all(folder_);
}

void PostgresProxy::plan(Fault fault, int nth) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    until_fault_ = nth;
}

PostgresProxy::Fault PostgresProxy::next_request() {
    ++round_trips_;
    const std::lock_guard lock(mutex_);
    if (until_fault_ == 0 || --until_fault_ > 0) return Fault::none;
    return fault_;
}

void PostgresProxy::accept() {
    while (!closing_) {
        pollfd one{listener_, POLLIN, 0};
        if (poll(&one, 1, 50) <= 0) continue;
        const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) continue;
        ++connections_;
        threads_.emplace_back([this, client] { serve(client); });
    }
}

void PostgresProxy::serve(int client) {
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = address_of(server_);
    if (connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        Link(*this, client, server).run();
    close(client);
    close(server);
}

}  // namespace svc::test
