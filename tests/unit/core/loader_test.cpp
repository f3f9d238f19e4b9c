#include "core/loader.hpp"

#include "core/library_symbols.hpp"
#include "tests/support/places.hpp"
#include "tests/support/program.hpp"

#include <gtest/gtest.h>

namespace svc::core {
namespace {

const std::filesystem::path folder = svc::test::in_build("lib/test_modules");

/// The names in the order of loading, or the one line that says what is wrong.
std::string load(std::vector<std::string> names) {
    try {
        std::string order;
        for (const Loaded& each : load_modules(folder, names))
            (order += order.empty() ? "" : " ") += each.card->name;
        return order;
    } catch (const std::runtime_error& problem) {
        return problem.what();
    }
}

TEST(Loader, PutsModulesInTheOrderOfTheirNeeds) {
    EXPECT_EQ(load({"needy", "alone"}), "alone needy");
    EXPECT_EQ(load({"alone", "needy"}), "alone needy");
}

TEST(Loader, NamesTheModuleThatIsMissing) {
    EXPECT_EQ(
        load({"alone", "nowhere"}),
        "module nowhere: is enabled in the config, but there is no " +
            (folder / "nowhere.so").string()
    );
}

TEST(Loader, NamesTheNeedThatIsNotEnabled) {
    EXPECT_EQ(load({"needy"}), "module needy: needs the module alone, which is not enabled");
}

TEST(Loader, LeavesOutDriversOfWhatIsOff) {
    const std::vector<std::string> alone{"alone"}, none, needy{"needy"};
    EXPECT_EQ(load_modules(folder, alone, needy).size(), 2u);
    EXPECT_TRUE(load_modules(folder, none, needy).empty());
}

TEST(Loader, NamesACircle) {
    EXPECT_EQ(load({"hen", "egg", "alone"}), "module hen: needs go round in a circle: hen, egg");
}

TEST(Loader, RefusesAModuleBuiltAgainstOtherHeadersBeforeItsCodeRuns) {
    EXPECT_EQ(
        load({"stale"}), "module stale: was built against other kernel headers; build it again"
    );
}

TEST(Loader, NamesTheModuleThatThrows) {
    EXPECT_EQ(load({"throws"}), "module throws: has no licence to exist");
}

TEST(Loader, RefusesALibraryUnderAnotherName) {
    EXPECT_EQ(load({"liar"}), "module liar: the library calls itself somebody_else");
}

// However a file ends, it is looked at within its bounds.
TEST(Loader, PartsOfALibraryExportNothing) {
    const std::string whole = test::read_file(folder / "alone.so");
    const test::TempFolder cut("workboard-cut");
    const auto exports = [&](const std::string& bytes, std::string_view symbol) {
        test::write_file(cut.path() / "cut.so", bytes);
        try {
            return exports_symbol(cut.path() / "cut.so", symbol);
        } catch (const std::system_error&) {
            return false;
        }
    };
    EXPECT_TRUE(exports(whole, "svc_module_card"));
    EXPECT_FALSE(exports(whole, "svc_module_car"));
    EXPECT_FALSE(exports(whole, "malloc")) << "it needs that, and has it not";
    EXPECT_FALSE(exports(whole.substr(0, whole.size() / 64), "svc_module_card"));
    for (std::size_t size = 0; size < whole.size(); size += 1 + size / 8)
        exports(whole.substr(0, size), "svc_module_card");
    for (std::size_t at = 16; at < 64; ++at) {
        std::string wrong = whole;
        wrong[at] = static_cast<char>(wrong[at] ^ 0xff);
        exports(wrong, "svc_module_card");
    }
}

TEST(Loader, RefusesAFileThatIsNoLibrary) {
    const auto said = load({"garbage"});
    EXPECT_TRUE(said.starts_with("module garbage: ")) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
}

}  // namespace
}  // namespace svc::core
