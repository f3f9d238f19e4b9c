#include "tests/unit/http/http_fixture.hpp"

/// Bad requests. Each gets one answer of the 4xx kind or a clean end, and the server goes on.
namespace svc::http::test {

namespace {

struct Case {
    std::string_view name;
    std::string bytes;
    int status = 400;  ///< 0: the connection just ends
};

void PrintTo(const Case& each, std::ostream* out) { *out << each.name; }

const std::string line = "GET / HTTP/1.1\r\n";
const std::string host = "Host: test\r\n";
const std::string to_echo = "POST /echo HTTP/1.1\r\nHost: test\r\n";
const std::string chunked = to_echo + "Transfer-Encoding: chunked\r\n\r\n";
const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: test\r\n\r\n";

std::string nul(std::string_view before, std::string_view after) {
    return std::string(before) + '\0' + std::string(after);
}

std::vector<Case> cases() {
    return {
        // request lines
        {"EmptyLineFirst", "\r\n" + line + host + "\r\n"},
        {"NoVersion", "GET /\r\n" + host + "\r\n"},
        {"OldVersion", "GET / HTTP/0.9\r\n" + host + "\r\n"},
        {"Version12", "GET / HTTP/1.2\r\n" + host + "\r\n"},
        {"Version2", "GET / HTTP/2.0\r\n" + host + "\r\n"},
        {"Version99", "GET / HTTP/9.9\r\n" + host + "\r\n"},
        {"TwoDigitVersion", "GET / HTTP/1.11\r\n" + host + "\r\n"},
        {"SmallVersion", "GET / http/1.1\r\n" + host + "\r\n"},
        {"VersionText", "GET / FTP/1.1\r\n" + host + "\r\n"},
        {"Http2Preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"},
        {"TlsHello", nul("\x16\x03\x01", "\x01\x02\x03")},
        {"TwoSpaces", "GET  / HTTP/1.1\r\n" + host + "\r\n"},
        {"SpaceBehindVersion", "GET / HTTP/1.1 \r\n" + host + "\r\n"},
        {"TabsForSpaces", "GET\t/\tHTTP/1.1\r\n" + host + "\r\n"},
        {"SpaceInTarget", "GET /a b HTTP/1.1\r\n" + host + "\r\n"},
        {"NoTarget", "GET HTTP/1.1\r\n" + host + "\r\n"},
        {"MethodWithColon", "GE:T / HTTP/1.1\r\n" + host + "\r\n"},
        {"EmptyMethod", " / HTTP/1.1\r\n" + host + "\r\n"},
        {"AbsoluteTargetOfAnotherHost", "GET http://other/ HTTP/1.1\r\n" + host + "\r\n"},
        {"AbsoluteTargetOfAnotherPort", "GET http://test:81/ HTTP/1.1\r\n" + host + "\r\n"},
        {"AbsoluteTargetOfTheOthersPort", "GET http://test:443/ HTTP/1.1\r\n" + host + "\r\n"},
        {"AbsoluteTargetWithoutHost", "GET http://test/ HTTP/1.1\r\n\r\n"},
        {"AbsoluteTargetWithUser", "GET http://me@test/ HTTP/1.1\r\n" + host + "\r\n"},
        {"AbsoluteTargetOfNobody", "GET http:///a HTTP/1.1\r\n" + host + "\r\n"},
        {"AbsoluteTargetWithOneSlash", "GET http:/test/ HTTP/1.1\r\n" + host + "\r\n"},
        {"AbsoluteTargetOfAnotherScheme", "GET ftp://test/ HTTP/1.1\r\n" + host + "\r\n"},
        {"AbsoluteTargetWithFragment", "GET http://test/#a HTTP/1.1\r\n" + host + "\r\n"},
        {"AuthorityTarget", "GET test:80 HTTP/1.1\r\n" + host + "\r\n"},
        {"ConnectMethod", "CONNECT test:80 HTTP/1.1\r\n" + host + "\r\n", 405},
        {"TraceMethod", "TRACE / HTTP/1.1\r\n" + host + "\r\n", 405},
        {"StarTarget", "GET * HTTP/1.1\r\n" + host + "\r\n"},
        {"RelativeTarget", "GET a HTTP/1.1\r\n" + host + "\r\n"},
        {"FragmentInTarget", "GET /#a HTTP/1.1\r\n" + host + "\r\n"},
        {"QuoteInTarget", "GET /\" HTTP/1.1\r\n" + host + "\r\n"},
        {"BackslashInTarget", "GET /..\\a HTTP/1.1\r\n" + host + "\r\n"},
        {"RawUtf8InTarget", "GET /\xc3\xa9 HTTP/1.1\r\n" + host + "\r\n"},
        {"NulInTarget", nul("GET /a", "b HTTP/1.1\r\n") + host + "\r\n"},
        {"DeleteInTarget", "GET /\x7f HTTP/1.1\r\n" + host + "\r\n"},
        {"ControlInMethod", "G\x01T / HTTP/1.1\r\n" + host + "\r\n"},
        // line ends
        {"BareLineFeeds", "GET / HTTP/1.1\nHost: test\n\n"},
        {"BareLineFeedInHead", line + "Host: test\nX-A: b\r\n\r\n"},
        {"BareCarriageReturn", line + "X-A: b\rc\r\n" + host + "\r\n"},
        {"CarriageReturnTwice", line + host + "X-A: b\r\r\n\r\n"},
        {"FoldedHeader", line + host + "X-A: b\r\n c\r\n\r\n"},
        {"FoldedEmptyHeader", line + host + "X-A:\r\n b\r\n\r\n"},
        {"FoldedWithTab", line + host + "X-A: b\r\n\tc\r\n\r\n"},
        {"FirstHeaderFolded", line + " X-A: b\r\n" + host + "\r\n"},
        // headers
        {"NoHost", line + "\r\n"},
        {"TwoHosts", line + host + host + "\r\n"},
        {"TwoDifferentHosts", line + host + "Host: other\r\n\r\n"},
        {"EmptyHost", line + "Host:\r\n\r\n"},
        {"HostWithPath", line + "Host: test/a\r\n\r\n"},
        {"HostWithUser", line + "Host: me@test\r\n\r\n"},
        {"HostList", line + "Host: a, b\r\n\r\n"},
        {"HostWithBadPort", line + "Host: test:8x\r\n\r\n"},
        {"HostWithOpenBracket", line + "Host: [::1\r\n\r\n"},
        {"BadHostIn10", "GET / HTTP/1.0\r\nHost: a b\r\n\r\n"},
        {"SpaceBeforeColon", line + host + "X-A : b\r\n\r\n"},
        {"NoColon", line + host + "nonsense\r\n\r\n"},
        {"EmptyName", line + host + ": b\r\n\r\n"},
        {"NameWithBrackets", line + host + "X(A): b\r\n\r\n"},
        {"NameInUtf8", line + host + "X-\xc3\xa9: b\r\n\r\n"},
        {"NulInValue", line + host + nul("X-A: b", "c\r\n\r\n")},
        {"ControlInValue", line + host + "X-A: b\x02\r\n\r\n"},
        {"DeleteInValue", line + host + "X-A: b\x7f\r\n\r\n"},
        {"BadUtf8InValue", line + host + "X-A: \xc3(\r\n\r\n"},
        {"OverlongUtf8InValue", line + host + "X-A: \xc0\xaf\r\n\r\n"},
        {"Latin1InValue", line + host + "X-A: na\xefve\r\n\r\n"},
        {"TwoAuthorizations", line + host + "Authorization: a\r\nAuthorization: b\r\n\r\n"},
        {"TwoContentTypes", to_echo + "Content-Type: a/b\r\nContent-Type: c/d\r\n\r\n"},
        {"TwoCookies", line + host + "Cookie: a=1\r\nCookie: a=2\r\n\r\n"},
        {"TwoUnknownHeaders", line + host + "X-A: 1\r\nx-a: 2\r\n\r\n"},
        {"UnknownExpectation", to_echo + "Expect: wonders\r\n\r\n", 417},
        {"BadConnectionList", line + host + "Connection: a;b,,(\r\n\r\n"},
        {"HeadTooLarge", line + host + "X-A: " + std::string(17 << 10, 'a') + "\r\n\r\n", 431},
        {"HeadWithoutEnd", line + host + "X-A: " + std::string(17 << 10, 'a'), 431},
        {"LineWithoutEnd", "GET /" + std::string(17 << 10, 'a'), 431},
        {"TooManyHeaders",
         [] {
             std::string all = line + host;
             for (int i = 0; i < 100; ++i) all += "X-" + std::to_string(i) + ": 1\r\n";
             return all + "\r\n";
         }(),
         431},
        // lengths
        {"NegativeLength", to_echo + "Content-Length: -1\r\n\r\n" + smuggled},
        {"SignedLength", to_echo + "Content-Length: +3\r\n\r\nabc" + smuggled},
        {"HexLength", to_echo + "Content-Length: 0x3\r\n\r\nabc" + smuggled},
        {"EmptyLength", to_echo + "Content-Length:\r\n\r\n" + smuggled},
        {"LengthWithText", to_echo + "Content-Length: 3 a\r\n\r\nabc" + smuggled},
        {"HugeLength", to_echo + "Content-Length: 18446744073709551616\r\n\r\n" + smuggled},
        {"TooLargeLength", to_echo + "Content-Length: 1001\r\n\r\n", 413},
        {"TwoLengths", to_echo + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc" + smuggled},
        {"TwoEqualLengths",
         to_echo + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc" + smuggled},
        {"LengthList", to_echo + "Content-Length: 3, 3\r\n\r\nabc" + smuggled},
        {"LengthWithSpaceBeforeColon", to_echo + "Content-Length : 40\r\n\r\n" + smuggled},
        {"LengthFolded", to_echo + "Content-Length:\r\n 40\r\n\r\n" + smuggled},
        // smuggling pairs
        {"LengthThenChunked",
         to_echo + "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
        {"ChunkedThenLength",
         to_echo + "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n" + smuggled},
        {"ChunkedTwice",
         to_echo + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
             smuggled},
        {"ChunkedThenIdentity",
         to_echo + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" +
             smuggled},
        {"XChunked", to_echo + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + smuggled},
        {"GzipChunked", to_echo + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" + smuggled},
        {"ChunkedChunked",
         to_echo + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + smuggled},
        {"Identity", to_echo + "Transfer-Encoding: identity\r\n\r\n" + smuggled},
        {"QuotedChunked", to_echo + "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" + smuggled},
        {"ChunkedWithParameter",
         to_echo + "Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n" + smuggled},
        {"EmptyTransferEncoding", to_echo + "Transfer-Encoding:\r\n\r\n" + smuggled},
        {"ChunkedWithSpaceBeforeColon",
         to_echo + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + smuggled},
        {"ChunkedIn10",
         "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled},
        {"EncodedWordLength", to_echo + "Content-Length: =?utf-8?Q?40?=\r\n\r\n" + smuggled},
        // chunks
        {"ChunkSizeNotHex", chunked + "zz\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkSizeEmpty", chunked + "\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkSizeSigned", chunked + "+3\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkSizeNegative", chunked + "-3\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkSizeWith0x", chunked + "0x3\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkSizeWithSpaceInFront", chunked + " 3\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkSizeOverflows", chunked + "10000000000000003\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkSizeHuge", chunked + "fffffffffffffff0\r\nabc\r\n0\r\n\r\n" + smuggled, 413},
        {"ChunkTooLong", chunked + "2\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkTooShort", chunked + "4\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkWithBareLineFeed", chunked + "3\nabc\n0\n\n" + smuggled},
        {"ChunkWithBareLineFeedsAlone", chunked + "3\nabc\n0\n\n"},
        {"ChunkSizeWithBareLineFeed", chunked + "3\n"},
        {"ChunkEndsWithBareLineFeed", chunked + "3\r\nabc\n"},
        {"LastChunkWithBareLineFeed", chunked + "3\r\nabc\r\n0\n\n"},
        {"LastLineWithBareLineFeed", chunked + "3\r\nabc\r\n0\r\n\n"},
        {"ChunkSizeNeverHex", chunked + "3\r\nabc\r\nz"},
        {"ChunkExtensionTooLong",
         chunked + "3;" + std::string(200, 'a') + "\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkExtensionWithoutEnd", chunked + "3;" + std::string(2000, 'a')},
        {"ChunkExtensionWithLineFeed", chunked + "3;a=\"\n0\"\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkExtensionMalformed", chunked + "3;;\r\nabc\r\n0\r\n\r\n" + smuggled},
        {"ChunkBodyTooLarge",
         chunked + "3e8\r\n" + std::string(1000, 'a') + "\r\n1\r\na\r\n0\r\n\r\n" + smuggled,
         413},
        {"Trailers", chunked + "3\r\nabc\r\n0\r\nX-A: b\r\n\r\n" + smuggled},
        {"TrailersThatFrame", chunked + "0\r\nContent-Length: 40\r\n\r\n" + smuggled},
        {"LastChunkMalformed", chunked + "0 a\r\n\r\n" + smuggled},
        // what ends in the middle
        {"MethodTooLong",
         std::string(33, 'A') + " / HTTP/1.1\r\nHost: test\r\n\r\n" + smuggled,
         501},
        {"CutRequestLine", "GET / HT", 0},
        {"CutHead", line + "Host: te", 0},
        {"CutBody", to_echo + "Content-Length: 10\r\n\r\nabc", 0},
        {"CutChunk", chunked + "10\r\nabc", 0},
        {"CutChunkSize", chunked + "3\r\nabc\r\n1", 0},
        {"NothingAtAll", "", 0},
    };
}

class Malformed : public testing::TestWithParam<Case> {
protected:
    static void SetUpTestSuite() { fixture_ = std::make_unique<HttpFixture>(); }
    static void TearDownTestSuite() { fixture_.reset(); }

    void SetUp() override { served_ = fixture_->responder.served(); }
    void expect_refusal(Client& client) const {
        const Case& bad = GetParam();
        if (bad.status == 0) client.end_sending();
        const auto heard = client.read_to_end();
        if (bad.status == 0) {
            EXPECT_EQ(heard, "");
        } else {
            EXPECT_EQ(heard.substr(0, 12), "HTTP/1.1 " + std::to_string(bad.status)) << heard;
            EXPECT_EQ(count_answers(heard), 1) << heard;
            EXPECT_NE(heard.find("\r\nConnection: close\r\n"), std::string::npos) << heard;
        }
        EXPECT_EQ(fixture_->responder.served(), served_) << "it reached the service";
        EXPECT_TRUE(fixture_->answers());
    }

    static std::unique_ptr<HttpFixture> fixture_;
    int served_ = 0;
};
std::unique_ptr<HttpFixture> Malformed::fixture_;

}  // namespace

TEST_P(Malformed, IsRefusedOnceAndTheServerGoesOn) {
    auto client = fixture_->client();
    client.send(GetParam().bytes);
    expect_refusal(client);
}

TEST_P(Malformed, IsRefusedTheSameWhenItComesByteByByte) {
    auto client = fixture_->client();
    for (const char each : GetParam().bytes)
        if (!client.send({&each, 1})) break;
    expect_refusal(client);
}

INSTANTIATE_TEST_SUITE_P(Requests, Malformed, testing::ValuesIn(cases()), [](const auto& each) {
    return std::string(each.param.name);
});

TEST(MalformedAfterGood, TheGoodOneIsAnsweredAndTheRestRefused) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(get("/") + post("/echo", "abc") + "nonsense\r\n\r\n" + smuggled);
    const auto heard = client.read_to_end();
    EXPECT_EQ(count_answers(heard), 3) << heard;
    EXPECT_NE(heard.find("HTTP/1.1 400"), std::string::npos);
    EXPECT_EQ(fixture.responder.served(), 2);
}

TEST(MalformedAfterGood, ABodyNobodyReadIsNotTheNextRequest) {
    HttpFixture fixture;
    auto client = fixture.client();
    client.send(post("/", smuggled) + get("/target?mine"));
    EXPECT_EQ(client.read_reply()->body, "hello");
    EXPECT_EQ(client.read_reply()->body, "/target|mine");
    EXPECT_EQ(fixture.responder.served(), 2);
}

TEST(MalformedAfterGood, APostWithoutLengthHasNoBody) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto reply = client.ask("POST /echo HTTP/1.1\r\nHost: test\r\n\r\n");
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "");
}

}  // namespace svc::http::test
