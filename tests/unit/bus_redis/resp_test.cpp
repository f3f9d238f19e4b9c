#include "plugins/bus-redis/lib/resp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace svc::bus_redis {
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

constexpr std::size_t longest = 20;

std::vector<Reply> read_in_pieces(std::string_view bytes, std::size_t size) {
    ReplyReader reader(longest);
    std::vector<Reply> out;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        reader.feed(bytes.substr(at, size));
        while (auto reply = reader.next()) out.push_back(*std::move(reply));
    }
    return out;
}

}  // namespace

TEST(Resp, CommandsAreArraysOfTexts) {
    EXPECT_EQ(
        command_of({"PUBLISH", "a b", "c\r\nd", ""}),
        "*4\r\n$7\r\nPUBLISH\r\n$3\r\na b\r\n$4\r\nc\r\nd\r\n$0\r\n\r\n"
    );
}

TEST(Resp, RepliesAreReadHoweverTheyAreCutUp) {
    const std::string bytes =
        "+OK\r\n:3\r\n-ERR no\r\n$2\r\n\r\n\r\n$-1\r\n*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$3\r\na\r\n"
        "\r\n*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n*0\r\n";
    for (std::size_t size = 1; size <= bytes.size(); ++size) {
        const auto replies = read_in_pieces(bytes, size);
        ASSERT_EQ(replies.size(), 8u) << size;
        EXPECT_EQ(replies[0].kind, Reply::Kind::status);
        EXPECT_EQ(replies[1].kind, Reply::Kind::integer);
        EXPECT_THAT(replies[1].words, ElementsAre("3"));
        EXPECT_EQ(replies[2].kind, Reply::Kind::error);
        EXPECT_THAT(replies[2].words, ElementsAre("ERR no"));
        EXPECT_THAT(replies[3].words, ElementsAre("\r\n"));
        EXPECT_THAT(replies[4].words, ElementsAre(""));
        EXPECT_EQ(replies[5].kind, Reply::Kind::array);
        EXPECT_THAT(replies[5].words, ElementsAre("message", "c", "a\r\n"));
        EXPECT_THAT(replies[6].words, ElementsAre("subscribe", "c", "1"));
        EXPECT_THAT(replies[7].words, IsEmpty());
    }
}

TEST(Resp, TextsThatAreTooLongArePassedOver) {
    const std::string bytes = "*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$100000\r\n" +
                              std::string(100'000, 'x') + "\r\n+next\r\n";
    for (const std::size_t size : {1U, 7U, 4'096U, 200'000U}) {
        const auto replies = read_in_pieces(bytes, size);
        ASSERT_EQ(replies.size(), 2u);
        EXPECT_THAT(replies[0].words, ElementsAre("message", "c", ""));
        EXPECT_THAT(replies[1].words, ElementsAre("next"));
    }
}

TEST(Resp, WhatIsNoReplyIsRefused) {
    for (const std::string& bytes :
         {std::string("HTTP/1.1 400 Bad Request\r\n"),
          std::string("\r\n"),
          std::string("$abc\r\n"),
          std::string("$-2\r\n"),
          std::string("$9999999999999999999\r\n"),
          std::string("$600000000\r\n"),
          std::string("*-1\r\n"),
          std::string("*100000\r\n"),
          std::string("*1\r\n*1\r\n"),
          std::string("$1\r\nabc"),
          std::string(5'000, '+')})
        EXPECT_THROW(read_in_pieces(bytes, 3), std::runtime_error) << bytes.substr(0, 40);
}

}  // namespace svc::bus_redis
