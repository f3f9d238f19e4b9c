#include "http/request_assembler.hpp"

#include <gtest/gtest.h>

#include <random>

/// The way from bytes to requests, without sockets.
namespace svc::http::test {

namespace {

constexpr std::size_t head_limit = 2000, body_limit = 500;

/// What a stretch of bytes turns out to hold.
struct Reading {
    std::vector<std::string> requests;  // method, target, headers and body of each
    int refused = 0;                    // the status, when it ends so
    std::string rest;                   // what is not whole
    bool operator==(const Reading&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Reading& each) {
    for (const auto& request : each.requests) out << "[" << request << "] ";
    return out << "refused " << each.refused << " rest " << each.rest.size();
}

std::string shown(const Head& head, std::string_view body) {
    std::string out = std::string(head.method) + ' ' + std::string(head.target);
    for (const Header& each : head.all())
        out += '|' + std::string(each.name) + '=' + std::string(each.value);
    return out + '#' + std::string(body);
}

/// Reads as the server does: whenever a piece has come in, everything that is whole by then.
class Reader {
public:
    void take(std::string_view piece) {
        if (out_.refused) return;
        in_.append(piece);
        while (in_.size() > begin_) {
            const auto state = intake_.step(in_, begin_, limits_, *head_);
            if (state == RequestAssembler::State::more) break;
            if (state == RequestAssembler::State::refused) {
                out_.refused = intake_.refusal().status;
                return;
            }
            const auto all = in_.view().substr(begin_, intake_.size());
            out_.requests.push_back(shown(*head_, all.substr(intake_.head_size())));
            begin_ += intake_.size();
            intake_.reset();
            if (in_.size() == begin_) in_.clear(), begin_ = 0;
        }
    }
    Reading end() {
        // A chunked body may have been unwrapped in part, or not at all: only sizes compare.
        if (!out_.refused && in_.size() > begin_) out_.rest = "some";
        return out_;
    }

private:
    RequestAssembler::Limits limits_{
        .head = head_limit,
        .body = [](std::string_view, std::string_view) { return BodyRules{body_limit}; },
    };
    Buffer in_;
    std::size_t begin_ = 0;
    RequestAssembler intake_;
    std::unique_ptr<Head> head_ = std::make_unique<Head>();
    Reading out_;
};

Reading read_whole(std::string_view bytes) {
    Reader reader;
    reader.take(bytes);
    return reader.end();
}

Reading read_in_pieces(std::string_view bytes, std::mt19937& random) {
    Reader reader;
    while (!bytes.empty()) {
        const auto size = std::min<std::size_t>(bytes.size(), 1 + random() % 40);
        // A copy of the exact size, so that a sanitizer sees any look beyond it.
        reader.take(std::string(bytes.substr(0, size)));
        bytes.remove_prefix(size);
    }
    return reader.end();
}

const std::vector<std::string> good{
    "GET /a?b=c HTTP/1.1\r\nHost: h\r\nAccept: a\r\nAccept: b\r\n\r\n",
    "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabcde",
    "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
    "chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
    "HEAD / HTTP/1.0\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\nX-Long: " + std::string(300, 'l') + "\r\n\r\n",
};

}  // namespace

TEST(RequestAssembler, ReadsWhatIsThere) {
    std::string all;
    for (const auto& each : good) all += each;
    const auto reading = read_whole(all + "GET / HT");
    ASSERT_EQ(reading.requests.size(), good.size());
    EXPECT_EQ(reading.requests[0], "GET /a?b=c|Host=h|Accept=a, b#");
    EXPECT_EQ(reading.requests[1], "POST /a|Host=h|Content-Length=5#abcde");
    EXPECT_EQ(reading.requests[2], "POST /a|Host=h|Transfer-Encoding=chunked#abc0123456789");
    EXPECT_EQ(reading.refused, 0);
    EXPECT_EQ(reading.rest, "some");
}

TEST(RequestAssembler, PiecesMakeNoDifferenceToGoodRequests) {
    std::mt19937 random(1);
    std::string all;
    for (const auto& each : good) all += each;
    const auto whole = read_whole(all);
    for (int turn = 0; turn < 500; ++turn) ASSERT_EQ(read_in_pieces(all, random), whole);
}

TEST(RequestAssembler, ALineThatDoesNotEndInCrLfIsToldBeforeASizeThatIsTooLarge) {
    std::mt19937 random(3);
    const std::string bytes =
        "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nabc\n3\r\nabc\r\n0\r\n\r\n";
    EXPECT_EQ(read_whole(bytes).refused, 400);
    for (int turn = 0; turn < 200; ++turn) EXPECT_EQ(read_in_pieces(bytes, random).refused, 400);
}

TEST(RequestAssembler, PiecesMakeNoDifferenceToDamagedRequests) {
    std::mt19937 random(2);
    using std::string_view_literals::operator""sv;
    static constexpr auto spice = "\r\n\r\n :;,0123456789abcdef\t\0\x7f\xc3\xa9\"%chunked"sv;
    int refused = 0, whole = 0;
    for (int turn = 0; turn < 30'000; ++turn) {
        std::string bytes = good[random() % good.size()];
        bytes += good[random() % good.size()];
        for (auto damages = 1 + random() % 3; damages > 0; --damages) {
            const auto at = random() % bytes.size();
            const char c = spice[random() % spice.size()];
            switch (random() % 4) {
                case 0: bytes[at] = c; break;
                case 1: bytes.insert(at, 1, c); break;
                case 2: bytes.erase(at, 1 + random() % 4); break;
                default: bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 30));
            }
        }
        // Too few bytes to be the end of anything are waited for rather than judged.
        bytes += "@@@@@";
        const auto expected = read_whole(bytes);
        ASSERT_EQ(read_in_pieces(bytes, random), expected) << "turn " << turn << ": " << bytes;
        // 501 is for methods longer than any the server knows, as RFC 9112 asks; see section 3.
        EXPECT_TRUE(
            expected.refused == 0 || (expected.refused >= 400 && expected.refused < 500) ||
            expected.refused == 501
        ) << expected.refused
          << " in turn " << turn << ": " << bytes;
        refused += expected.refused != 0;
        whole += !expected.requests.empty();
    }
    EXPECT_GT(refused, 10'000);
    EXPECT_GT(whole, 5'000);
}

TEST(RequestAssembler, NoiseIsRefusedOrWaitedFor) {
    std::mt19937 random(3);
    for (int turn = 0; turn < 5'000; ++turn) {
        std::string bytes(random() % 3000, '\0');
        for (char& each : bytes) each = static_cast<char>(random());
        const auto reading = read_in_pieces(bytes, random);
        EXPECT_TRUE(reading.requests.empty());
        EXPECT_TRUE(bytes.size() < head_limit || reading.refused != 0);
    }
}

TEST(RequestAssembler, WhoeverIsShownAPartIsShownItsHeadToo) {
    const RequestAssembler::Limits limits{
        .head = head_limit, .body = [](std::string_view, std::string_view) {
            return BodyRules{.most = body_limit, .in_pieces = true};
        }};
    Buffer in;
    in.append("POST /somewhere HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel");
    RequestAssembler assembler;
    Head first, second;
    EXPECT_EQ(assembler.step(in, 0, limits, first), RequestAssembler::State::part);
    EXPECT_EQ(first.target, "/somewhere");
    EXPECT_EQ(assembler.step(in, 0, limits, second), RequestAssembler::State::part);
    EXPECT_EQ(second.target, "/somewhere") << "another thread goes on with it";
}

}  // namespace svc::http::test
