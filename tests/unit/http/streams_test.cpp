#include "tests/unit/http/http_fixture.hpp"

/// Connections that have become streams.
namespace svc::http::test {

namespace {

std::shared_ptr<const std::string> frame(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

/// What was heard of a stream's end.
struct Ends {
    std::atomic<int> count{0};
};

}  // namespace

TEST(Streams, TheHeadHasNoLengthAndFramesFollowIt) {
    HttpFixture fixture;
    auto client = fixture.client();
    const auto head = client.ask(get("/stream"));
    ASSERT_TRUE(head);
    EXPECT_EQ(head->status, 200);
    EXPECT_FALSE(head->headers.contains("content-length"));
    EXPECT_EQ(head->header("connection"), "close");
    ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
    const auto stream = fixture.responder.last_stream();
    EXPECT_EQ(fixture.load().streams, 1u);
    EXPECT_TRUE(stream->send(frame("one ")));
    EXPECT_TRUE(stream->send(frame("two")));
    EXPECT_TRUE(client.sees("one two"));
    EXPECT_TRUE(stream->open());
}

TEST(Streams, ASwitchOfProtocolsSaysUpgrade) {
    HttpFixture fixture;
    const auto head = fixture.client().ask(get("/switch"));
    ASSERT_TRUE(head);
    EXPECT_EQ(head->status, 101);
    EXPECT_EQ(head->header("connection"), "Upgrade");
    EXPECT_EQ(head->header("upgrade"), "test");
}

TEST(Streams, AHeadRequestGetsNoStream) {
    HttpFixture fixture;
    auto client = fixture.client();
    ASSERT_TRUE(client.ask("HEAD /stream HTTP/1.1\r\nHost: test\r\n\r\n", "HEAD"));
    EXPECT_EQ(client.ask(get("/"))->body, "hello");
    EXPECT_EQ(fixture.responder.last_stream(), nullptr);
}

TEST(Streams, AnswersSentBeforeStayInFront) {
    HttpFixture fixture;
    fixture.responder.on_stream = [](const auto& stream) { stream->send(frame("frame")); };
    auto client = fixture.client();
    client.send(get("/") + get("/big?50000") + get("/stream"));
    EXPECT_EQ(client.read_reply()->body, "hello");
    EXPECT_EQ(client.read_reply()->body.size(), 50'000u);
    ASSERT_TRUE(client.read_reply());
    EXPECT_TRUE(client.sees("frame"));
}

TEST(Streams, BytesComeInOrderAndNeverTwoCallsAtOnce) {
    HttpFixture fixture;
    std::string heard;
    std::atomic<int> inside{0};
    std::atomic<std::size_t> size{0};
    std::atomic<bool> overlapped{false};
    fixture.responder.on_stream = [&](const auto& stream) {
        on_bytes(*stream, [&](std::string_view bytes) {
            if (inside.fetch_add(1) != 0) overlapped = true;
            std::this_thread::sleep_for(1ms);
            heard += bytes;
            size = heard.size();
            inside.fetch_sub(1);
        });
    };
    auto client = fixture.client();
    std::string sent;
    client.send(get("/stream") + "at once ");  // in the same segment as the request
    sent += "at once ";
    for (int each = 0; each < 300; ++each) {
        const auto piece = std::to_string(each) + ",";
        client.send(piece);
        sent += piece;
    }
    ASSERT_TRUE(eventually([&] { return size == sent.size(); }));
    EXPECT_EQ(heard, sent);
    EXPECT_FALSE(overlapped);
}

TEST(Streams, TheEndIsToldOnceWhenThePeerLeaves) {
    Ends ends;
    HttpFixture fixture;
    fixture.responder.on_stream = [&](const auto& stream) {
        on_end(*stream, [&] { ends.count.fetch_add(1); });
    };
    {
        auto client = fixture.client();
        client.send(get("/stream"));
        ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
    }
    ASSERT_TRUE(eventually([&] { return ends.count == 1; }));
    const auto stream = fixture.responder.last_stream();
    EXPECT_FALSE(stream->open());
    EXPECT_FALSE(stream->send(frame("too late")));
    EXPECT_TRUE(eventually([&] { return fixture.load().connections == 0; }));
    EXPECT_EQ(fixture.load().streams, 0u);
    stream->close();
    EXPECT_EQ(ends.count, 1);
}

TEST(Streams, AnEndThatWasMissedIsToldAtOnce) {
    HttpFixture fixture;
    {
        auto client = fixture.client();
        client.send(get("/stream"));
        ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
    }
    const auto stream = fixture.responder.last_stream();
    ASSERT_TRUE(eventually([&] { return !stream->open(); }));
    ASSERT_TRUE(eventually([&] { return fixture.load().connections == 0; }));
    bool emitted = false;
    on_end(*stream, [&] { emitted = true; });
    EXPECT_TRUE(emitted);
}

TEST(Streams, ClosingSendsWhatIsQueuedFirst) {
    Ends ends;
    HttpFixture fixture;
    auto client = fixture.client(4096);
    ASSERT_TRUE(client.ask(get("/stream")));
    ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
    const auto stream = fixture.responder.last_stream();
    on_end(*stream, [&] { ends.count.fetch_add(1); });
    const std::string text(250'000, 'q');
    ASSERT_TRUE(stream->send(frame(text)));
    stream->close();
    EXPECT_FALSE(stream->open());
    EXPECT_FALSE(stream->send(frame("more")));
    EXPECT_EQ(client.read_to_end() == text, true);
    EXPECT_TRUE(eventually([&] { return ends.count == 1; }));
}

TEST(Streams, AReaderThatNeverReadsIsDroppedAndTheOthersAreNot) {
    Settings settings;
    settings.stream_backlog = 100'000;
    Ends ends;
    HttpFixture fixture(settings);
    fixture.responder.on_stream = [&](const auto& stream) {
        on_end(*stream, [&] { ends.count.fetch_add(1); });
    };
    auto deaf = fixture.client(4096);
    deaf.send(get("/stream"));
    ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
    const auto to_deaf = fixture.responder.last_stream();
    auto other = fixture.client();
    other.send(get("/stream"));
    ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != to_deaf; }));
    const auto to_other = fixture.responder.last_stream();

    const auto shared = frame(std::string(10'000, 'f'));
    int taken = 0;
    while (taken < 1000 && to_deaf->send(shared)) ++taken;
    // The kernel's two buffers and the backlog, with plenty of room for how it counts.
    EXPECT_LT(taken, 100) << "a reader that does not read was given a megabyte";
    EXPECT_FALSE(to_deaf->open());
    EXPECT_TRUE(eventually([&] { return ends.count == 1; }));
    EXPECT_TRUE(to_other->send(frame("still here")));
    EXPECT_TRUE(other.sees("still here"));
    EXPECT_TRUE(eventually([&] { return fixture.load().connections == 1; }));
    EXPECT_EQ(shared.use_count(), 1) << "frames of a dropped stream are let go";
}

/// The stream of a client, with this user.
std::shared_ptr<Stream> stream_of(HttpFixture& fixture, Client& client) {
    client.send(get("/stream"));
    EXPECT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
    return fixture.responder.last_stream();
}

TEST(Streams, ASlowReaderWithALastFrameGetsWholeFramesAndThenIt) {
    Settings settings;
    settings.stream_backlog = 100'000;
    Ends ends;
    HttpFixture fixture(settings);
    fixture.responder.on_stream = [&](const auto& stream) {
        auto listener = std::make_shared<Listener>();
        listener->on_end = [&] { ends.count.fetch_add(1); };
        listener->on_last = [](StreamEnd why) {
            return why == StreamEnd::too_slow ? frame("[too slow]") : nullptr;
        };
        stream->use(listener);
    };
    auto client = fixture.client(4096);
    const auto stream = stream_of(fixture, client);
    const std::string text = "<" + std::string(9'998, 'f') + ">";
    const auto shared = frame(text);
    int taken = 0;
    while (taken < 1'000 && stream->send(shared)) ++taken;
    EXPECT_FALSE(stream->open());
    auto heard = client.read_to_end();
    heard.erase(0, heard.find("\r\n\r\n") + 4);
    ASSERT_TRUE(heard.ends_with("[too slow]"));
    heard.resize(heard.size() - 10);
    EXPECT_EQ(heard.size() % text.size(), 0u) << "a frame was cut";
    EXPECT_LE(heard.size() / text.size(), static_cast<std::size_t>(taken) + 1);
    EXPECT_TRUE(eventually([&] { return ends.count == 1; }));
    EXPECT_EQ(shared.use_count(), 1);
}

TEST(Streams, AStreamThatIsRevokedSaysSoBehindWhatWasQueued) {
    HttpFixture fixture;
    fixture.responder.on_stream = [&](const auto& stream) {
        auto listener = std::make_shared<Listener>();
        listener->on_last = [](StreamEnd why) {
            return why == StreamEnd::revoked ? frame("[revoked]") : nullptr;
        };
        stream->use(listener);
    };
    auto client = fixture.client(4096);
    const auto stream = stream_of(fixture, client);
    const std::string text(200'000, 'q');
    ASSERT_TRUE(stream->send(frame(text)));
    stream->end(StreamEnd::revoked);
    stream->end(StreamEnd::too_slow);
    EXPECT_FALSE(stream->send(frame("more")));
    const auto heard = client.read_to_end();
    EXPECT_TRUE(heard.ends_with(text + "[revoked]"));
}

TEST(Streams, AStoppingServerSaysSo) {
    HttpFixture fixture;
    fixture.responder.on_stream = [&](const auto& stream) {
        auto listener = std::make_shared<Listener>();
        listener->on_last = [](StreamEnd why) {
            return why == StreamEnd::stopping ? frame("[stopping]") : nullptr;
        };
        stream->use(listener);
    };
    auto client = fixture.client();
    stream_of(fixture, client);
    fixture.server().stop(5s);
    EXPECT_TRUE(client.read_to_end().ends_with("[stopping]"));
}

TEST(Streams, TheUserIsToldWhenAllIsSent) {
    HttpFixture fixture;
    std::atomic<int> drained{0};
    fixture.responder.on_stream = [&](const auto& stream) {
        auto listener = std::make_shared<Listener>();
        listener->on_drained = [&] { drained.fetch_add(1); };
        stream->use(listener);
    };
    auto client = fixture.client(4096);
    const auto stream = stream_of(fixture, client);
    EXPECT_EQ(stream->backlog(), 0u);
    const std::string text(240'000, 'q');
    ASSERT_TRUE(stream->send(frame(text)));
    EXPECT_GT(stream->backlog(), 0u);
    EXPECT_EQ(drained, 0);
    EXPECT_TRUE(client.sees(text));
    EXPECT_TRUE(eventually([&] { return drained == 1; }));
    EXPECT_EQ(stream->backlog(), 0u);
    ASSERT_TRUE(stream->send(frame("short")));
    EXPECT_TRUE(client.sees("short"));
    EXPECT_EQ(drained, 1) << "nothing had to wait";
}

TEST(Streams, FramesOfManyThreadsStayWhole) {
    Settings settings;
    settings.stream_backlog = 4 << 20;
    HttpFixture fixture(settings);
    auto client = fixture.client();
    client.send(get("/stream"));
    ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
    const auto stream = fixture.responder.last_stream();
    constexpr int threads = 4, frames = 300;
    std::vector<std::thread> senders;
    for (int each = 0; each < threads; ++each)
        senders.emplace_back([&, each] {
            const auto letter = static_cast<char>('a' + each);
            const auto mine = frame("<" + std::string(1500, letter) + ">");
            for (int i = 0; i < frames; ++i) EXPECT_TRUE(stream->send(mine));
        });
    for (auto& each : senders) each.join();
    stream->close();
    auto heard = client.read_to_end();
    heard.erase(0, heard.find("\r\n\r\n") + 4);
    EXPECT_EQ(heard.size(), std::size_t{threads} * frames * 1502);
    for (std::size_t at = 0; at < heard.size(); at += 1502) {
        ASSERT_EQ(heard[at], '<');
        ASSERT_EQ(heard[at + 1501], '>');
        ASSERT_EQ(heard.find_first_not_of(heard[at + 1], at + 1), at + 1501);
    }
}

TEST(Streams, ACallbackThatThrowsEndsItsStreamOnly) {
    HttpFixture fixture;
    fixture.responder.on_stream = [](const auto& stream) {
        on_bytes(*stream, [](std::string_view) { throw std::runtime_error("no"); });
    };
    auto client = fixture.client();
    client.send(get("/stream"));
    ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
    client.send("x");
    EXPECT_TRUE(client.is_closed_within(10s));
    EXPECT_TRUE(fixture.answers());
}

TEST(Streams, AStreamMayOutliveItsServer) {
    std::shared_ptr<Stream> stream;
    {
        HttpFixture fixture;
        auto client = fixture.client();
        client.send(get("/stream"));
        ASSERT_TRUE(eventually([&] { return fixture.responder.last_stream() != nullptr; }));
        stream = fixture.responder.last_stream();
        fixture.server().stop(5s);
        EXPECT_TRUE(client.is_closed_within(5s));
    }
    EXPECT_FALSE(stream->open());
    EXPECT_FALSE(stream->send(frame("anybody?")));
    stream->close();
}

TEST(Streams, ManyStreamsCostNoThreads) {
    Settings settings;
    settings.workers = 2;
    HttpFixture fixture(settings);
    std::mutex mutex;
    std::vector<std::shared_ptr<Stream>> streams;
    fixture.responder.on_stream = [&](const auto& stream) {
        std::lock_guard lock(mutex);
        streams.push_back(stream);
    };
    std::vector<Client> clients;
    constexpr std::size_t count = 300;
    for (std::size_t each = 0; each < count; ++each) {
        clients.push_back(fixture.client());
        clients.back().send(get("/stream"));
    }
    ASSERT_TRUE(eventually([&] {
        std::lock_guard lock(mutex);
        return streams.size() == count;
    }));
    EXPECT_EQ(fixture.load().streams, count);
    EXPECT_TRUE(fixture.answers());
    const auto news = frame("news");
    for (const auto& each : streams) EXPECT_TRUE(each->send(news));
    for (auto& each : clients) EXPECT_TRUE(each.sees("news"));
}

}  // namespace svc::http::test
