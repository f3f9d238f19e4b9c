#include "modules/lib/http_client/loop_socket.hpp"

#include "tests/support/eventually.hpp"
#include "tests/support/listener.hpp"
#include "tests/support/webhook_receiver.hpp"

#include <gtest/gtest.h>
#include <sys/ioctl.h>

namespace svc::test {
namespace {

using Step = LoopSocket::Step;

TEST(LoopSockets, ReadSoMuchInATurnAndInAnExchangeAndNoMore) {
    const std::string piece(64 << 10, 'x');
    const Listener talks([&](int socket) {
        while (write_all(socket, piece)) {
        }
    });
    const Poco::Net::SocketAddress address("127.0.0.1:" + talks.port());
    LoopSocket socket(address, "127.0.0.1", nullptr);
    ASSERT_TRUE(eventually([&] { return socket.connect() == Step::done; }));
    const auto waiting = [&] {
        int count = 0;
        ::ioctl(socket.fd(), FIONREAD, &count);
        return static_cast<std::size_t>(count);
    };
    std::size_t all = 0;
    int turns_with_more = 0;
    for (Step step = Step::done; step != Step::failed;) {
        ASSERT_TRUE(eventually([&] { return waiting() > 0; }));
        socket.begin_turn();
        std::string in_turn;
        while ((step = socket.read(in_turn)) == Step::done) {
        }
        EXPECT_LE(in_turn.size(), LoopSocket::most_in_a_turn);
        if (in_turn.size() == LoopSocket::most_in_a_turn && waiting() > 0) ++turns_with_more;
        all += in_turn.size();
        ASSERT_LE(all, LoopSocket::most_in_an_exchange);
    }
    EXPECT_GT(turns_with_more, 0) << "more was there than was read";
    EXPECT_EQ(all, LoopSocket::most_in_an_exchange);
    EXPECT_EQ(socket.error(), "the other side sends too much");
    // Which is over with the next exchange.
    socket.begin_exchange();
    socket.begin_turn();
    std::string more;
    EXPECT_EQ(socket.read(more), Step::done);
}

}  // namespace
}  // namespace svc::test
