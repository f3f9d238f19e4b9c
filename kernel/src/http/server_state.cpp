#include "http/server_state.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>
#include <thread>

namespace svc::http {

namespace {

int made(int descriptor, const char* what) {
    if (descriptor < 0) throw std::system_error(errno, std::system_category(), what);
    return descriptor;
}

int processors() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

}  // namespace

void Descriptor::close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
}

ServerState::ServerState(const Settings& given, Service& serves)
    : settings(given),
      service(serves),
      proxies(settings.trusted_proxies),
      limits{
          .head = settings.head_limit,
          .body = [this](auto method, auto path) { return service.body_rules(method, path); },
      },
      epoll(made(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wakeup(made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      deadline_alarm(made(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      table(settings.max_connections),
      work_queue(settings.queue),
      polling_pool(std::max(1, settings.workers), processors()),
      exchanges(*this) {
    if (settings.workers < 1) throw std::runtime_error("a server needs at least one worker");
    if (!settings.certificate.empty() || !settings.key.empty())
        tls.set(std::make_shared<const TlsContext>(settings.certificate, settings.key));
    // An edge for every ring: each wakes one worker, and the count need not be read.
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.u64 = wakeup_key}};
    made(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wakeup.get(), &event), "epoll_ctl");
}

void ServerState::wake() const { eventfd_write(wakeup.get(), 1); }

void ServerState::alarm() {
    if (!alarmed.exchange(true)) eventfd_write(deadline_alarm.get(), 1);
}

void ServerState::watch_writes(const Connection& connection) const {
    epoll_event event{
        .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
        .data = {.u64 = connection.key()},
    };
    epoll_ctl(epoll.get(), EPOLL_CTL_MOD, connection.channel.socket(), &event);
}

}  // namespace svc::http
