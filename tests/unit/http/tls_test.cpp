#include "tests/support/certificate.hpp"
#include "tests/support/program.hpp"
#include "tests/unit/http/http_fixture.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <fcntl.h>

#include <fstream>

/// The same behind TLS.
namespace svc::http::test {

namespace {

Settings with(const Certificate& files) {
    Settings settings;
    settings.certificate = files.certificate();
    settings.key = files.key();
    return settings;
}

/// A blocking TLS client.
class TlsClient {
public:
    explicit TlsClient(
        HttpFixture& fixture, int newest = TLS1_3_VERSION, std::string protocols = ""
    )
        : plain_(fixture.client()), context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free) {
        timeval patience{.tv_sec = 10, .tv_usec = 0};
        setsockopt(plain_.socket(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
        SSL_CTX_set_max_proto_version(context_.get(), newest);
        SSL_CTX_set_security_level(context_.get(), 0);  // so that we may offer what is too old
        ssl_.reset(SSL_new(context_.get()));
        if (!protocols.empty())
            SSL_set_alpn_protos(
                ssl_.get(),
                reinterpret_cast<const unsigned char*>(protocols.data()),
                static_cast<unsigned>(protocols.size())
            );
        SSL_set_fd(ssl_.get(), plain_.socket());
        connected_ = SSL_connect(ssl_.get()) == 1;
        ERR_clear_error();
    }
    bool connected() const { return connected_; }
    std::string protocol() const {
        const unsigned char* name = nullptr;
        unsigned size = 0;
        SSL_get0_alpn_selected(ssl_.get(), &name, &size);
        return {reinterpret_cast<const char*>(name), size};
    }
    bool send(std::string_view bytes) {
        return SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
    }
    /// Reads until so many bytes came or the server said goodbye.
    std::string read(std::size_t most = std::string::npos) {
        std::string heard;
        char bytes[16 << 10];
        while (heard.size() < most) {
            const auto want = std::min(sizeof bytes, most - heard.size());
            const int got = SSL_read(ssl_.get(), bytes, static_cast<int>(want));
            if (got <= 0) {
                ended_well_ = SSL_get_error(ssl_.get(), got) == SSL_ERROR_ZERO_RETURN;
                break;
            }
            heard.append(bytes, static_cast<std::size_t>(got));
        }
        return heard;
    }
    std::string read_head() {
        std::string heard;
        while (!heard.ends_with("\r\n\r\n")) {
            const auto more = read(1);
            if (more.empty()) break;
            heard += more;
        }
        return heard;
    }
    bool ended_well() const { return ended_well_; }

private:
    Client plain_;
    std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context_;
    std::unique_ptr<SSL, void (*)(SSL*)> ssl_{nullptr, SSL_free};
    bool connected_ = false;
    bool ended_well_ = false;
};

}  // namespace

TEST(OverTls, RequestsAreAnsweredAndKnownToBeSecure) {
    const Certificate files;
    HttpFixture fixture(with(files));
    TlsClient client(fixture);
    ASSERT_TRUE(client.connected());
    for (int each = 0; each < 20; ++each) {
        ASSERT_TRUE(client.send(get("/whence")));
        EXPECT_EQ(client.read_head().substr(0, 15), "HTTP/1.1 200 OK");
        EXPECT_EQ(client.read(16), "127.0.0.1 secure");
    }
}

TEST(OverTls, LargeBodiesGoBothWays) {
    const Certificate files;
    HttpFixture fixture(with(files));
    TlsClient client(fixture);
    const std::string body(1'500'000, 'b');
    std::thread sender([&] { client.send(post(Responder::large_path, body)); });
    sender.join();
    const auto head = client.read_head();
    EXPECT_NE(head.find("Content-Length: 1500000"), std::string::npos);
    EXPECT_EQ(client.read(body.size()) == body, true);
    client.send(get("/framed?3", "Connection: close\r\n"));
    client.read_head();
    EXPECT_EQ(client.read() == "<<<" + *fixture.responder.shared + ">>", true);
    EXPECT_TRUE(client.ended_well());
}

TEST(OverTls, ASlowReaderGetsItsAnswer) {
    const Certificate files;
    HttpFixture fixture(with(files));
    TlsClient client(fixture);
    client.send(get("/big?8000000", "Connection: close\r\n"));
    std::this_thread::sleep_for(100ms);
    client.read_head();
    EXPECT_EQ(client.read().size(), 8'000'000u);
}

TEST(OverTls, ASlowReaderGetsAFile) {
    const svc::test::TempFolder folder("tls-file");
    std::string text;
    while (text.size() < 8'000'000) text += std::to_string(text.size()) + ' ';
    svc::test::write_file(folder.path() / "file", text);
    const Certificate files;
    HttpFixture fixture(with(files));
    const int descriptor = ::open((folder.path() / "file").c_str(), O_RDONLY | O_CLOEXEC);
    fixture.responder.file = std::make_shared<const FileBody>(descriptor, 10, text.size() - 10);
    TlsClient client(fixture);
    client.send(get("/file", "Connection: close\r\n"));
    std::this_thread::sleep_for(100ms);
    client.read_head();
    EXPECT_EQ(client.read() == text.substr(10), true);
    EXPECT_TRUE(client.ended_well());
}

TEST(OverTls, APieceOfABodyComesInAsItIsSent) {
    const Certificate files;
    HttpFixture fixture(with(files));
    TlsClient client(fixture);
    const std::string body(1'500'000, 'b');
    client.send(post("/pieces", body));
    const auto head = client.read_head();
    EXPECT_NE(head.find("Content-Length: 1500000"), std::string::npos);
    EXPECT_EQ(client.read(body.size()) == body, true);
}

TEST(OverTls, PipelinedRequestsAreAnsweredInOrder) {
    const Certificate files;
    HttpFixture fixture(with(files));
    TlsClient client(fixture);
    std::string all;
    for (int each = 0; each < 200; ++each) all += post("/echo", std::to_string(1000 + each));
    client.send(all);
    for (int each = 0; each < 200; ++each) {
        client.read_head();
        ASSERT_EQ(client.read(4), std::to_string(1000 + each));
    }
}

TEST(OverTls, BadRequestsAreRefused) {
    const Certificate files;
    HttpFixture fixture(with(files));
    TlsClient client(fixture);
    client.send("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    EXPECT_EQ(client.read_head().substr(0, 12), "HTTP/1.1 400");
}

TEST(OverTls, ParkedRequestsAndStreamsWork) {
    const Certificate files;
    HttpFixture fixture(with(files));
    TlsClient client(fixture);
    client.send(get("/park?tls"));
    ASSERT_TRUE(eventually([&] { return fixture.load().parked == 1; }));
    fixture.responder.wake_all();
    client.read_head();
    EXPECT_EQ(client.read(9), "woken tls");

    fixture.responder.on_stream = [](const auto& stream) {
        on_bytes(*stream, [weak = std::weak_ptr(stream)](std::string_view bytes) {
            if (const auto to = weak.lock()) to->send(std::make_shared<const std::string>(bytes));
        });
    };
    client.send(get("/stream"));
    client.read_head();
    client.send("echo of this");
    EXPECT_EQ(client.read(12), "echo of this");
    ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
    const std::string text(200'000, 't');
    EXPECT_TRUE(fixture.responder.last_stream()->send(std::make_shared<const std::string>(text)));
    fixture.responder.last_stream()->close();
    EXPECT_EQ(client.read() == text, true);
    EXPECT_TRUE(client.ended_well());
}

TEST(OverTls, OldVersionsAreRefused) {
    const Certificate files;
    HttpFixture fixture(with(files));
    EXPECT_TRUE(TlsClient(fixture, TLS1_2_VERSION).connected());
    EXPECT_FALSE(TlsClient(fixture, TLS1_1_VERSION).connected());
}

TEST(OverTls, OnlyHttp11IsAgreedOn) {
    const Certificate files;
    HttpFixture fixture(with(files));
    TlsClient both(fixture, TLS1_3_VERSION, std::string("\x02h2\x08http/1.1"));
    ASSERT_TRUE(both.connected());
    EXPECT_EQ(both.protocol(), "http/1.1");
    EXPECT_FALSE(TlsClient(fixture, TLS1_3_VERSION, std::string("\x02h2")).connected());
}

TEST(OverTls, PlainTextAndSilenceEndTheConnection) {
    const Certificate files;
    Settings settings = with(files);
    settings.head_deadline = 300ms;
    HttpFixture fixture(settings);
    auto plain = fixture.client();
    plain.send(get("/"));
    EXPECT_TRUE(plain.is_closed_within(5s));
    auto silent = fixture.client();
    EXPECT_TRUE(silent.is_closed_within(10s));
    EXPECT_TRUE(TlsClient(fixture).connected());
}

TEST(OverTls, WhatCannotBeUsedIsNamed) {
    const Certificate files, others;
    Responder responder;
    const auto complaint = [&](Settings settings) -> std::string {
        try {
            Server server(settings, responder);
        } catch (const std::runtime_error& problem) {
            return problem.what();
        }
        return "";
    };
    const auto names = [&](Settings settings, const std::filesystem::path& file) {
        const auto said = complaint(std::move(settings));
        EXPECT_NE(said.find(file.string()), std::string::npos) << said;
    };
    Settings missing = with(files);
    missing.certificate = "/nowhere/certificate.pem";
    names(missing, missing.certificate);
    Settings no_key = with(files);
    no_key.key = "/nowhere/key.pem";
    names(no_key, no_key.key);
    Settings strangers = with(files);
    strangers.key = others.key();
    names(strangers, strangers.key);
    const auto junk = files.certificate().parent_path() / "junk.pem";
    std::ofstream(junk) << "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n";
    Settings nonsense = with(files);
    nonsense.certificate = junk;
    names(nonsense, junk);
}

}  // namespace svc::http::test
