#include "db/connection.hpp"

#include "db/errors.hpp"

#include <Poco/Logger.h>
#include <openssl/ssl.h>

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>

namespace svc::db {

namespace {

void log_notice(void*, const PGresult* notice) {
    // Errors reach whoever asked; what is told besides is for whoever looks for a fault.
    Poco::Logger::get("db").debug(std::string(diagnostic(notice, PG_DIAG_MESSAGE_PRIMARY)));
}

/// TLS may hold bytes that poll() knows nothing of.
bool holds_bytes(PGconn* connection) {
    if (!PQsslInUse(connection)) return false;
    auto* tls = static_cast<SSL*>(PQsslStruct(connection, "OpenSSL"));
    return tls && SSL_pending(tls) > 0;
}

}  // namespace

Connection::Connection(Connector& connector, Watchdog* watchdog, std::chrono::milliseconds patience)
    : connector_(connector),
      session_(connector.open()),
      native_(*session_),
      watchdog_(patience.count() > 0 ? watchdog : nullptr),
      watched_(patience) {
    set_up();
}

Connection::~Connection() {
    leave_watchdog();
    connector_.close(std::move(session_));
}

void Connection::leave_watchdog() noexcept {
    if (std::exchange(is_watched_, false)) watchdog_->leave(watched_);
}

void Connection::set_up() {
    PQsetNoticeReceiver(native_, &log_notice, nullptr);
    if (PQsetnonblocking(native_, 1) != 0 || PQenterPipelineMode(native_) != 1) throw_lost();
    lost_ = false;
    if (!watchdog_) return;
    watchdog_->watch(watched_, PQsocket(native_));
    is_watched_ = true;
}

void Connection::lose() noexcept {
    if (lost_) return;
    lost_ = true;
    if (const int socket = PQsocket(native_); socket >= 0) shutdown(socket, SHUT_RDWR);
}

void Connection::throw_lost() {
    const std::string why = PQerrorMessage(native_);
    lose();
    throw Lost(why.empty() ? "the connection is lost" : why.substr(0, why.find('\n')));
}

bool Connection::stands() {
    // Whatever is there to read was sent while nothing was asked: a notice, or a farewell that
    // the end of the stream follows.
    for (int looks = 0; looks < 4; ++looks) {
        char byte;
        const auto count = recv(PQsocket(native_), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        if (count == 0 || PQconsumeInput(native_) != 1) return false;
        PQisBusy(native_);  // has it looked at
    }
    return PQstatus(native_) == CONNECTION_OK;
}

void Connection::renew() {
    forget_all();
    leave_watchdog();
    if (!session_->reset()) throw_lost();
    set_up();
    counts_.reconnects.fetch_add(1, std::memory_order_relaxed);
}

Prepared& Connection::prepared(const Sql& sql) {
    Prepared& statement = statements_[sql.text.data()];
    if (!statement.name[0]) forget(statement);
    return statement;
}

void Connection::forget(Prepared& statement) {
    statement.ready = false;
    statement.bindings.clear();
    statement.name = {'s'};
    std::to_chars(statement.name.data() + 1, statement.name.data() + 11, ++last_name_);
}

void Connection::forget_all() {
    for (auto& [text, statement] : statements_) forget(statement);
}

void Connection::wait(short events) {
    pollfd one{PQsocket(native_), events, 0};
    if (one.fd < 0) throw_lost();
    if (watchdog_) watched_.begin_wait();
    int ready;
    do {
        ready = poll(&one, 1, -1);
    } while (ready < 0 && errno == EINTR);
    if (watchdog_) watched_.end_wait(*watchdog_);
    if (ready < 0) throw_lost();
    if ((one.revents & ~POLLOUT) != 0 && PQconsumeInput(native_) != 1) throw_lost();
}

void Connection::flush() {
    for (;;) {
        const int left = PQflush(native_);
        if (left == 0) return;
        if (left < 0) throw_lost();
        wait(POLLIN | POLLOUT);
    }
}

ResultPtr Connection::next() {
    while (PQisBusy(native_) != 0) {
        if (!holds_bytes(native_)) wait(POLLIN);
        else if (PQconsumeInput(native_) != 1) throw_lost();
    }
    ResultPtr result(PQgetResult(native_));
    if (PQstatus(native_) != CONNECTION_OK) throw_lost();
    return result;
}

ResultPtr Connection::run_script(const std::string& text) {
    if (PQexitPipelineMode(native_) != 1 || PQsetnonblocking(native_, 0) != 0) throw_lost();
    counts_.round_trips.fetch_add(1, std::memory_order_relaxed);
    ResultPtr result(PQexec(native_, text.c_str()));
    if (PQstatus(native_) != CONNECTION_OK) throw_lost();
    if (PQsetnonblocking(native_, 1) != 0 || PQenterPipelineMode(native_) != 1) throw_lost();
    return result;
}

}  // namespace svc::db
