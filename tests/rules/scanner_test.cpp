#include "tests/rules/sql.hpp"

#include <gtest/gtest.h>

/// The rules can only find what the scanners see.
namespace svc::test {

namespace {

SourceFile cpp(std::string text) { return {"modules/none/x.cpp", std::move(text)}; }

}  // namespace

TEST(Scanner, ARawStringEndsAtItsOwnDelimiter) {
    const auto parts = pieces("f(R\"sql(a \" )\" b)sql\", 1);");
    ASSERT_GE(parts.size(), 2u);
    EXPECT_EQ(parts[1].kind, Piece::Kind::text);
    EXPECT_EQ(parts[1].text, "a \" )\" b");
}

TEST(Scanner, CommentsAreNotCode) {
    for (const auto& part : pieces("int a; // \"no text\"\n/* PGconn */ int b;")) {
        if (part.kind != Piece::Kind::code) continue;
        EXPECT_EQ(part.text.find("PGconn"), std::string::npos);
    }
}

TEST(Scanner, StatementsAreFoundWithTheirNames) {
    const auto found =
        statements_in(cpp("constexpr Sql a{\"none.a\", R\"(SELECT 1)\"};\n"
                          "constexpr Sql b{\n    \"none.b\",\n    R\"(SELECT 2)\"\n};\n"));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].name, "none.a");
    EXPECT_EQ(found[0].text, "SELECT 1");
    EXPECT_EQ(found[1].name, "none.b");
    EXPECT_EQ(found[1].text, "SELECT 2");
}

TEST(Scanner, LiteralsAndCommentsOfSqlAreNotWords) {
    const auto words = words_of("SELECT 'now() random()' -- nextval(\nFROM t");
    EXPECT_EQ(words, (Words{"select", "''", "from", "t"}));
}

TEST(Scanner, AMigrationIsCutAtItsSemicolonsButNotInsideABody) {
    const auto found = statements_of(
        {"x.sql", "CREATE TABLE a (b text DEFAULT ';');\nCREATE FUNCTION f() AS $$ x; y; $$;\n"}
    );
    EXPECT_EQ(found.size(), 2u);
}

}  // namespace svc::test
