// Cards that follow a change of what their board defines: the newest at once, the others later.

#include "tests/support/eventually.hpp"
#include "tests/support/lock_holder.hpp"
#include "tests/unit/boards/many.hpp"

#include <atomic>
#include <thread>

namespace svc::test {

namespace {

using boost::json::array;
using boost::json::object;

constexpr int beyond_one_batch = 600;

/// A board with an old card and so many newer ones that it does not follow at once.
struct Following : Columns {
    Answer effort = define("Effort", "number"), size = define("Size", "select");
    Answer old = card(
        backlog,
        {{"title", "Old"}, {"labels", {"bug"}}, {"properties", {{"Effort", 3}, {"Size", "Small"}}}}
    );
    std::string label = old.text("/labels/0/id");

    Following() {
        fill(*this, backlog, beyond_one_batch, 0);
        in_process().forget_events();
    }
    Answer define(const char* name, const char* type) {
        return must("create_property", {{"name", name}, {"type", type}});
    }
    Answer must(std::string_view operation, object what) {
        what["board_id"] = board.str();
        return in_process().must(owner, operation, what);
    }
    Answer rename(const Answer& property, const char* name) {
        return must("update_property", {{"property_id", property.text("/id")}, {"name", name}});
    }
    Answer edit(const std::string& id, object what) {
        what["card_id"] = id;
        return in_process().must(owner, "update_card", what);
    }
    Answer shown() { return get(old.id()); }
    void follow() {
        EXPECT_TRUE(eventually([&] {  // whoever held a card may be about to let it go
            in_process().run_job("boards.rewrite_cards");
            return waiting() == "0";
        }));
    }
    std::string waiting() const {
        return in_process().run(
            "SELECT count(*) FROM card_rewrites WHERE board_id = '" + board.str() + "'"
        );
    }
};

}  // namespace

TEST(Following, TheNewestCardsShowAChangeAtOnceAndTheOthersSoon) {
    Following f;
    const Answer newest = f.card(
        f.backlog, {{"labels", {"bug"}}, {"properties", {{"Effort", 5}, {"Size", "Small"}}}}
    );
    in_process().forget_events();
    f.must("update_label", {{"label_id", f.label}, {"name", "defect"}, {"color", "red"}});
    f.rename(f.effort, "Points");
    const Answer at_once = f.get(newest.id());
    EXPECT_EQ(at_once.text("/labels/0/name"), "defect");
    EXPECT_EQ(at_once.number("/properties/Points/number"), 5);
    EXPECT_EQ(f.shown().text("/labels/0/name"), "bug");
    EXPECT_EQ(f.shown().number("/properties/Effort/number"), 3);
    EXPECT_EQ(f.waiting(), "1");

    f.follow();
    const Answer after = f.shown();
    EXPECT_EQ(after.text("/labels/0/name"), "defect");
    EXPECT_EQ(after.text("/labels/0/color"), "red");
    EXPECT_EQ(after.number("/properties/Points/number"), 3);
    EXPECT_FALSE(after.body.at("properties").as_object().contains("Effort"));
    EXPECT_EQ(after.number("/version"), 1);
    EXPECT_THAT(in_process().emitted(), testing::ElementsAre("label.updated", "property.updated"));
}

TEST(Following, WhatIsGoneGoesFromAllCards) {
    Following f;
    const std::string option = f.shown().text("/properties/Size/select/id");
    f.must("delete_label", {{"label_id", f.label}});
    f.must("delete_property", {{"property_id", f.effort.text("/id")}});
    f.must("update_property", {{"property_id", f.size.text("/id")}, {"options", array{}}});
    f.follow();
    EXPECT_EQ(f.shown().body.at("labels"), value(array{}));
    EXPECT_EQ(f.shown().body.at("properties"), value(object{}));
}

TEST(Following, ACardThatIsEditedMeanwhileTakesNoPropertyForAnother) {
    Following f;
    f.rename(f.effort, "Points");
    f.rename(f.size, "Effort");  // whose name the old card still has for the other
    const Answer after = f.edit(f.old.text("/id"), {{"properties", {{"Effort", "Large"}}}});
    EXPECT_EQ(after.number("/properties/Points/number"), 3);
    EXPECT_EQ(after.text("/properties/Effort/select/name"), "Large");
    EXPECT_EQ(after.body.at("properties").as_object().size(), 2U);
    EXPECT_EQ(f.waiting(), "1");
    f.follow();
    EXPECT_EQ(f.shown().body.at("properties"), after.body.at("properties"));

    const Answer back =
        in_process().must(f.owner, "revert_card", {{"card_id", f.old.text("/id")}, {"version", 1}});
    EXPECT_EQ(back.number("/properties/Points/number"), 3);
    EXPECT_EQ(back.text("/properties/Effort/select/name"), "Small");
}

TEST(Following, ACopyAndARevertSpeakInTodaysWords) {
    Following f;
    f.edit(f.old.text("/id"), {{"properties", {{"Effort", 8}}}});
    f.rename(f.effort, "Points");
    f.must("update_label", {{"label_id", f.label}, {"name", "defect"}});
    f.must("delete_property", {{"property_id", f.size.text("/id")}});
    const Answer copy =
        in_process().must(f.owner, "duplicate_card", {{"card_id", f.old.text("/id")}});
    EXPECT_EQ(copy.text("/labels/0/name"), "defect");
    EXPECT_EQ(copy.number("/properties/Points/number"), 8);
    EXPECT_EQ(copy.body.at("properties").as_object().size(), 1U);
    const Answer back =
        in_process().must(f.owner, "revert_card", {{"card_id", f.old.text("/id")}, {"version", 1}});
    EXPECT_EQ(back.number("/properties/Points/number"), 3);
    EXPECT_EQ(back.body.at("properties").as_object().size(), 1U);
    EXPECT_EQ(f.waiting(), "1");
    f.follow();
    EXPECT_EQ(f.shown().number("/properties/Points/number"), 3);
    EXPECT_EQ(f.get(copy.id()).body, copy.body);
}

TEST(Following, EndsWithTheLastWordHoweverTheyMeet) {
    Following f;
    const std::string board = f.board.str();
    in_process().run(
        "UPDATE cards SET (labels, properties) = (SELECT labels, properties FROM cards WHERE id = "
        "'" +
        f.old.text("/id") + "') WHERE board_id = '" + board + "'"
    );
    std::atomic<bool> over = false;
    std::vector<std::thread> threads;
    threads.emplace_back([&] {
        for (int i = 0; i < 8; ++i) {
            const std::string name = "n" + std::to_string(i);
            f.must("update_label", {{"label_id", f.label}, {"name", name}});
            f.rename(f.effort, name.c_str());
        }
        over = true;
    });
    for (int n = 0; n < 2; ++n)
        threads.emplace_back([&] {
            while (!over) in_process().run_job("boards.rewrite_cards");
        });
    threads.emplace_back([&] {
        for (int i = 1; !over; i = i % beyond_one_batch + 40)
            f.edit(
                in_process().run(
                    "SELECT id FROM cards WHERE board_id = '" + board +
                    "' AND number = " + std::to_string(i)
                ),
                {{"properties", {{f.effort.text("/id"), i}}}, {"labels", {f.label}}}
            );
    });
    for (auto& thread : threads) thread.join();
    f.follow();
    EXPECT_EQ(
        in_process().run(
            "SELECT string_agg(DISTINCT labels #>> '{0,name}', ',') || string_agg(DISTINCT"
            " (SELECT string_agg(k, '+' ORDER BY k) FROM jsonb_object_keys(properties) k), ',')"
            " || count(*) FROM cards WHERE board_id = '" +
            board + "'"
        ),
        "n7Size+n7" + std::to_string(beyond_one_batch + 1)
    );
}

TEST(Following, ACardThatSomebodyHoldsFollowsLaterAndHoldsUpNobody) {
    Following f;
    const Answer newest = f.card(f.backlog, {{"labels", {"bug"}}});
    {
        const LockHolder holder(
            "SELECT 1 FROM cards WHERE id = '" + newest.text("/id") + "' FOR UPDATE"
        );
        f.must("update_label", {{"label_id", f.label}, {"name", "defect"}});
        in_process().run_job("boards.rewrite_cards");
        EXPECT_EQ(f.get(newest.id()).text("/labels/0/name"), "bug");
        EXPECT_EQ(f.waiting(), "1");
    }
    f.follow();
    EXPECT_EQ(f.get(newest.id()).text("/labels/0/name"), "defect");
    EXPECT_EQ(f.shown().text("/labels/0/name"), "defect");
}

TEST(Following, CardsAreListedByWhatALabelIsCalledNow) {
    Following f;
    f.must("update_label", {{"label_id", f.label}, {"name", "defect"}});
    f.must("create_label", {{"name", "bug"}});
    const auto listed = [&](const std::string& label) {
        return f.must("list_cards", {{"label", label}}).body.at("results").as_array().size();
    };
    EXPECT_EQ(f.shown().text("/labels/0/name"), "bug") << "it has not followed yet";
    EXPECT_EQ(listed("defect"), 1U);
    EXPECT_EQ(listed(f.label), 1U);
    EXPECT_EQ(listed("bug"), 0U);
}

TEST(Following, ManyLongListsOfOptionsCostLittle) {
    Following f;
    array options;
    for (int i = 0; i < 100; ++i) options.push_back(object{{"name", "o" + std::to_string(i)}});
    object values;
    for (int i = 0; i < 4; ++i) {
        const std::string name = "List" + std::to_string(i);
        f.must("create_property", {{"name", name}, {"type", "multi_select"}, {"options", options}});
        array all;
        for (int n = 0; n < 100; ++n) all.push_back(value("o" + std::to_string(n)));
        values[name] = all;
    }
    f.edit(f.old.text("/id"), {{"properties", values}});
    in_process().run(
        "UPDATE cards SET properties = (SELECT properties FROM cards WHERE id = '" +
        f.old.text("/id") + "') WHERE board_id = '" + f.board.str() + "'"
    );
    const auto one = milliseconds([&] { f.edit(f.old.text("/id"), {{"properties", values}}); });
    const auto all = milliseconds([&] {
        f.must("update_label", {{"label_id", f.label}, {"name", "defect"}});
    });
    // The options are read once, not once for each of the 400 on each card.
    EXPECT_LE(all, 40 * std::max<std::int64_t>(one, 5));
}

TEST(Following, ABoardThatGoesTakesItsRestAlong) {
    Following f;
    f.must("delete_label", {{"label_id", f.label}});
    in_process().run("DELETE FROM cards WHERE board_id = '" + f.board.str() + "'");
    in_process().run("DELETE FROM boards WHERE id = '" + f.board.str() + "'");
    f.follow();
}

}  // namespace svc::test
