#include "wire.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace svc::bench {

namespace {

constexpr std::string_view socket_name = "/.s.PGSQL.5432";

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long: " + path);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    return address;
}

int unix_socket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }

std::string percent_decoded(const std::string& text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
        i += 2;
    }
    return out;
}

bool write_all(int to, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(to, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace

Wire::Wire(const std::string& url) {
    const auto host = url.find("host=") + 5;
    target_ = percent_decoded(url.substr(host)) + std::string(socket_name);
    url_ = url.substr(0, host) + folder_.path().string();
    listener_ = unix_socket();
    stop_ = ::eventfd(0, EFD_CLOEXEC);
    const auto address = address_of(folder_.path().string() + std::string(socket_name));
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_, 64) != 0)
        throw std::runtime_error("cannot listen in " + folder_.path().string());
    thread_ = std::thread([this] { run(); });
}

Wire::~Wire() {
    ::eventfd_write(stop_, 1);
    thread_.join();
    for (const auto& pair : pairs_) ::close(pair.server), ::close(pair.database);
    ::close(listener_);
    ::close(stop_);
}

void Wire::accept() {
    const int server = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    const int database = unix_socket();
    const auto address = address_of(target_);
    if (server >= 0 &&
        ::connect(database, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
        pairs_.push_back({server, database});
        return;
    }
    if (server >= 0) ::close(server);
    ::close(database);
}

bool Wire::pass(Pair& pair, int from) {
    char bytes[65536];
    const auto got = ::recv(from, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    const std::string_view said(bytes, static_cast<std::size_t>(got));
    const bool asks = from == pair.server;
    if (asks && said.find("advisory_lock") != std::string_view::npos) pair.job = true;
    if (asks && pair.answered && !pair.job) ++round_trips_;
    pair.answered = !asks;
    return write_all(asks ? pair.database : pair.server, said);
}

void Wire::run() {
    for (;;) {
        std::vector<pollfd> waiting{{stop_, POLLIN, 0}, {listener_, POLLIN, 0}};
        for (const auto& pair : pairs_) {
            waiting.push_back({pair.server, POLLIN, 0});
            waiting.push_back({pair.database, POLLIN, 0});
        }
        ::poll(waiting.data(), waiting.size(), -1);
        if (waiting[0].revents != 0) return;
        std::vector<Pair> kept;
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            auto& pair = pairs_[i];
            const bool from_server = waiting[2 + 2 * i].revents != 0;
            const bool from_database = waiting[3 + 2 * i].revents != 0;
            if ((!from_server || pass(pair, pair.server)) &&
                (!from_database || pass(pair, pair.database))) {
                kept.push_back(pair);
                continue;
            }
            ::close(pair.server);
            ::close(pair.database);
        }
        pairs_ = std::move(kept);
        if (waiting[1].revents != 0) accept();
    }
}

}  // namespace svc::bench
