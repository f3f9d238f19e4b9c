#include "tests/api/pasted.hpp"

#include <gmock/gmock.h>

/// The five minutes of README.md, pasted as they stand there.
namespace svc::test {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST(Readme, ItsFiveMinutesWorkAsWritten) {
    const std::string page =
        section(read_file(in_source("README.md")), "## Five minutes with curl");
    const std::string script = all_code(page);
    ASSERT_THAT(script, HasSubstr("claim-next"));
    const auto settings = settings_in(page);
    ASSERT_THAT(
        settings,
        testing::ElementsAre(
            "automations.scripts=label-results.lua", "webhooks.allow_private_targets=true"
        )
    );

    const std::string output = pasted(script, settings);
    EXPECT_THAT(output, HasSubstr("\"email\": \"ada@example.com\""));
    EXPECT_THAT(output, HasSubstr("\"card\": \"A teapot\""));
    EXPECT_THAT(output, HasSubstr("\"completed\""));
    EXPECT_THAT(output, HasSubstr("\"last_error\": \"It is raining\""));
    EXPECT_THAT(output, HasSubstr("A teapot  idle  done-by-agent\n"));
    EXPECT_THAT(output, ContainsRegex("Two umbrellas  (backoff|ready)  \n"));
    EXPECT_THAT(output, HasSubstr("A grand piano  ready  \n"));
    EXPECT_THAT(
        output,
        HasSubstr("event: lease.claimed\nevent: lease.completed\nevent: lease.claimed\nevent: "
                  "lease.failed\n")
    );
    EXPECT_THAT(output, HasSubstr("webhook.test  failed  answered 404\n"));
}

}  // namespace svc::test
