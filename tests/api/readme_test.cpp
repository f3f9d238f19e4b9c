#include "tests/support/markdown.hpp"
#include "tests/support/places.hpp"
#include "tests/support/server.hpp"

#include <gmock/gmock.h>

/// The five minutes of README.md, pasted as they stand there.
namespace svc::test {

using testing::ContainsRegex;
using testing::HasSubstr;

namespace {

std::string replaced(std::string text, std::string_view what, const std::string& with) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
        text.replace(at, what.size(), with);
    return text;
}

}  // namespace

TEST(Readme, ItsFiveMinutesWorkAsWritten) {
    const auto part = section(read_file(in_source("README.md")), "## Five minutes with curl");
    std::string script;
    for (const auto& block : code_blocks(part)) script += block.text;
    ASSERT_THAT(script, HasSubstr("claim-next"));

    // Only the place differs: a port that is free here, and the folder `var` below this one.
    const TempFolder folder("workboard-readme");
    const Server server({.program = {}, .var = folder.path() / "var"});
    script = replaced(script, "127.0.0.1:8080", "127.0.0.1:" + std::to_string(server.port()));
    const auto pasted = run({"bash", "-euo", "pipefail", "-c", script}, {}, folder.path());

    ASSERT_EQ(pasted.code, 0) << pasted.output << server.output();
    EXPECT_THAT(pasted.output, HasSubstr("\"email\": \"ada@example.com\""));
    EXPECT_THAT(pasted.output, HasSubstr("\"card\": \"A teapot\""));
    EXPECT_THAT(pasted.output, HasSubstr("\"completed\""));
    EXPECT_THAT(pasted.output, HasSubstr("\"last_error\": \"It is raining\""));
    EXPECT_THAT(pasted.output, HasSubstr("A teapot  idle  done-by-agent\n"));
    EXPECT_THAT(pasted.output, ContainsRegex("Two umbrellas  (backoff|ready)  \n"));
    EXPECT_THAT(pasted.output, HasSubstr("A grand piano  ready  \n"));
}

}  // namespace svc::test
