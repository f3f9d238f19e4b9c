#include "tests/unit/automations/sandboxes.hpp"

#include <boost/json.hpp>

#include <fstream>
#include <thread>

namespace svc::test {

using automations::Ended;
using automations::Job;
using automations::Mode;
using automations::Sandbox;
using automations::ScriptCall;

namespace {

Ended load(const std::string& source) {
    const Sandbox sandbox(sandbox_program(), tight());
    return sandbox.run({.mode = Mode::load, .name = "test.lua", .source = source});
}

/// What the one sandbox that is there holds.
long resident_kib_of_sandbox() {
    const auto running = sandboxes_there_are();
    if (running.size() != 1) return -1;
    std::ifstream status("/proc/" + running.front() + "/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
    return -1;
}

Ended ask(const std::string& source) {
    const Sandbox sandbox(sandbox_program(), tight());
    return sandbox.run(
        {.mode = Mode::before, .name = "test.lua", .source = source, .event = an_event}
    );
}

}  // namespace

TEST(Sandbox, AHandlerSeesTheEventAsATable) {
    const auto ended = run_body(R"(
        svc.log(event.kind, event.data.card_id, event.data.version, event.data.nothing)
        local list = event.data.changes.list
        svc.log(#list, list[1], list[2] == svc.null, list[3], list[4])
        svc.log(event.data.changes.deep.a[1].b)
    )");
    EXPECT_EQ(ended.error, "");
    EXPECT_EQ(
        ended.log,
        (std::vector<std::string>{"lease.completed\tc1\t3\tnil", "4\t1\ttrue\ttwo\t2.5", "true"})
    );
}

TEST(Sandbox, ACallGoesOutAsJsonAndItsResultComesBack) {
    std::vector<std::string> calls;
    const auto ended = run_body(
        R"(
        local card = svc.get_card{card_id = event.data.card_id}
        svc.log(card.title, card.version)
        local made, refusal = svc.call("create_card", {title = "A \"b\"\n\u{e4}", tags = svc.list{},
            fields = {}, clear = svc.null, list = {1, 2.5, true}})
        svc.log(made, refusal.status, refusal.code)
        svc.log(svc.delete_card())
        )",
        [&](const ScriptCall& call) {
            calls.push_back(call.operation + " " + call.arguments);
            if (call.operation == "get_card")
                return automations::Reply{200, R"({"title":"T","version":7})"};
            if (call.operation == "create_card")
                return automations::Reply{422, R"({"code":"validation_error"})"};
            return automations::Reply{204, ""};
        }
    );
    EXPECT_EQ(ended.error, "");
    EXPECT_EQ(ended.log, (std::vector<std::string>{"T\t7", "nil\t422\tvalidation_error", "true"}));
    ASSERT_EQ(calls.size(), 3u);
    EXPECT_EQ(calls[0], R"(get_card {"card_id":"c1"})");
    EXPECT_EQ(
        boost::json::parse(calls[1].substr(12)),
        boost::json::parse(
            R"({"title":"A \"b\"\nä","tags":[],"fields":{},"clear":null,"list":[1,2.5,true]})"
        )
    );
    EXPECT_EQ(calls[2], "delete_card {}");
}

TEST(Sandbox, AListThatCameFromTheServerGoesBackAsOneEvenWhenItIsEmpty) {
    std::string sent;
    run_body("svc.a{labels = svc.b().labels}", [&](const ScriptCall& call) {
        if (call.operation == "a") sent = call.arguments;
        return automations::Reply{200, R"({"labels":[]})"};
    });
    EXPECT_EQ(sent, R"({"labels":[]})");
}

TEST(Sandbox, WhatHasAListsKeysAndNamesIsRefusedWithItsLine) {
    const std::string mixed =
        "test.lua:3: a table for the server has either a list's keys or names";
    for (const char* table :
         {"{'x', title = 'y'}",
          "{card_id = 'x', 'oops'}",
          "{labels = {'a', b = 1}}",
          "{labels = {[1] = 'a', [3] = 'c'}}",
          "{labels = svc.list{a = 1}}"})
        EXPECT_EQ(run_body("\nsvc.update_card" + std::string(table)).error, mixed) << table;
    for (const char* table : {"{'x'}", "{{}}", "(svc.list{})"})
        EXPECT_EQ(
            run_body("\nsvc.update_card" + std::string(table)).error,
            "test.lua:3: arguments have names, as in svc.get_card{card_id = …}; this is a list"
        ) << table;
}

TEST(Sandbox, OnlyAPlainTableIsMarkedAsAList) {
    for (const char* table : {"svc", "setmetatable({}, {})", "svc.refuse('a', 'b')"})
        EXPECT_NE(
            run_body("svc.list(" + std::string(table) + ")").error.find("metatable of its own"),
            std::string::npos
        ) << table;
    EXPECT_EQ(run_body("svc.log(#svc.list(svc.list{1, 2}))").log.at(0), "2");
}

TEST(Sandbox, LoadingTellsWhatAScriptBindsTo) {
    const auto ended = load(
        "svc.before('card.*', function() end) svc.after('lease.completed', "
        "print)\n\nsvc.after('*', "
        "print)"
    );
    EXPECT_EQ(ended.error, "");
    EXPECT_EQ(
        ended.binds,
        (std::vector<automations::Bind>{
            {"before", "card.*", 1}, {"after", "lease.completed", 1}, {"after", "*", 3}})
    );
}

TEST(Sandbox, ErrorsNameScriptAndLine) {
    EXPECT_EQ(load("x =\n= 1").error, "test.lua:2: unexpected symbol near '='");
    EXPECT_EQ(load("\n\nsvc.after('Card', print)").error.find("test.lua:3: bad argument #1"), 0u);
    EXPECT_EQ(run_body("\nerror('oops')").error, "test.lua:3: oops");
    EXPECT_EQ(run_body("local x = nil\nreturn x.y").error.find("test.lua:3: attempt to index"), 0u);
    EXPECT_EQ(
        run_body("while true do end").error, "test.lua:2: ran for more than 2000000 instructions"
    );
}

TEST(Sandbox, ABeforeHandlerMayRefuse) {
    const auto ended = ask(R"(
        svc.before("card.*", function() return svc.refuse("never", "Not asked.") end)
        svc.before("lease.*", function(event)
            if event.data.version == 3 then return svc.refuse("too_late", "Not \"now\".") end
        end))");
    EXPECT_EQ(ended.error, "");
    ASSERT_TRUE(ended.refusal);
    EXPECT_EQ(ended.refusal->code, "too_late");
    EXPECT_EQ(ended.refusal->message, "Not \"now\".");
}

TEST(Sandbox, WhateverElseABeforeHandlerReturnsIsNoRefusal) {
    for (const char* value : {"nil", "false", "'no'", "{code = 'x', message = 'y'}", "42"})
        EXPECT_FALSE(
            ask("svc.before('*', function() return " + std::string(value) + " end)").refusal
        ) << value;
}

TEST(Sandbox, ABeforeHandlerCallsNoOperations) {
    const auto ended = ask("svc.before('*', function() svc.get_card{} end)");
    EXPECT_NE(ended.error.find("cannot call operations"), std::string::npos) << ended.error;
}

TEST(Sandbox, NothingIsCalledWhileAScriptLoads) {
    EXPECT_NE(load("svc.get_card{}").error.find("called from a handler"), std::string::npos);
    EXPECT_NE(run_body("svc.after('*', print)").error.find("at the top level"), std::string::npos);
}

TEST(Sandbox, OneRunLeavesNothingForTheNext) {
    run_body("string.format = nil; x = 1; svc.log = nil; math.pi = 3");
    EXPECT_EQ(
        run_body("svc.log(x, math.pi > 3, string.format('%d', 1))").log.front(), "nil\ttrue\t1"
    );
}

TEST(Sandbox, RunsSideBySide) {
    std::vector<std::thread> threads;
    std::atomic<int> fine{0};
    for (int i = 0; i < 12; ++i)
        threads.emplace_back([&, i] {
            const auto ended = run_body("svc.log(" + std::to_string(i) + ")");
            fine += ended.log == std::vector<std::string>{std::to_string(i)};
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(fine, 12);
}

TEST(Sandbox, AProgramThatIsMissingIsNamed) {
    const Sandbox sandbox("/nowhere/workboard-sandbox", tight());
    try {
        sandbox.run({.mode = Mode::load, .name = "test.lua", .source = ""});
        FAIL();
    } catch (const std::system_error& error) {
        EXPECT_NE(std::string(error.what()).find("/nowhere/workboard-sandbox"), std::string::npos);
    }
}

TEST(Sandbox, TheCostOfARunIsAFewMilliseconds) {
    constexpr int runs = 200;
    const Sandbox sandbox(sandbox_program(), tight());
    const std::string source =
        "svc.after('lease.completed', function(e) svc.update_card{card_id = e.data.card_id} end)";
    long resident = 0;
    const auto run = [&](const automations::Serve& serve) {
        return sandbox.run(
            {.mode = Mode::after, .name = "test.lua", .source = source, .event = an_event}, serve
        );
    };
    const Ended first = run([&](const ScriptCall&) {
        resident = resident_kib_of_sandbox();
        return automations::Reply{200, "{}"};
    });
    ASSERT_EQ(first.error, "");
    const auto start = std::chrono::steady_clock::now();
    std::vector<double> took;
    std::int64_t memory = 0;
    for (int i = 0; i < runs; ++i) {
        const Ended ended = run([](const ScriptCall&) { return automations::Reply{200, "{}"}; });
        took.push_back(std::chrono::duration<double, std::milli>(ended.took).count());
        memory = ended.memory_peak_bytes;
    }
    const std::chrono::duration<double, std::milli> whole =
        std::chrono::steady_clock::now() - start;
    std::ranges::sort(took);
    std::printf(
        "a run with one call: %.2f ms with start and end (conversation: median %.2f ms), "
        "Lua %lld bytes, process %ld KiB\n",
        whole.count() / runs,
        took[runs / 2],
        static_cast<long long>(memory),
        resident
    );
    EXPECT_LT(whole.count() / runs, 200);
    EXPECT_LT(memory, 100'000);
    EXPECT_GT(resident, 0);
    EXPECT_LT(resident, 8'000);
}

}  // namespace svc::test
