#include "tests/unit/automations/sandboxes.hpp"

#include <thread>

/// Sources that are no scripts, or do harm before anything happens.
namespace svc::test {

using automations::Ended;

namespace {

Ended load(const std::string& source) {
    const automations::Sandbox sandbox(sandbox_program(), tight());
    return sandbox.run({.mode = automations::Mode::load, .name = "test.lua", .source = source});
}

}  // namespace

TEST(HostileSource, IsRefusedWhenItIsBytecode) {
    EXPECT_NE(load("\x1bLua\x54").error.find("attempt to load a binary chunk"), std::string::npos);
}

TEST(HostileSource, NestedWithoutEndDoesNotLoad) {
    for (const char* piece : {"(", "{", "do ", "f{", "a.b[", "not ", "function f() "}) {
        std::string source = "return ";
        for (int i = 0; i < 20'000; ++i) source += piece;
        EXPECT_FALSE(load(source).error.empty()) << piece;
    }
}

TEST(HostileSource, OfNoiseDoesNoHarm) {
    std::string noise;
    std::uint32_t random = 1;
    for (int i = 0; i < 60'000; ++i) {
        random = random * 1664525 + 1013904223;
        noise += static_cast<char>(random >> 24);
    }
    EXPECT_FALSE(load(noise).error.empty());
}

TEST(HostileSource, ThatLoopsWhileItLoadsIsStopped) {
    EXPECT_NE(load("while true do end").error.find("ran for more than"), std::string::npos);
    EXPECT_NE(
        load("string.find(('a'):rep(3000), ('a*'):rep(12) .. 'b')").error.find("took longer than"),
        std::string::npos
    );
}

TEST(HostileScripts, TwelveAtOnceEndInTheirTime) {
    std::vector<std::thread> threads;
    const auto start = std::chrono::steady_clock::now();
    std::atomic<int> ended{0};
    for (int i = 0; i < 12; ++i)
        threads.emplace_back([&, i] {
            const auto body = i % 3 == 0 ? "while true do end"
                              : i % 3 == 1
                                  ? "local t = {} while true do t[#t + 1] = ('x'):rep(999) end"
                                  : "table.move({}, 1, math.maxinteger - 1, 2)";
            ended += !run_body(body).error.empty();
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(ended, 12);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 30s);
}

}  // namespace svc::test
