#include "tests/support/markdown.hpp"
#include "tests/support/places.hpp"
#include "tests/support/server.hpp"

#include <gmock/gmock.h>

/// The commands of docs/queue.md, pasted as they stand there, after those of README.md that make an
/// agent.
namespace svc::test {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST(QueueTour, WorksAsWritten) {
    const auto five_minutes =
        section(read_file(source_folder() / "README.md"), "## Five minutes with curl");
    std::string script;
    for (const auto& block : code_blocks(five_minutes)) {
        script += block.text;
        if (block.text.find("agent() {") != std::string::npos) break;
    }
    for (const auto& block : code_blocks(read_file(source_folder() / "docs/queue.md")))
        script += block.text;
    ASSERT_THAT(script, HasSubstr(":complete"));

    const TempFolder folder("workboard-queue-tour");
    const Server server({.program = {}, .var = folder.path() / "var"});
    const std::string place = "127.0.0.1:8080";
    script.replace(script.find(place), place.size(), "127.0.0.1:" + std::to_string(server.port()));
    const auto pasted = run({"bash", "-euo", "pipefail", "-c", script}, {}, folder.path());

    ASSERT_EQ(pasted.code, 0) << pasted.output << server.output();
    EXPECT_THAT(pasted.output, HasSubstr("\"card\": \"A kettle\""));
    EXPECT_THAT(pasted.output, HasSubstr("\"state\": \"leased\""));
    EXPECT_THAT(pasted.output, HasSubstr("\"lease\": \"completed\""));
    EXPECT_THAT(pasted.output, HasSubstr("\"comments\": 1"));
    EXPECT_THAT(pasted.output, HasSubstr("\"last_error\": \"No lamp in the box\""));
    EXPECT_THAT(pasted.output, HasSubstr("\"state\": \"exhausted\""));
    EXPECT_THAT(pasted.output, ContainsRegex("\"idle\"\n(.|\n)*\"state\": \"ready\""));
}

}  // namespace svc::test
