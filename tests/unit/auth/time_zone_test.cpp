#include "modules/auth/lib/time_zone.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace svc::auth {
namespace {

TEST(TimeZone, IsOneOfTheDatabase) {
    if (!std::filesystem::is_directory("/usr/share/zoneinfo")) {
        EXPECT_TRUE(is_time_zone("Any/Name"));
        return;
    }
    for (const char* name :
         {"UTC", "Europe/Zurich", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "Asia/Tokyo"})
        EXPECT_TRUE(is_time_zone(name)) << name;
    for (const char* name : {"Europe/Atlantis", "Europe", "europe/zurich", "tzdata.zi", "zone.tab"})
        EXPECT_FALSE(is_time_zone(name)) << name;
}

TEST(TimeZone, IsNoOtherFile) {
    for (const char* name :
         {"",
          "/etc/localtime",
          "../../../etc/passwd",
          "Europe/../UTC",
          "posix/UTC",
          "right/UTC",
          "localtime",
          "Europe/Zurich ",
          "UTC\n"})
        EXPECT_FALSE(is_time_zone(name)) << name;
}

}  // namespace
}  // namespace svc::auth
