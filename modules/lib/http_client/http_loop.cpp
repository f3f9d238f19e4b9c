#include "modules/lib/http_client/http_loop.hpp"

#include "modules/lib/http_client/exchange.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

namespace svc {

namespace {

using Clock = std::chrono::steady_clock;
using Id = std::uint64_t;

constexpr Id of_wake_up = 0;
constexpr std::size_t most_idle_of_all = 2'000;

/// Nothing came over a connection that nobody waits on, and its end neither.
bool is_quiet(int fd) {
    char byte = 0;
    return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

/// Which requests may go over which connections.
std::string key_of(const HttpLoop::Post& post) {
    return post.lane + (post.to.secure ? " https " : " http ") + post.to.authority();
}

}  // namespace

class HttpLoop::Impl {
public:
    explicit Impl(Settings settings)
        : settings_(std::move(settings)),
          tls_(settings_.ca_file),
          epoll_(::epoll_create1(EPOLL_CLOEXEC)),
          wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
          resolver_(
              std::make_unique<Resolver>(settings_.lookup, settings_.rules, settings_.resolvers)
          ) {
        if (epoll_ < 0 || wake_ < 0) throw std::runtime_error("no descriptors for the HTTP loop");
        watch(EPOLL_CTL_ADD, wake_, EPOLLIN, of_wake_up);
        thread_ = std::thread([this] { run(); });
    }
    ~Impl() {
        stopping_ = true;
        wake();
        thread_.join();
        resolver_.reset();  // its answers come in here
        active_.clear();
        idle_.clear();
        ::close(wake_);
        ::close(epoll_);
    }

    void post(Post what, Done done) {
        auto made = std::make_unique<Exchange>(std::move(what), std::move(done), settings_);
        leave([this, kept = std::make_shared<std::unique_ptr<Exchange>>(std::move(made))] {
            const Id id = ++last_;
            active_[id].exchange = std::move(*kept);
            begin(id, true);
        });
    }

private:
    struct Active {
        std::unique_ptr<Exchange> exchange;
        int watched = -1;  // the descriptor that epoll knows
        Clock::time_point until{};
    };
    struct Idle {
        std::unique_ptr<LoopSocket> socket;
        Clock::time_point until;
    };

    /// Has the loop's thread do it.
    void leave(std::function<void()> work) {
        {
            const std::lock_guard lock(mutex_);
            inbox_.push_back(std::move(work));
        }
        wake();
    }
    void wake() const {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(wake_, &one, sizeof one);
    }
    void watch(int how, int fd, std::uint32_t events, Id id) const {
        epoll_event event{.events = events, .data = {.u64 = id}};
        if (::epoll_ctl(epoll_, how, fd, &event) != 0)
            throw std::runtime_error("epoll does not take a socket");
    }

    void run() {
        std::array<epoll_event, 256> events;
        while (!stopping_) {
            const int count = ::epoll_wait(epoll_, events.data(), events.size(), time_left());
            for (int i = 0; i < count; ++i)
                if (events[i].data.u64 == of_wake_up) drain();
                else step(events[i].data.u64);
            do_left();
            end_late();
            close_idle();
        }
    }
    void drain() const {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(wake_, &count, sizeof count);
    }
    void do_left() {
        std::vector<std::function<void()>> work;
        {
            const std::lock_guard lock(mutex_);
            work.swap(inbox_);
        }
        for (const auto& each : work) each();
    }
    int time_left() const {
        constexpr std::chrono::milliseconds longest{1'000};
        if (deadlines_.empty()) return static_cast<int>(longest.count());
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadlines_.begin()->first - Clock::now());
        return static_cast<int>(std::clamp(left, std::chrono::milliseconds(0), longest).count());
    }

    void begin(Id id, bool may_be_kept) {
        Exchange& exchange = *active_.at(id).exchange;
        note_deadline(id);
        if (may_be_kept)
            if (auto socket = take_idle(key_of(exchange.post))) {
                exchange.begin(std::move(socket), true);
                return step(id);
            }
        const std::string& host = exchange.post.to.host;
        if (const auto address = address_in(host)) {
            if (settings_.rules.allows(*address)) return resolved(id, {{*address}, {}});
            return resolved(id, {{}, host + " is not on the public internet"});
        }
        const auto tell = [this, id](Resolver::Answer answer) {
            leave([this, id, answer = std::move(answer)] { resolved(id, answer); });
        };
        resolver_->ask(host, exchange.post.group, exchange.until(), tell);
    }
    void resolved(Id id, const Resolver::Answer& answer) {
        const auto found = active_.find(id);
        if (found == active_.end()) return;  // it took too long
        Exchange& exchange = *found->second.exchange;
        exchange.addresses = answer.addresses;
        if (answer.addresses.empty()) {
            exchange.fail(answer.error);
            return finish(id);
        }
        dial(id);
    }
    void dial(Id id) {
        Exchange& exchange = *active_.at(id).exchange;
        const Poco::Net::SocketAddress address(exchange.addresses.front(), exchange.post.to.port);
        exchange.addresses.erase(exchange.addresses.begin());
        try {
            const auto tls = exchange.post.to.secure ? tls_.get() : Poco::Net::Context::Ptr();
            auto socket = std::make_unique<LoopSocket>(address, exchange.post.to.host, tls);
            exchange.begin(std::move(socket), false);
        } catch (const std::exception& problem) {
            exchange.fail(problem.what());
            return over(id);
        }
        step(id);
    }

    void step(Id id) {
        const auto found = active_.find(id);
        if (found == active_.end() || !found->second.exchange->socket) return;
        Active& active = found->second;
        const auto next = active.exchange->go_on();
        if (next == Exchange::Next::over) return over(id);
        const int fd = active.exchange->socket->fd();
        const std::uint32_t events = next == Exchange::Next::read ? EPOLLIN : EPOLLOUT;
        try {
            watch(active.watched == fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, events, id);
        } catch (const std::exception& problem) {
            active.exchange->fail(problem.what());
            return finish(id);
        }
        active.watched = fd;
        note_deadline(id);
    }
    /// It came to an end; perhaps it goes on elsewhere.
    void over(Id id) {
        Active& active = active_.at(id);
        Exchange& exchange = *active.exchange;
        if (exchange.may_repeat()) {
            release(active);
            exchange.start_over();
            return begin(id, false);
        }
        if (!exchange.connected() && !exchange.addresses.empty() && Clock::now() < active.until) {
            release(active);
            return dial(id);
        }
        finish(id);
    }
    void finish(Id id) {
        const auto found = active_.find(id);
        Active active = std::move(found->second);
        deadlines_.erase({active.until, id});
        active_.erase(found);
        release(active);
        Exchange& exchange = *active.exchange;
        if (auto socket = exchange.reusable_socket())
            keep(key_of(exchange.post), std::move(socket));
        exchange.socket.reset();
        exchange.done(exchange.outcome());
    }
    void release(Active& active) const {
        if (active.watched >= 0 && active.exchange->socket)
            ::epoll_ctl(epoll_, EPOLL_CTL_DEL, active.watched, nullptr);
        active.watched = -1;
    }

    void note_deadline(Id id) {
        Active& active = active_.at(id);
        const auto until = active.exchange->until();
        if (until == active.until) return;
        deadlines_.erase({active.until, id});
        active.until = until;
        deadlines_.emplace(until, id);
    }
    void end_late() {
        while (!deadlines_.empty() && deadlines_.begin()->first <= Clock::now()) {
            const Id id = deadlines_.begin()->second;
            active_.at(id).exchange->end_of_time();
            finish(id);
        }
    }

    void keep(const std::string& key, std::unique_ptr<LoopSocket> socket) {
        auto& kept = idle_[key];
        if (kept.size() >= settings_.most_idle || idle_count_ >= most_idle_of_all) return;
        kept.push_back({std::move(socket), Clock::now() + settings_.idle_time});
        ++idle_count_;
    }
    std::unique_ptr<LoopSocket> take_idle(const std::string& key) {
        const auto found = idle_.find(key);
        if (found == idle_.end()) return nullptr;
        std::unique_ptr<LoopSocket> socket;
        while (!socket && !found->second.empty()) {
            socket = std::move(found->second.back().socket);
            found->second.pop_back();
            --idle_count_;
            if (!is_quiet(socket->fd())) socket.reset();
        }
        if (found->second.empty()) idle_.erase(found);
        return socket;
    }
    void close_idle() {
        const auto now = Clock::now();
        if (now < look_at_idle_) return;
        look_at_idle_ = now + std::chrono::seconds(1);
        for (auto& [key, kept] : idle_)
            idle_count_ -= std::erase_if(kept, [&](const Idle& each) { return each.until <= now; });
        std::erase_if(idle_, [](const auto& each) { return each.second.empty(); });
    }

    const Settings settings_;
    const LazyTlsContext tls_;
    const int epoll_, wake_;
    std::unique_ptr<Resolver> resolver_;
    std::mutex mutex_;
    std::vector<std::function<void()>> inbox_;
    std::atomic<bool> stopping_{false};

    // The thread's alone.
    Id last_ = of_wake_up;
    std::unordered_map<Id, Active> active_;
    std::set<std::pair<Clock::time_point, Id>> deadlines_;
    std::map<std::string, std::deque<Idle>> idle_;
    std::size_t idle_count_ = 0;
    Clock::time_point look_at_idle_{};
    std::thread thread_;  // last: it uses all of the above
};

HttpLoop::HttpLoop(Settings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
HttpLoop::~HttpLoop() = default;

void HttpLoop::post(Post post, Done done) { impl_->post(std::move(post), std::move(done)); }

}  // namespace svc
