#include "reading.hpp"

#include "decl/input.hpp"
#include "svc/operation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

/// What a body may come in, and what names in it may hold.
namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct NameShelf {
    std::string name;
    std::vector<std::string> labels;
    std::optional<std::string> words;
};
SVC_RECORD(
    NameShelf,
    (name, "What it is called.", length(1, 20), trimmed),
    (labels, "What it is among.", length(0, 5), items_up_to(9), trimmed, defaulted),
    (words, "A few words.", length(1, 50), trimmed, multiline)
);

void name_it(Call&, const NameShelf&) {}

const Operation name_shelf{
    .name = "name_shelf",
    .route = "POST /v1/shelves",
    .summary = "Name a shelf.",
    .handler = name_it,
};

NameShelf fill(std::string_view body, const std::vector<http::Header>& headers = {}) {
    http::Request request;
    request.body = body;
    request.headers = headers;
    decl::Parts parts;
    parts.request = &request;
    NameShelf in{};
    decl::RestInput(name_shelf, parts).fill(&in);
    return in;
}

std::vector<std::string> places(const std::string& body) {
    return places_of([&] { fill(body); });
}

TEST(RestBodies, ABodyInAnotherCodingOrCharsetIs415) {
    const auto status = [](const std::string& name, const std::string& value) {
        try {
            fill(R"({"name":"x"})", {{name, value}});
        } catch (const Failure& failure) {
            EXPECT_EQ(failure.code(), failure.status() == 415 ? "unsupported_media_type" : "");
            return failure.status();
        }
        return 200;
    };
    EXPECT_EQ(status("content-encoding", "gzip"), 415);
    EXPECT_EQ(status("content-encoding", "identity, br"), 415);
    EXPECT_EQ(status("content-encoding", "Identity"), 200);
    EXPECT_EQ(status("content-type", "application/json; charset=iso-8859-1"), 415);
    EXPECT_EQ(status("content-type", "application/json;Charset=\"utf-16\""), 415);
    EXPECT_EQ(status("content-type", "application/json; charset=\"UTF-8\"; x=1"), 200);
    EXPECT_EQ(status("content-type", "application/json;charset"), 415);
}

TEST(RestBodies, ANameHasNoControlCharacters) {
    const auto problems = [](const std::string& text) {
        return places(R"({"name":")" + text + R"("})");
    };
    const auto wrong = ElementsAre(R"(value_error at ["body","name"])");
    for (const char* text :
         {"a\\nb", "a\\tb", "a\\u0007b", "a\\u001bb", "a\\u007fb", "a\xC2\x85 b"})
        EXPECT_THAT(problems(text), wrong) << text;
    EXPECT_THAT(problems("\\n a b\\t"), IsEmpty()) << "what stands around it is removed";
    EXPECT_THAT(problems("Grüße, 世界 \xF0\x9F\x91\x8B"), IsEmpty());
    EXPECT_THAT(
        places(R"({"name":"x","labels":["a","b\nc"]})"),
        ElementsAre(R"(value_error at ["body","labels",1])")
    );
    EXPECT_THAT(places(R"({"name":"x","words":"a\n\tb"})"), IsEmpty());
    EXPECT_THAT(
        places(R"({"name":"x","words":"a\u0000b"})"),
        ElementsAre(testing::StartsWith("json_invalid"))
    );
}

}  // namespace
}  // namespace svc::test
