#include "tests/rules/source.hpp"

#include <gtest/gtest.h>

#include <regex>

/// What can happen is listed: `list_event_kinds` and docs/events.md are made of the kinds that
/// modules add.
namespace svc::test {

namespace {

/// "boards" of modules/boards/api.hpp.
std::string part_of(const std::string& path) {
    const auto begin = path.find('/') + 1;
    return path.substr(begin, path.find('/', begin) - begin);
}

}  // namespace

TEST(Kinds, EveryKindOfEventIsAddedByItsModule) {
    static const std::regex declared(R"(\bEventKind (\w+)\s*\{)");
    int seen = 0;
    for (const auto& file : sources()) {
        const bool ours = file.path.starts_with("modules/") || file.path.starts_with("plugins/") ||
                          file.path.starts_with("docs/examples/notes/");
        if (!ours || !file.is_cpp() || file.text.find("EventKind ") == file.text.npos) continue;
        const std::sregex_iterator none;
        for (std::sregex_iterator each(file.text.begin(), file.text.end(), declared); each != none;
             ++each) {
            const auto begin = static_cast<std::size_t>(each->position());
            const auto text = file.text.substr(begin, file.text.find("};", begin) - begin);
            if (text.find("record_of<") == std::string::npos) continue;  // for the audit record
            ++seen;
            const std::string name = (*each)[1];
            const std::regex added("add\\(" + name + "\\)|&" + name + "\\b");
            const bool found = std::ranges::any_of(sources(), [&](const auto& other) {
                return part_of(other.path) == part_of(file.path) &&
                       other.text.find("kernel.add(") != std::string::npos &&
                       std::regex_search(other.text, added);
            });
            EXPECT_TRUE(found) << name << " of " << file.path << " is not added to the kernel";
        }
    }
    EXPECT_GT(seen, 50);
}

}  // namespace svc::test
