#include "tests/support/memory.hpp"
#include "tests/unit/automations/sandboxes.hpp"

#include <dirent.h>

/// Scripts that mean harm. Each has to end in bounded time and memory, and leave the server as
/// it was.
namespace svc::test {

using automations::Ended;
using automations::ScriptCall;

namespace {

struct Hostile {
    std::string name;
    std::string body;
    /// What the error has to contain; "" when the script may well end without one.
    std::string error;
};
void PrintTo(const Hostile& hostile, std::ostream* out) { *out << hostile.name; }

std::string name_of_script(const testing::TestParamInfo<Hostile>& script) {
    return script.param.name;
}

std::size_t open_files() {
    DIR* folder = opendir("/proc/self/fd");
    std::size_t count = 0;
    while (readdir(folder)) ++count;
    closedir(folder);
    return count;
}

const std::string too_long = "ran for more than", killed = "took longer than",
                  memory = "bytes of memory", gone = "attempt to";

}  // namespace

class HostileScript : public testing::TestWithParam<Hostile> {};

TEST_P(HostileScript, EndsInBoundsAndLeavesTheServerAlone) {
    const auto files = open_files();
    const auto resident = resident_bytes();
    int calls = 0;
    const auto start = std::chrono::steady_clock::now();
    const Ended ended = run_body(GetParam().body, [&](const ScriptCall&) {
        ++calls;
        return automations::Reply{200, R"({"id":"x","list":[1,2,3]})"};
    });
    EXPECT_LT(std::chrono::steady_clock::now() - start, 8s);
    // On a slow machine the time may be over before the instructions or the memory are.
    const bool bounded = GetParam().error == too_long || GetParam().error == memory;
    const bool slow = bounded && ended.error.find(killed) != std::string::npos;
    EXPECT_TRUE(slow || ended.error.find(GetParam().error) != std::string::npos)
        << "it said: " << ended.error;
    if (!slow && !GetParam().error.empty()) {
        EXPECT_EQ(ended.error.find("test.lua:"), 0u) << "it said: " << ended.error;
    }
    EXPECT_LE(ended.memory_peak_bytes, 8 << 20);
    EXPECT_LE(ended.log.size(), 200u);
    EXPECT_LE(calls, 20);
    EXPECT_EQ(open_files(), files);
    EXPECT_LT(resident_bytes(), resident + (64u << 20));
    EXPECT_EQ(sandboxes_there_are().size(), 0u) << "a process was left behind";
    // And the next script runs as if nothing had been.
    EXPECT_EQ(run_body("svc.log('fine')").log, std::vector<std::string>{"fine"});
}

INSTANTIATE_TEST_SUITE_P(
    Loops,
    HostileScript,
    testing::Values(
        Hostile{"WhileTrue", "while true do end", too_long},
        Hostile{"Goto", "::again:: goto again", too_long},
        Hostile{
            "LoopInsidePcall",
            "while true do pcall(function() while true do end end) end",
            too_long},
        Hostile{
            "LoopInsideXpcallWithALoopingHandler",
            "xpcall(error, function() while true do end end)",
            too_long},
        Hostile{
            "PcallOfPcallOfPcall",
            "local function f() return pcall(f) end while true do f() end",
            too_long},
        Hostile{"LoopInACoroutine", "coroutine.wrap(function() while true do end end)()", too_long},
        Hostile{
            "CoroutinesThatEachDoLittle",
            "while true do coroutine.wrap(function() for i = 1, 90 do end end)() end",
            too_long},
        Hostile{
            "CoroutinesInCoroutines",
            "local function f() coroutine.wrap(f)() end f()",
            "test.lua:2:"},
        Hostile{
            "ACoroutineThatResumesItsParent",
            "local a; a = coroutine.create(function() coroutine.resume(a) while true do end end) "
            "coroutine.resume(a) while true do coroutine.resume(a) end",
            too_long},
        Hostile{"YieldAcrossTheHandler", "coroutine.yield()", "outside a coroutine"},
        Hostile{
            "SortWithAComparerThatLies",
            "local t = {} for i = 1, 5000 do t[i] = i end "
            "while true do pcall(table.sort, t, function() return true end) end",
            too_long},
        Hostile{
            "AnErrorWhoseTextNeverEnds",
            "error(setmetatable({}, {__tostring = function() while true do end end}))",
            too_long},
        Hostile{
            "AnErrorWhoseTextFails",
            "error(setmetatable({}, {__tostring = function() error('again') end}))",
            "again"},
        Hostile{
            "AnErrorWhoseTextIsNoText",
            "error(setmetatable({}, {__tostring = function() return {} end}))",
            "must return a string"},
        Hostile{"AnErrorWithoutText", "error({})", "the error is a table"},
        Hostile{
            "IndexThatLoops",
            "local t = setmetatable({}, {__index = function() while true do end end}) return t.x",
            too_long},
        Hostile{
            "IndexThatLeadsToItself",
            "local t = {} setmetatable(t, {__index = t}) return t.x",
            "loop"},
        Hostile{
            "ConcatenationThatLoops",
            "local t = setmetatable({}, {__concat = function(a) while true do end end}) return t "
            ".. t",
            too_long},
        Hostile{
            "ComparisonThatLoops",
            "local m = {__eq = function() while true do end end} "
            "return setmetatable({}, m) == setmetatable({}, m)",
            too_long}
    ),
    name_of_script
);

INSTANTIATE_TEST_SUITE_P(
    LibraryBombs,
    HostileScript,
    testing::Values(
        Hostile{"RepeatedText", "local s = ('x'):rep(1e9)", "too long"},
        Hostile{"RepeatedNothing", "local s = (''):rep(math.maxinteger)", "too long"},
        Hostile{
            "RepeatedNothingWithSeparator",
            "local s = string.rep('', math.maxinteger, 'ab')",
            "too long"},
        Hostile{"RepeatedNegatively", "return ('x'):rep(math.mininteger)", ""},
        Hostile{
            "PatternWithManyStars",
            "local s = ('a'):rep(3000) .. 'b' return s:find(('a*'):rep(12) .. 'c')",
            killed},
        Hostile{
            "PatternWithLazyStars",
            "local s = ('a'):rep(5000) return s:match(('.-'):rep(8) .. 'x')",
            killed},
        Hostile{
            "PatternInPcall",
            "while true do pcall(string.find, ('a'):rep(4000), ('a*'):rep(9) .. 'b') end",
            killed},
        Hostile{
            "PatternOverMuchText",
            "return (('x'):rep(300000)):find('x')",
            "too long to be searched"},
        Hostile{"PatternOfGreatLength", "return ('x'):find(('x'):rep(300))", "pattern is too long"},
        Hostile{"PatternNestedDeep", "return ('x'):find(('('):rep(200))", "too many captures"},
        Hostile{
            "SubstitutionThatGrows",
            "local s = 'x' while true do s = s:gsub('.', '%0%0') end",
            "too long to be searched"},
        Hostile{
            "SubstitutionThatRecurses",
            "local function f(s) return (s:gsub('.', f)) end f('x')",
            "overflow"},
        Hostile{"FormatWithAHugeWidth", "return ('%99999999d'):format(1)", "invalid conversion"},
        Hostile{
            "FormatOfItself", "local s = '%s' while true do s = s:format(s .. s) end", "no value"},
        Hostile{"TableMoveForEver", "table.move({}, 1, math.maxinteger - 1, 2)", killed},
        Hostile{
            "TableMoveThroughIndex",
            "table.move(setmetatable({}, {__index = function() return 1 end}), 1, 1e9, 1, {})",
            memory},
        Hostile{
            "InsertIntoAnEndlessTable",
            "table.insert(setmetatable({}, {__len = function() return math.maxinteger - 1 end}), "
            "1, 1)",
            killed},
        Hostile{
            "RemoveFromAnEndlessTable",
            "table.remove(setmetatable({}, {__len = function() return math.maxinteger - 1 end}), "
            "1)",
            killed},
        Hostile{
            "ConcatOfAnEndlessTable",
            "table.concat(setmetatable({}, {__len = function() return math.maxinteger end, "
            "__index = function() return '' end}))",
            too_long},
        Hostile{
            "ConcatThroughLibraryFunctions",
            "table.concat(setmetatable({}, {__index = math.abs, "
            "__len = function() return math.maxinteger end}))",
            "bad argument"},
        Hostile{"UnpackOfMuch", "return table.unpack({}, 1, 1e8)", "too many results"},
        Hostile{
            "SelectOfMuch", "return select('#', table.unpack({}, 1, 900000))", "too many results"},
        Hostile{"PackOfMuch", "return string.pack('!16 c1000000000', '')", memory},
        Hostile{
            "CodePointsWithoutEnd",
            "return utf8.char(table.unpack((function() local t = {} for i = 1, 200000 do t[i] = 65 "
            "end return t end)()))",
            memory},
        Hostile{"NumbersFromLongText", "return tonumber(('9'):rep(1000000), 36)", ""}
    ),
    name_of_script
);

INSTANTIATE_TEST_SUITE_P(
    Memory,
    HostileScript,
    testing::Values(
        Hostile{"ATableThatGrows", "local t = {} for i = 1, 1e9 do t[i] = i end", memory},
        Hostile{"TextThatDoubles", "local s = 'x' while true do s = s .. s end", memory},
        Hostile{
            "TextThatDoublesInPcall",
            "local s = 'x' while true do pcall(function() s = s .. s end) end",
            too_long},
        Hostile{
            "ClosuresWithoutEnd",
            "local f = function() end while true do local g = f f = function() return g end end",
            memory},
        Hostile{
            "CoroutinesKept",
            "local t = {} while true do t[#t + 1] = coroutine.create(function() end) end",
            memory},
        Hostile{"DeepRecursion", "local function f() return 1 + f() end f()", memory},
        Hostile{"DeepRecursionInPcall", "local function f() return pcall(f) and f() end f()", ""},
        Hostile{
            "DeepRecursionThroughMetamethods",
            "local m = {} m.__index = function(t, k) return setmetatable({}, m)[k] end "
            "return setmetatable({}, m).x",
            "overflow"},
        Hostile{"ATableOfNestedTables", "local t = {} for i = 1, 1e7 do t = {t} end", memory},
        Hostile{"NamesWithoutEnd", "for i = 1, 1e7 do _G['x' .. i] = i end", memory}
    ),
    name_of_script
);

INSTANTIATE_TEST_SUITE_P(
    Prying,
    HostileScript,
    testing::Values(
        Hostile{"Io", "io.open('/etc/passwd')", gone},
        Hostile{"OsExecute", "os.execute('id')", gone},
        Hostile{"OsExit", "os.exit(0)", gone},
        Hostile{"Require", "require('os')", gone},
        Hostile{"PackageLoadlib", "package.loadlib('libc.so.6', 'system')", gone},
        Hostile{"Debug", "debug.getregistry()", gone},
        Hostile{"Load", "load('return 1')", gone},
        Hostile{"LoadBytecode", "load('\\27Lua', 'x', 'b')", gone},
        Hostile{"Dofile", "dofile('/etc/passwd')", gone},
        Hostile{"Loadfile", "loadfile('/etc/passwd')", gone},
        Hostile{"Dump", "string.dump(function() end)", gone},
        Hostile{"CollectGarbage", "collectgarbage('stop')", gone},
        Hostile{"Warn", "warn('@on')", gone},
        Hostile{"Finaliser", "setmetatable({}, {__gc = function() while true do end end})", "__gc"},
        Hostile{"Closer", "setmetatable({}, {__close = function() end})", "__close"},
        Hostile{
            "CloserThatLoops",
            "local m = {} local t <close> = setmetatable({}, m) ",
            "non-closable"},
        Hostile{
            "CloserAddedLater",
            "local m = {} local t = setmetatable({}, m) m.__close = function() while true do end "
            "end "
            "local x <close> = t error('now')",
            too_long},
        Hostile{"TheMetatableOfText", "getmetatable('').__index = nil", gone},
        Hostile{"TheMetatableOfTextReplaced", "setmetatable('', {})", "bad argument #1"},
        Hostile{"TheMetatableOfTheService", "getmetatable(svc).__index = nil", gone},
        Hostile{"TheMetatableOfLists", "getmetatable(svc.list{}).__gc = print", gone},
        Hostile{
            "TheMetatableOfListsOfTheServer",
            "getmetatable(event.data.changes.list).__gc = print",
            gone},
        Hostile{"TheMetatableOfRefusals", "getmetatable(svc.refuse('a', 'b')).__gc = print", gone},
        Hostile{"TheMetatableOfTheServiceReplaced", "setmetatable(svc, {})", "protected"},
        Hostile{
            "AForgedRefusal",
            "return setmetatable({code = 'x', message = 'y'}, svc.refuse('a', 'b'))",
            ""},
        Hostile{
            "AReplacedLibrary",
            "string.format = function() while true do end end error(('%d'):format(1))",
            too_long},
        Hostile{"UpvaluesOfTheWrappers", "for k, v in pairs(string) do pcall(v) end", ""}
    ),
    name_of_script
);

INSTANTIATE_TEST_SUITE_P(
    Floods,
    HostileScript,
    testing::Values(
        Hostile{"LogsWithoutEnd", "while true do svc.log('x') end", too_long},
        Hostile{
            "LogsOfMegabytes", "local s = ('x'):rep(1e6) for i = 1, 1e6 do svc.log(s) end", killed},
        Hostile{
            "LogsThatAreNoText", "for i = 1, 300 do svc.log('\\xff\\0\\xfe', {}, print) end", ""},
        Hostile{
            "LogsWhoseTextLoops",
            "svc.log(setmetatable({}, {__tostring = function() while true do end end}))",
            too_long},
        Hostile{
            "CallsWithoutEnd",
            "while true do svc.get_card{} end",
            "called more than 20 operations"},
        Hostile{
            "CallsWithoutEndInPcall",
            "while true do pcall(svc.get_card, {}) end",
            "called more than 20 operations"},
        Hostile{"ACallOfMegabytes", "svc.get_card{x = ('x'):rep(2e6)}", "too much for the server"},
        Hostile{
            "ACallThatContainsItself", "local t = {} t.t = t svc.get_card(t)", "nested too deep"},
        Hostile{
            "ACallThatDoublesItself",
            "local t = {'x'} for i = 1, 40 do t = {t, t} end svc.get_card{t = t}",
            "too much for the server"},
        Hostile{"ACallWithAFunction", "svc.get_card{x = print}", "takes no function"},
        Hostile{"ACallWithBrokenText", "svc.get_card{x = '\\xff'}", "must be UTF-8"},
        Hostile{"ACallWithZeroBytes", "svc.get_card{x = 'a\\0b'}", "must be UTF-8"},
        Hostile{"ACallWithInfinity", "svc.get_card{x = 1/0}", "infinite"},
        Hostile{"ACallWithMixedKeys", "svc.get_card{x = {[1.5] = 1}}", "list's keys or names"},
        Hostile{"ACallWithAWildName", "svc.call('get_card\\n{}', {})", "not an operation"},
        Hostile{
            "ACallFromACoroutine",
            "for i = 1, 30 do coroutine.wrap(function() svc.get_card{} end)() end",
            "called more than 20 operations"},
        Hostile{
            "ACallWhoseTableLies",
            "svc.get_card(setmetatable({}, {__pairs = function() while true do end end, "
            "__index = function() while true do end end}))",
            ""}
    ),
    name_of_script
);

}  // namespace svc::test
