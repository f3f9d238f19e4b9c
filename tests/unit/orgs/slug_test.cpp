#include "modules/orgs/lib/slug.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace svc::orgs {
namespace {

bool is_slug(const std::string& text) {
    static const std::regex pattern{std::string(slug_pattern)};
    return text.size() >= shortest_slug && text.size() <= longest_slug &&
           std::regex_match(text, pattern);
}

TEST(Slug, IsTheNameInSmallLettersAndDashes) {
    EXPECT_EQ(slug_from("Acme"), "acme");
    EXPECT_EQ(slug_from("  Acme & Sons, Ltd. "), "acme-sons-ltd");
    EXPECT_EQ(slug_from("R2-D2 / C-3PO"), "r2-d2-c-3po");
}

TEST(Slug, IsWellFormedWhateverTheName) {
    for (const char* name :
         {"",
          " ",
          "x",
          "--",
          "-a-",
          "日本語",
          "Ünïcödé",
          "a name that is a good deal longer than forty-eight characters can ever be",
          "exactly forty-eight characters and then a dash - here"})
        EXPECT_TRUE(is_slug(slug_from(name))) << name << " gave " << slug_from(name);
}

TEST(Slug, VariesWithoutLosingItsForm) {
    for (const std::string& slug :
         {std::string("acme"), std::string("abc"), std::string(48, 'a')}) {
        EXPECT_TRUE(is_slug(varied(slug))) << varied(slug);
        EXPECT_NE(varied(slug), varied(slug));
    }
    EXPECT_TRUE(varied("acme").starts_with("acme-"));
}

}  // namespace
}  // namespace svc::orgs
