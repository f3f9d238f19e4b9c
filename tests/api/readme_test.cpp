#include "tests/api/pasted.hpp"

#include <gmock/gmock.h>

/// The five minutes of README.md, pasted as they stand there.
namespace svc::test {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST(Readme, ItsFiveMinutesWorkAsWritten) {
    const std::string script =
        all_code(section(read_file(in_source("README.md")), "## Five minutes with curl"));
    ASSERT_THAT(script, HasSubstr("claim-next"));

    const std::string output = pasted(script);
    EXPECT_THAT(output, HasSubstr("\"email\": \"ada@example.com\""));
    EXPECT_THAT(output, HasSubstr("\"card\": \"A teapot\""));
    EXPECT_THAT(output, HasSubstr("\"completed\""));
    EXPECT_THAT(output, HasSubstr("\"last_error\": \"It is raining\""));
    EXPECT_THAT(output, HasSubstr("A teapot  idle  done-by-agent\n"));
    EXPECT_THAT(output, ContainsRegex("Two umbrellas  (backoff|ready)  \n"));
    EXPECT_THAT(output, HasSubstr("A grand piano  ready  \n"));
}

}  // namespace svc::test
