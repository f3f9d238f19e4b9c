#include "http/socket.hpp"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <utility>

namespace svc::http {

namespace {

std::ptrdiff_t sent(ssize_t moved) {
    if (moved > 0) return moved;
    return moved < 0 && (errno == EAGAIN || errno == EINTR) ? io::later : io::gone;
}

}  // namespace

void Socket::open(int socket, std::unique_ptr<Tls> tls) {
    socket_ = socket;
    tls_ = std::move(tls);
}

std::ptrdiff_t Socket::read(char* to, std::size_t size) {
    if (tls_) return tls_->read(to, size);
    for (;;) {
        const auto moved = recv(socket_, to, size, MSG_DONTWAIT);
        if (moved < 0 && errno == EINTR) continue;
        return sent(moved);
    }
}

std::ptrdiff_t Socket::write(std::string_view bytes) {
    if (bytes.empty()) return io::later;
    if (tls_) return tls_->write(bytes);
    return sent(send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
}

std::ptrdiff_t Socket::write(const Texts& texts) {
    iovec pieces[std::tuple_size_v<Texts>];
    std::size_t count = 0;
    for (const std::string_view each : texts)
        if (!each.empty()) pieces[count++] = {const_cast<char*>(each.data()), each.size()};
    if (count == 0) return io::later;
    if (count == 1 || tls_) return write({static_cast<char*>(pieces->iov_base), pieces->iov_len});
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    return sent(sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL));
}

std::ptrdiff_t Socket::write(int file, std::uint64_t offset, std::size_t size) {
    auto from = static_cast<off_t>(offset);
    if (!tls_) return sent(sendfile(socket_, file, &from, size));
    // TLS that could not send is to be given the same bytes again, and so it is.
    char piece[16 << 10];
    const auto came = pread(file, piece, std::min(size, sizeof piece), from);
    if (came <= 0) return io::gone;
    return tls_->write({piece, static_cast<std::size_t>(came)});
}

std::size_t Socket::untaken() const {
    int bytes = 0;
    ioctl(socket_, SIOCOUTQ, &bytes);
    return static_cast<std::size_t>(bytes);
}

void Socket::end_writing() {
    if (tls_) tls_->say_goodbye();
    shutdown(socket_, SHUT_WR);
}

std::ptrdiff_t Socket::discard() {
    char waste[16 << 10];
    return sent(recv(socket_, waste, sizeof waste, MSG_DONTWAIT));
}

void Socket::reset() {
    const linger at_once{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

void Socket::close() {
    tls_.reset();
    if (const int socket = std::exchange(socket_, -1); socket >= 0) ::close(socket);
}

}  // namespace svc::http
