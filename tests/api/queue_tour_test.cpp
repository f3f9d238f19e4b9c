#include "tests/api/pasted.hpp"

#include <gmock/gmock.h>

/// The commands of docs/queue.md, pasted as they stand there, after those of README.md that make an
/// agent.
namespace svc::test {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST(QueueTour, WorksAsWritten) {
    const auto five_minutes =
        section(read_file(in_source("README.md")), "## Five minutes with curl");
    std::string script;
    for (const auto& block : code_blocks(five_minutes)) {
        script += block.text;
        if (block.text.find("agent() {") != std::string::npos) break;
    }
    script += all_code(read_file(in_source("docs/queue.md")));
    ASSERT_THAT(script, HasSubstr(":complete"));

    const std::string output = pasted(script);
    EXPECT_THAT(output, HasSubstr("\"card\": \"A kettle\""));
    EXPECT_THAT(output, HasSubstr("\"state\": \"leased\""));
    EXPECT_THAT(output, HasSubstr("\"lease\": \"completed\""));
    EXPECT_THAT(output, HasSubstr("\"comments\": 1"));
    EXPECT_THAT(output, HasSubstr("\"succeeded_count\": 2"));
    EXPECT_THAT(output, HasSubstr("\"last_error\": \"No lamp in the box\""));
    EXPECT_THAT(output, HasSubstr("\"held\""));
    EXPECT_THAT(output, HasSubstr("\"column_name\": \"To check\""));
    EXPECT_THAT(output, HasSubstr("\"reason\": \"paused\""));
    EXPECT_THAT(output, HasSubstr("\"card_changed\": false"));
    for (const char* worker :
         {"curl: A clock",
          "curl: A chair",
          "python: A mirror",
          "python: A radio",
          "node: A table",
          "node: A bench"})
        EXPECT_THAT(output, HasSubstr(worker + std::string(" completed")));
    EXPECT_THAT(output, HasSubstr("\"state\": \"exhausted\""));
    EXPECT_THAT(output, ContainsRegex("\"idle\"\n(.|\n)*\"state\": \"ready\""));
}

}  // namespace svc::test
