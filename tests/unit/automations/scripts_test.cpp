#include "modules/automations/engine/check.hpp"
#include "tests/support/places.hpp"
#include "tests/unit/automations/sandboxes.hpp"

#include <fstream>

namespace svc::test {

using namespace automations;

namespace {

class Folder {
public:
    Folder() {
        std::string name = std::filesystem::temp_directory_path() / "scripts-XXXXXX";
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        path = name;
    }
    ~Folder() { std::filesystem::remove_all(path); }
    std::filesystem::path put(const std::string& name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return path / name;
    }

    std::filesystem::path path;
};

const Sandbox& sandbox() {
    static const Sandbox one(sandbox_program(), tight());
    return one;
}

std::string fault_of_loading(const Folder& folder, const std::vector<std::string>& names) {
    try {
        load_scripts(folder.path, names, sandbox());
        return "";
    } catch (const std::runtime_error& error) {
        return error.what();
    }
}

const std::string fine =
    "svc.after('card.moved', function(e) svc.get_card{card_id = e.data.id} end)";

std::string fault_of_test(const std::string& script, const std::string& test) {
    const Folder folder;
    const auto file = folder.put("a.lua", script);
    if (!test.empty()) folder.put("a.test.json", test);
    const auto report = check_script(file, sandbox());
    return report.faults.empty() ? "" : report.faults.front().what;
}

}  // namespace

TEST(Scripts, AllThatAreShippedPassTheirTests) {
    int scripts = 0;
    for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "scripts")) {
        if (entry.path().extension() != ".lua") continue;
        ++scripts;
        const auto report = check_script(entry.path(), sandbox());
        EXPECT_GT(report.cases, 0);
        for (const auto& fault : report.faults)
            ADD_FAILURE() << fault.script << ": " << fault.name << ": " << fault.what;
    }
    EXPECT_GT(scripts, 0);
}

TEST(Scripts, ComeInTheOrderOfTheirNames) {
    const Folder folder;
    folder.put("b.lua", fine);
    folder.put("a.lua", fine);
    const auto scripts = load_scripts(folder.path, {"b.lua", "a.lua"}, sandbox());
    ASSERT_EQ(scripts.size(), 2u);
    EXPECT_EQ(scripts[0].name, "a.lua");
    EXPECT_NE(scripts[0].id, scripts[1].id);
    EXPECT_TRUE(scripts[0].binds_to("after", "card.moved"));
    EXPECT_FALSE(scripts[0].binds_to("before", "card.moved"));
    EXPECT_FALSE(scripts[0].binds_to("after", "card.created"));
    EXPECT_EQ(load_script(folder.path / "a.lua", sandbox()).id, scripts[0].id);
}

TEST(Scripts, ThatDoNotLoadAreNamedInOneLine) {
    const Folder folder;
    folder.put("broken.lua", "svc.after('card.moved', function()\n  x = = 1\nend)");
    folder.put("idle.lua", "local x = 1");
    folder.put("long.lua", std::string(70'000, ' '));
    folder.put("loop.lua", "while true do end");
    folder.put("fine.lua", fine);
    EXPECT_EQ(
        fault_of_loading(folder, {"broken.lua"}), "script broken.lua:2: unexpected symbol near '='"
    );
    EXPECT_EQ(fault_of_loading(folder, {"idle.lua"}), "script idle.lua: binds to no event");
    EXPECT_NE(fault_of_loading(folder, {"long.lua"}).find("longer than 65536"), std::string::npos);
    EXPECT_NE(
        fault_of_loading(folder, {"loop.lua"}).find("script loop.lua:1: ran"), std::string::npos
    );
    EXPECT_NE(fault_of_loading(folder, {"none.lua"}).find("cannot be read"), std::string::npos);
    EXPECT_EQ(
        fault_of_loading(folder, {"fine.lua", "fine.lua"}), "script fine.lua: is listed twice"
    );
    EXPECT_EQ(fault_of_loading(folder, {"fine.lua"}), "");
}

TEST(ScriptTests, PassWhenTheCallsAreTheExpectedOnes) {
    EXPECT_EQ(
        fault_of_test(
            fine,
            R"([{"name":"A","event":{"kind":"card.moved","data":{"id":"c"}},
                 "calls":[{"operation":"get_card","arguments":{"card_id":"c"}}]}])"
        ),
        ""
    );
}

TEST(ScriptTests, FailWhenAnythingIsOtherwise) {
    const std::string event = R"("event":{"kind":"card.moved","data":{"id":"c"}})";
    EXPECT_NE(
        fault_of_test(fine, R"([{"name":"A",)" + event + "}]").find("expected the calls []"),
        std::string::npos
    );
    EXPECT_NE(
        fault_of_test(
            fine,
            R"([{"name":"A","error":"x","calls":[{"operation":"get_card",)"
            R"("arguments":{"card_id":"c"}}],)" +
                event + "}]"
        )
            .find("expected the error"),
        std::string::npos
    );
    EXPECT_NE(
        fault_of_test(
            fine,
            R"([{"name":"A","refusal":{"code":"x","message":"y"},"calls":)"
            R"([{"operation":"get_card","arguments":{"card_id":"c"}}],)" +
                event + "}]"
        )
            .find("expected the refusal"),
        std::string::npos
    );
    EXPECT_NE(
        fault_of_test(fine, R"([{"name":"A","event":{"kind":"card.created"}}])")
            .find("no after-handler"),
        std::string::npos
    );
    EXPECT_NE(fault_of_test(fine, "").find("is missing"), std::string::npos);
    EXPECT_NE(fault_of_test(fine, "[]").find("no case"), std::string::npos);
    EXPECT_NE(fault_of_test(fine, "[{"), "");
    EXPECT_NE(
        fault_of_test(fine, R"([{"name":"A","evnt":1}])").find("unknown member"), std::string::npos
    );
    EXPECT_NE(fault_of_test("error('x')", "[]").find("script a.lua:1: x"), std::string::npos);
}

}  // namespace svc::test
