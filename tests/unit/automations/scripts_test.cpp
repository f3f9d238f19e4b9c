#include "modules/automations/engine/check.hpp"

#include "core/kernel_impl.hpp"
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

// ------------------------------------------------------------ what there is to wait for and call

struct Thing {
    Object<"card"> object;
    Uuid id;
    std::string title;
    std::optional<double> estimate;
    std::int64_t version = 1;
};
SVC_RECORD(Thing, (object), (id), (title), (estimate), (version));

constexpr EventKind card_moved{
    "card.moved", "card", "A card was moved.", &record_of<Thing>, at::board | at::card | at::move};
constexpr EventKind card_taken{
    .name = "card.taken",
    .object = "card",
    .summary = "A right was taken away.",
    .record = &record_of<Thing>,
    .vetoable = false,
};
constexpr EventKind run_ended{
    .name = "run.ended",
    .object = "card",
    .summary = "Nobody may refuse anything of this noun.",
    .record = &record_of<Thing>,
    .vetoable = false,
};
constexpr EventKind card_watched{"card.watched", "card", "For the audit record alone."};

struct ThingId {
    Uuid card_id;
    std::optional<std::string> part;
};
SVC_RECORD(ThingId, (card_id), (part, "", length(1, 5)));

Thing get(Call&, const ThingId&) { return {}; }

const Operation get_card{
    .name = "get_card",
    .route = "GET /v1/cards/{card_id}",
    .summary = "Get a card.",
    .handler = get,
};

void remove(Call&, const ThingId&) {}

const Operation delete_card{
    .name = "delete_card",
    .route = "DELETE /v1/cards/{card_id}",
    .summary = "Delete a card.",
    .status = 204,
    .handler = remove,
};

const Kernel& kernel() {
    static Kernel* one = [] {
        auto* made = new Kernel(std::make_unique<Kernel::Impl>());
        made->impl().opening = "test";
        made->add(card_moved);
        made->add(card_taken);
        made->add(run_ended);
        made->add(card_watched);
        made->add(get_card);
        made->add(delete_card);
        return made;
    }();
    return *one;
}

std::vector<Script> load(const Folder& folder, const std::vector<std::string>& names) {
    return load_scripts(folder.path, names, sandbox(), declarations_of(kernel()));
}

std::string fault_of_loading(const Folder& folder, const std::vector<std::string>& names) {
    try {
        load(folder, names);
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
    const auto report = check_script(file, sandbox(), kernel());
    return report.faults.empty() ? "" : report.faults.front().what;
}

}  // namespace

TEST(Scripts, ComeInTheOrderOfTheirNames) {
    const Folder folder;
    folder.put("b.lua", fine);
    folder.put("a.lua", fine);
    const auto scripts = load(folder, {"b.lua", "a.lua"});
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

TEST(Scripts, ThatAskForWhatIsNotThereAreRefused) {
    const Folder folder;
    folder.put("kind.lua", "svc.after('lease.completed', function() end)");
    folder.put("audit.lua", "svc.after('card.watched', function() end)");
    folder.put("operation.lua", "svc.after('card.*', function()\n  svc.updte_card{}\nend)");
    folder.put("fine.lua", fine);
    EXPECT_EQ(
        fault_of_loading(folder, {"kind.lua"}),
        "script kind.lua:1: unknown event kind lease.completed (is its module enabled?)"
    );
    EXPECT_EQ(
        fault_of_loading(folder, {"operation.lua"}),
        "script operation.lua:2: unknown operation updte_card (is its module enabled?)"
    );
    EXPECT_NE(fault_of_loading(folder, {"audit.lua"}), "") << "no event is ever of this kind";
}

TEST(Scripts, MayNotWaitToRefuseWhatNobodyMayRefuse) {
    const Folder folder;
    for (const std::string kind : {"card.taken", "run.*"}) {
        folder.put("a.lua", "\nsvc.before('" + kind + "', function() end)");
        const std::string fault =
            "script a.lua:2: nobody may refuse " + kind + "; bind to it with svc.after";
        EXPECT_EQ(fault_of_loading(folder, {"a.lua"}), fault);
        folder.put("a.test.json", "[]");
        const auto report = check_script(folder.path / "a.lua", sandbox(), kernel());
        ASSERT_EQ(report.faults.size(), 1u);
        EXPECT_EQ(report.faults[0].what, fault);
    }
    folder.put("a.lua", "svc.before('card.*', print) svc.after('card.taken', print)");
    EXPECT_EQ(fault_of_loading(folder, {"a.lua"}), "");
}

TEST(Scripts, OperationsCalledOutsideAHandlerAreToldApartFromMistypedOnes) {
    const Folder folder;
    folder.put("typo.lua", "svc.aftr('card.moved', function() end)");
    const std::string fault = fault_of_loading(folder, {"typo.lua"});
    EXPECT_NE(fault.find("svc.aftr: "), std::string::npos) << fault;
    EXPECT_NE(fault.find("svc.after and svc.before"), std::string::npos) << fault;
}

TEST(ScriptTests, AreHeldAgainstWhatTheServerDeclares) {
    const auto fault = [](const std::string& script, const std::string& event) {
        return fault_of_test(script, R"([{"name":"A",)" + event + "}]");
    };
    const std::string quiet = "svc.after('card.moved', function() end)";
    const auto of_event = [&](const std::string& parts) {
        return fault(quiet, R"("event":{"kind":"card.moved",)" + parts + "}");
    };
    const std::string id = "\"0190a5b4-0000-7000-8000-000000000001\"";
    EXPECT_EQ(
        of_event(
            R"("actor":{"name":"Ada"},"subject":{"estimate":null,"title":"T"},"data":{"id":)" + id +
            R"(,"card_id":)" + id + R"(,"from":{"name":"A"},"changes":{"estimate":2.5}})"
        ),
        ""
    );
    EXPECT_NE(
        of_event(R"("data":{"column_id":)" + id + "}").find("data.column_id is unknown"),
        std::string::npos
    );
    EXPECT_NE(of_event(R"("data":{"id":"c1"})").find("data.id is a UUID"), std::string::npos);
    EXPECT_NE(
        of_event(R"("data":{"object":"lease"})").find("data.object is always"), std::string::npos
    );
    EXPECT_NE(
        of_event(R"("data":{"changes":{"titel":"x"}})").find("data.changes.titel is unknown"),
        std::string::npos
    );
    EXPECT_NE(
        of_event(R"("data":{"changes":{"title":3}})").find("data.changes.title"), std::string::npos
    );
    EXPECT_NE(
        of_event(R"("subject":{"key":"x"})").find("subject.key is unknown"), std::string::npos
    );
    EXPECT_NE(of_event(R"("actr":{})").find("actr is unknown"), std::string::npos);
    EXPECT_NE(
        fault("svc.after('card.*', function() end)", R"("event":{"kind":"card.createdd"})")
            .find("unknown event kind card.createdd"),
        std::string::npos
    );
    EXPECT_NE(
        fault("svc.after('card.createdd', function() end)", R"("event":{"kind":"card.createdd"})")
            .find("unknown event kind card.createdd"),
        std::string::npos
    );
    const std::string moved = R"("event":{"kind":"card.moved","data":{"id":)" + id + "}}";
    EXPECT_NE(
        fault("svc.after('*', function(e) svc.call('updte_card', {}) end)", moved)
            .find("which is no operation"),
        std::string::npos
    );
    EXPECT_NE(
        fault("svc.after('*', function(e) svc.get_card{card_id = e.data.card_id} end)", moved)
            .find("card_id: This field is required"),
        std::string::npos
    );
    EXPECT_NE(
        fault(fine, R"("answers":{"get_crd":{"status":200}},)" + moved)
            .find("unknown operation get_crd"),
        std::string::npos
    );
    EXPECT_NE(
        fault(fine, R"("answers":{"get_card":{"body":{"name":"x"}}},)" + moved)
            .find("get_card.body.name is unknown"),
        std::string::npos
    );
}

TEST(ScriptTests, PassWhenTheCallsAreTheExpectedOnes) {
    EXPECT_EQ(
        fault_of_test(
            fine,
            R"([{"name":"A","event":{"kind":"card.moved","data":{"id":"0190a5b4-0000-7000-8000-000000000001"}},
                 "calls":[{"operation":"get_card","arguments":{"card_id":"0190a5b4-0000-7000-8000-000000000001"}}]}])"
        ),
        ""
    );
}

TEST(ScriptTests, AreAnsweredAsTheOperationDeclares) {
    const std::string id = "\"0190a5b4-0000-7000-8000-000000000001\"";
    const std::string test = R"([{"name":"A","event":{"kind":"card.moved","data":{"id":)" + id +
                             R"(}},"calls":[)"
                             R"({"operation":"delete_card","arguments":{"card_id":)" +
                             id + "}}]}]";
    EXPECT_EQ(
        fault_of_test(
            R"(svc.after("card.moved", function(event)
  local gone, refusal = svc.delete_card{card_id = event.data.id}
  if not gone then svc.log(refusal.message) end
  if gone ~= true then error("as no server answers") end
end))",
            test
        ),
        ""
    );
}

TEST(ScriptTests, HoldARefusalAgainstWhatTheServerWouldAnswer) {
    EXPECT_EQ(
        fault_of_test(
            "svc.before('card.moved', function() return svc.refuse('no', ('x'):rep(1500)) end)",
            R"([{"name":"A","when":"before","event":{"kind":"card.moved"},"refusal":{"code":"no",)"
            R"("message":")" +
                std::string(1'000, 'x') + R"("}}])"
        ),
        ""
    );
}

TEST(ScriptTests, FailWhenAnythingIsOtherwise) {
    const std::string event =
        R"("event":{"kind":"card.moved","data":{"id":"0190a5b4-0000-7000-8000-000000000001"}})";
    EXPECT_NE(
        fault_of_test(fine, R"([{"name":"A",)" + event + "}]").find("expected the calls []"),
        std::string::npos
    );
    EXPECT_NE(
        fault_of_test(
            fine,
            R"([{"name":"A","error":"x","calls":[{"operation":"get_card",)"
            R"("arguments":{"card_id":"0190a5b4-0000-7000-8000-000000000001"}}],)" +
                event + "}]"
        )
            .find("expected the error"),
        std::string::npos
    );
    EXPECT_NE(
        fault_of_test(
            fine,
            R"([{"name":"A","refusal":{"code":"x","message":"y"},"calls":)"
            R"([{"operation":"get_card","arguments":{"card_id":"0190a5b4-0000-7000-8000-000000000001"}}],)" +
                event + "}]"
        )
            .find("expected the refusal"),
        std::string::npos
    );
    EXPECT_NE(
        fault_of_test(fine, R"([{"name":"A","when":"before","event":{"kind":"card.moved"}}])")
            .find("no before-handler"),
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
