#include "tests/unit/http/http_fixture.hpp"

/// What was refused before it was a request is answered by what could be made out of it.
namespace svc::http::test {

namespace {

struct Seen {
    int status = 0;
    std::string path, header;
    bool operator==(const Seen&) const = default;
};

void PrintTo(const Seen& each, std::ostream* out) {
    *out << each.status << ' ' << each.path << ' ' << each.header;
}

Seen seen_of(std::string_view bytes) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto reply = client.ask(bytes);
    if (!reply) return {};
    return {reply->status, reply->header("x-path"), reply->header("x-seen")};
}

const std::string header = "Host: test\r\nX-Test: me\r\n";
const std::string too_much(17 << 10, 'a');

TEST(Refusals, KnowThePathAndTheHeadersOfWhatIsTooLarge) {
    const std::string line = "POST /echo?a=b HTTP/1.1\r\n" + header;
    EXPECT_EQ(seen_of(line + "Content-Length: 1001\r\n\r\n"), (Seen{413, "/echo", "me"}));
    EXPECT_EQ(
        seen_of(line + "Transfer-Encoding: chunked\r\n\r\nfff\r\n" + std::string(0xfff, 'x')),
        (Seen{413, "/echo", "me"})
    );
    EXPECT_EQ(seen_of(line + "X-A: " + too_much), (Seen{431, "/echo", "me"}));
}

TEST(Refusals, KnowThemOfWhatIsMalformed) {
    EXPECT_EQ(seen_of("GET /a<b?c HTTP/1.1\r\n" + header + "\r\n"), (Seen{400, "/a<b", "me"}));
    EXPECT_EQ(seen_of("GET /a b HTTP/1.1\r\n" + header + "\r\n"), (Seen{400, "/a b", "me"}));
    EXPECT_EQ(seen_of("GET /a HTTP/1.1\r\n" + header + "X A: b\r\n\r\n"), (Seen{400, "/a", "me"}));
    EXPECT_EQ(seen_of("GET /a HTTP/1.1\n" + header + "\r\n"), (Seen{400, "/a", "me"}));
}

TEST(Refusals, KnowNothingThatIsNotThere) {
    EXPECT_EQ(seen_of("?\r\n\r\n"), (Seen{400, "", ""}));
    EXPECT_EQ(seen_of("/ \r\n\r\n"), (Seen{400, "", ""}));
    EXPECT_EQ(seen_of("GET /" + too_much), (Seen{431, "", ""}));
    EXPECT_EQ(seen_of("GET /a HTTP/1.1\r\nX-Test: " + too_much), (Seen{431, "/a", ""}));
    const std::string line = "POST /echo HTTP/1.1\r\nHost: test\r\n";
    EXPECT_EQ(seen_of(line + "X-Test: a\x01\r\n\r\n"), (Seen{400, "/echo", ""}));
    EXPECT_EQ(
        seen_of(line + "Content-Length: 1001\r\n\r\nX-Test: body\r\n"), (Seen{413, "/echo", ""})
    );
}

}  // namespace

}  // namespace svc::http::test
