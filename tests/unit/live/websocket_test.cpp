#include "tests/unit/live/live_fixture.hpp"

/// The wire format of WebSocket by itself.
namespace svc::live {

namespace {

using test::ClientFrame;

/// What comes of bytes that are fed in pieces of this size.
struct Parsed {
    std::vector<std::pair<Opcode, std::string>> messages;
    std::optional<WebSocketError> error;
};
Parsed parse(const std::string& bytes, std::size_t piece) {
    WebSocketParser parser;
    Parsed parsed;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        std::string_view part = std::string_view(bytes).substr(at, piece);
        while (const auto message = parser.next(part))
            parsed.messages.emplace_back(message->opcode, message->payload);
        if (parser.error()) break;
        EXPECT_TRUE(part.empty());
    }
    if (const auto* error = parser.error()) parsed.error = *error;
    return parsed;
}

/// Whatever the pieces are, the same comes of it.
Parsed parse_anyhow(const std::string& bytes) {
    const Parsed whole = parse(bytes, bytes.size());
    for (const std::size_t piece : {1, 2, 3, 7, 4096}) {
        const Parsed other = parse(bytes, piece);
        EXPECT_EQ(other.messages, whole.messages) << "in pieces of " << piece;
        EXPECT_EQ(other.error.has_value(), whole.error.has_value()) << "in pieces of " << piece;
        if (other.error && whole.error) {
            EXPECT_EQ(other.error->code, whole.error->code);
        }
    }
    return whole;
}

std::string bytes_of(const std::vector<ClientFrame>& frames) {
    std::string out;
    for (const ClientFrame& each : frames) out += each.bytes();
    return out;
}

void expect_error(const std::vector<ClientFrame>& frames, CloseCode code) {
    const Parsed parsed = parse_anyhow(bytes_of(frames));
    ASSERT_TRUE(parsed.error);
    EXPECT_EQ(parsed.error->code, code) << parsed.error->reason;
}

using Messages = std::vector<std::pair<Opcode, std::string>>;

TEST(WebSocket, TheAcceptedKeyIsThatOfTheStandard) {
    EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    EXPECT_TRUE(is_websocket_key("dGhlIHNhbXBsZSBub25jZQ=="));
    for (const std::string_view each :
         {"", "dGhl", "dGhlIHNhbXBsZSBub25jZQ", "%GhlIHNhbXBsZSBub25jZQ=="})
        EXPECT_FALSE(is_websocket_key(each)) << each;
}

TEST(WebSocket, MessagesOfEveryLengthComeWhole) {
    for (const std::size_t size : {0, 1, 125, 126, 127, 65'535, 65'536}) {
        const std::string text(size, 'm');
        const Parsed parsed = parse_anyhow(ClientFrame{Opcode::text, text}.bytes());
        EXPECT_FALSE(parsed.error) << size;
        EXPECT_EQ(parsed.messages, (Messages{{Opcode::text, text}})) << size;
    }
}

TEST(WebSocket, FragmentsAreJoinedAndControlFramesMayStandBetween) {
    const Parsed parsed = parse_anyhow(bytes_of(
        {{Opcode::text, "one ", false},
         {Opcode::ping, "here?"},
         {Opcode::continuation, "", false},
         {Opcode::continuation, "two", true},
         {Opcode::text, "next"}}
    ));
    EXPECT_FALSE(parsed.error);
    EXPECT_EQ(
        parsed.messages,
        (Messages{{Opcode::ping, "here?"}, {Opcode::text, "one two"}, {Opcode::text, "next"}})
    );
}

TEST(WebSocket, ACharacterMayBeCutByFragments) {
    const std::string umlaut = "\xC3\xA4";
    const Parsed parsed = parse_anyhow(bytes_of(
        {{Opcode::text, umlaut.substr(0, 1), false}, {Opcode::continuation, umlaut.substr(1)}}
    ));
    EXPECT_EQ(parsed.messages, (Messages{{Opcode::text, umlaut}}));
}

TEST(WebSocket, WhatIsNotUtf8IsRefused) {
    for (const std::string text :
         {"\x80", "\xC3", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "a\xE2\x82"})
        expect_error({{Opcode::text, text}}, CloseCode::invalid_text);
}

TEST(WebSocket, FramesThatBreakTheProtocolAreRefused) {
    expect_error({{Opcode::text, "x", true, false}}, CloseCode::protocol_error);  // not masked
    for (const std::uint8_t bit : {0x40, 0x20, 0x10})
        expect_error({{Opcode::text, "x", true, true, bit}}, CloseCode::protocol_error);
    for (const int opcode : {3, 4, 5, 6, 7, 11, 15})
        expect_error({{Opcode{static_cast<std::uint8_t>(opcode)}, "x"}}, CloseCode::protocol_error);
    expect_error({{Opcode::ping, std::string(126, 'p')}}, CloseCode::protocol_error);
    expect_error({{Opcode::ping, "p", false}}, CloseCode::protocol_error);
    expect_error({{Opcode::continuation, "x"}}, CloseCode::protocol_error);
    expect_error({{Opcode::text, "x", false}, {Opcode::text, "y"}}, CloseCode::protocol_error);
    expect_error({{Opcode::binary, "x"}}, CloseCode::unsupported_data);
}

TEST(WebSocket, ALengthIsJudgedBeforeItsBytesCome) {
    std::string head;
    head += static_cast<char>(0x81);
    head += static_cast<char>(0xFF);
    for (const std::string& length : {std::string("\0\0\0\0\0\1\0\1", 8), std::string(8, '\xFF')}) {
        const Parsed parsed = parse_anyhow(head + length + "mask");
        ASSERT_TRUE(parsed.error);
        EXPECT_EQ(parsed.error->code, CloseCode::too_large);
    }
    expect_error(
        {{Opcode::text, std::string(60'000, 'x'), false},
         {Opcode::continuation, std::string(6'000, 'y')}},
        CloseCode::too_large
    );
}

TEST(WebSocket, AMessageHasOnlySoManyFragments) {
    std::string bytes = ClientFrame{Opcode::text, "x", false}.bytes();
    for (int i = 0; i < 998; ++i) bytes += ClientFrame{Opcode::continuation, "", false}.bytes();
    EXPECT_FALSE(parse(bytes, 9'999).error);
    bytes += ClientFrame{Opcode::continuation, "", false}.bytes();
    const Parsed parsed = parse(bytes, 9'999);
    ASSERT_TRUE(parsed.error);
    EXPECT_EQ(parsed.error->code, CloseCode::policy);
}

TEST(WebSocket, ALengthIsSaidAsShortAsItCanBe) {
    std::string bytes("\x81\xFE\0\1mask_", 9);
    EXPECT_EQ(parse(bytes, 99).error->code, CloseCode::protocol_error);
    bytes = std::string("\x81\xFF\0\0\0\0\0\0\0\1mask_", 15);
    EXPECT_EQ(parse(bytes, 99).error->code, CloseCode::protocol_error);
}

TEST(WebSocket, ACloseFrameSaysACodeThatMayBeSent) {
    const auto close = [](int code, const std::string& reason) {
        std::string payload;
        ClientFrame::append(static_cast<std::uint64_t>(code), 2, payload);
        return ClientFrame{Opcode::close, payload + reason};
    };
    for (const int code : {1000, 1001, 1013, 3000, 4999})
        EXPECT_FALSE(parse_anyhow(close(code, "bye").bytes()).error) << code;
    EXPECT_FALSE(parse_anyhow(ClientFrame{Opcode::close, ""}.bytes()).error);
    for (const int code : {0, 999, 1004, 1005, 1006, 1015, 2999, 5000})
        expect_error({close(code, "")}, CloseCode::protocol_error);
    expect_error({{Opcode::close, "x"}}, CloseCode::protocol_error);
    expect_error({close(1000, "\xFF")}, CloseCode::invalid_text);
}

TEST(WebSocket, NothingIsTakenInAfterAnError) {
    WebSocketParser parser;
    std::string_view bad = "\x81\x01x";  // not masked
    EXPECT_FALSE(parser.next(bad));
    ASSERT_TRUE(parser.error());
    const std::string good = ClientFrame{Opcode::text, "fine"}.bytes();
    std::string_view more = good;
    EXPECT_FALSE(parser.next(more));
    EXPECT_EQ(more, good);
}

TEST(WebSocket, RandomBytesNeverDoMoreThanEndTheConnection) {
    std::uint64_t state = 42;
    const auto random = [&] { return state = state * 6364136223846793005 + 1442695040888963407; };
    for (int round = 0; round < 2'000; ++round) {
        std::string bytes;
        const auto size = random() >> 55;
        for (std::uint64_t i = 0; i < size; ++i) bytes += static_cast<char>(random() >> 56);
        parse_anyhow(bytes.empty() ? "x" : bytes);
    }
}

TEST(WebSocket, FramesOfTheServerAreAsTheStandardWantsThem) {
    EXPECT_EQ(frame_of(Opcode::text, "Hello"), "\x81\x05Hello");
    EXPECT_EQ(
        frame_of(Opcode::text, std::string(126, 'a')).substr(0, 4), std::string("\x81\x7E\0\x7E", 4)
    );
    EXPECT_EQ(
        frame_of(Opcode::text, std::string(65'536, 'a')).substr(0, 10),
        std::string("\x81\x7F\0\0\0\0\0\1\0\0", 10)
    );
    EXPECT_EQ(close_frame(CloseCode::unauthorized, "no"), std::string("\x88\x04\x11\x31no"));
}

}  // namespace

}  // namespace svc::live
