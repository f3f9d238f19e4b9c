#include "modules/automations/engine/named_operations.hpp"

#include <gtest/gtest.h>

namespace svc::test {

namespace {

/// "name:line" of each.
std::string names_in(std::string_view source) {
    std::string text;
    for (const auto& [name, line] : automations::named_operations(source))
        (text += text.empty() ? "" : " ") += name + ":" + std::to_string(line);
    return text;
}

}  // namespace

TEST(NamedOperations, AreThoseOfTheTextEachOnceWithItsFirstLine) {
    EXPECT_EQ(
        names_in("svc.after('*', function()\n svc.get_card{}\n\n svc.list{svc.b(svc.null)}\n"
                 "svc.get_card() end)"),
        "get_card:2 b:4"
    );
}

TEST(NamedOperations, AreNotThoseOfComments) {
    EXPECT_EQ(names_in("-- svc.word\nsvc.a() --svc.b\n--svc.c"), "a:2");
    EXPECT_EQ(names_in("--[[ svc.word\n ]] svc.a() --[==[\n]] svc.b ]=]\n]==] svc.c()"), "a:2 c:4");
    EXPECT_EQ(names_in("--[=[ svc.word"), "");
    EXPECT_EQ(names_in("--[= svc.word\nsvc.a()\n--\nsvc.b()"), "a:2 b:4");
}

TEST(NamedOperations, AreNotThoseOfTextInQuotesOrBrackets) {
    EXPECT_EQ(names_in(R"(svc.log("see svc.word", 'svc.word') svc.a())"), "a:1");
    EXPECT_EQ(names_in(R"(x = "\"svc.word\\" svc.a() y = '\'svc.word')"), "a:1");
    EXPECT_EQ(names_in("x = 'a\\\nsvc.word' svc.a()"), "a:2");
    EXPECT_EQ(
        names_in("x = [[svc.word\n'--]] svc.a() y = [=[ ]] svc.word\n]=] svc.b()"), "a:2 b:3"
    );
    EXPECT_EQ(names_in("x = t[svc.a()] y = t[ [[svc.word]] ]"), "a:1");
}

TEST(NamedOperations, AreMembersOfTheGlobalAndNothingElse) {
    EXPECT_EQ(names_in("t.svc.word() mysvc.word() Xsvc.word() svcs.word() svc[1] svc..word"), "");
    EXPECT_EQ(names_in("x = 'a'..svc.a()"), "a:1");
    EXPECT_EQ(names_in(""), "");
    EXPECT_EQ(names_in("svc."), "");
    EXPECT_EQ(names_in("'svc.word"), "") << "though that is no Lua";
    EXPECT_EQ(names_in("'\\"), "");
}

}  // namespace svc::test
