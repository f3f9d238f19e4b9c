#include "tests/rules/sql.hpp"

#include <gtest/gtest.h>

/// A card's fields are written once: in modules/boards/api/card_fields.hpp.
namespace svc::test {

namespace {

const std::string list = "modules/boards/api/card_fields.hpp";

/// The names of its rows.
std::vector<std::string> card_fields() {
    std::vector<std::string> out;
    for (const auto& file : sources()) {
        if (file.path != list) continue;
        const auto begin = file.text.find("#define SVC_CARD_FIELDS ");
        const auto rows = file.text.substr(begin, file.text.find("\n\n", begin) - begin);
        static const std::regex row(R"(\((\w+),)");
        for (std::sregex_iterator each(rows.begin(), rows.end(), row), none; each != none; ++each)
            out.push_back((*each)[1]);
    }
    return out;
}

bool writes_cards(const Words& words) {
    return says(words, {"insert", "into", "cards"}) || says(words, {"update", "cards"});
}

}  // namespace

TEST(CardFields, AreNamedInNoStatementThatWritesCards) {
    const auto fields = card_fields();
    ASSERT_GE(fields.size(), 4u);
    int seen = 0;
    for (const auto& statement : program_statements()) {
        if (!statement.file.starts_with("modules/") || !writes_cards(statement.words)) continue;
        ++seen;
        for (const auto& field : fields)
            EXPECT_FALSE(says(statement.words, {field}))
                << statement.name << " names " << field << "; " << list << " has macros for it";
    }
    EXPECT_GE(seen, 3);
}

TEST(CardFields, AreCopiedFromNoStructToAnotherOneByOne) {
    std::string names;
    for (const auto& field : card_fields()) names += (names.empty() ? "" : "|") + field;
    const std::regex copied(R"(\w+\.()" + names + R"() = \w+\.\1;)");
    ASSERT_TRUE(std::regex_search("card.due = in.due;", copied));
    for (const auto& file : sources()) {
        if (!file.in("modules") || !file.is_cpp()) continue;
        for (const auto& line : file.lines())
            EXPECT_FALSE(line.find(" = ") != line.npos && std::regex_search(line, copied))
                << file.path << " copies what SVC_COPY_CARD_FIELDS does: " << line;
    }
}

}  // namespace svc::test
