#include "svc/shared_text.hpp"

#include "tests/support/gzip.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>

/// Texts that many answers share.
namespace svc::http::test {

namespace {

using svc::test::unpacked;

std::string header(const Answer& answer, std::string_view name) {
    for (const auto& [each, value] : answer.headers)
        if (each == name) return value;
    return "";
}

std::string body_of(const Answer& answer) {
    return answer.body + (answer.shared_body ? *answer.shared_body : "") + answer.tail;
}

Answer answer_of(
    const SharedText& text, std::string_view coding, std::string before = {}, std::string after = {}
) {
    const std::vector<Header> headers{{"Accept-Encoding", coding}};
    Request request;
    request.headers = headers;
    Answer answer;
    text.write(request, answer, std::move(before), std::move(after));
    return answer;
}

std::string random_bytes(std::size_t size) {
    std::mt19937 random(42);
    std::string bytes(size, '\0');
    for (char& each : bytes) each = static_cast<char>(random());
    return bytes;
}

}  // namespace

TEST(SharedTexts, AreSentAsTheyAreToThoseWhoTakeNoCoding) {
    const SharedText text("the text");
    for (const auto* coding : {"", "identity", "br", "gzip;q=0"}) {
        const Answer answer = answer_of(text, coding, "<", ">");
        EXPECT_EQ(body_of(answer), "<the text>") << coding;
        EXPECT_EQ(header(answer, "Content-Encoding"), "") << coding;
        EXPECT_EQ(header(answer, "Vary"), "Accept-Encoding") << coding;
    }
}

TEST(SharedTexts, AreGzipWithWhatEachAnswerPutsAroundThem) {
    const std::string long_text = random_bytes(200'000);  // as much again as any block takes
    for (const auto& middle :
         {std::string(), std::string("x"), std::string(50'000, 'a'), long_text}) {
        const SharedText text(middle);
        for (const auto& [before, after] : {
                 std::pair{std::string(), std::string()},
                 std::pair{std::string("{\"a\":"), std::string("}")},
                 std::pair{std::string(70'000, 'b'), std::string(140'000, 'c')},
             }) {
            const Answer answer = answer_of(text, "deflate, gzip", before, after);
            EXPECT_EQ(header(answer, "Content-Encoding"), "gzip");
            EXPECT_TRUE(unpacked(body_of(answer)) == before + middle + after)
                << middle.size() << " bytes in " << before.size() << " and " << after.size();
        }
    }
}

TEST(SharedTexts, AreSmallAndTheSameForAll) {
    std::string words;
    for (int i = 0; i < 5'000; ++i) words += "tool number " + std::to_string(i) + ", ";
    const SharedText text(words);
    const Answer one = answer_of(text, "gzip", "1", "2"), other = answer_of(text, "gzip", "3", "4");
    EXPECT_LT(one.size(), words.size() / 3);
    EXPECT_EQ(one.shared_body, other.shared_body);
}

TEST(SharedTexts, AreCompressedOnceHoweverManyAsk) {
    const SharedText text(std::string(100'000, 'x'));
    std::vector<Answer> answers(8);
    {
        std::vector<std::jthread> threads;
        for (Answer& each : answers) threads.emplace_back([&] { each = answer_of(text, "gzip"); });
    }
    for (const Answer& each : answers) EXPECT_EQ(each.shared_body, answers.front().shared_body);
}

}  // namespace svc::http::test
