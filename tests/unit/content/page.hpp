#pragma once

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

/// A card of one's own to write on, on the real modules and database.
namespace svc::test {

using boost::json::array;
using boost::json::object;

inline const bool content_is_on = (modules_in_process += ",content", true);

/// Rich text of one plain item.
inline value words(std::string_view text) { return array{object{{"text", {{"content", text}}}}}; }
/// A block that says `text`.
inline object says(std::string_view type, std::string_view text) {
    return object{{type, {{"rich_text", words(text)}}}};
}
inline object paragraph(std::string_view text) { return says("paragraph", text); }
/// A block with others below it.
inline object holding(object block, array children) {
    block["children"] = std::move(children);
    return block;
}
inline object toggle(std::string_view text, array children = {}) {
    return holding(says("toggle", text), std::move(children));
}

/// What a block says, by its first item of rich text.
inline std::string said(const value& block) {
    const auto& payload = block.as_object().at(block.at("type").as_string());
    const auto& texts = payload.at("rich_text").as_array();
    return texts.empty() ? "" : std::string(texts.at(0).at("plain_text").as_string());
}

/// Blocks one below the other as text: `a(b c(d))`.
inline std::string outline(const value& blocks) {
    std::string text;
    for (const value& each : blocks.as_array()) {
        if (!text.empty()) text += ' ';
        text += each.at(each.at("type").as_string()).as_object().contains("rich_text")
                    ? said(each)
                    : std::string(each.at("type").as_string());
        if (const auto* below = each.as_object().if_contains("children"))
            text += '(' + outline(*below) + ')';
    }
    return text;
}

struct Page {
    BoardFixture fixture;
    Caller owner = fixture.owner;
    Uuid card = fixture.card(fixture.backlog).id();

    Answer ask(std::string_view operation, object what, const Caller* by = nullptr) {
        return in_process().ask(by ? *by : owner, operation, what);
    }
    Answer must(std::string_view operation, object what) {
        return in_process().must(owner, operation, what);
    }
    Answer try_append(array blocks, object more = {}, const Caller* by = nullptr) {
        if (!more.contains("parent_id")) more["parent_id"] = card.str();
        more["children"] = std::move(blocks);
        return ask("append_block_children", std::move(more), by);
    }
    /// Adds blocks and gives the ids of the first level.
    std::vector<Uuid> append(array blocks, object more = {}) {
        const Answer made = try_append(std::move(blocks), std::move(more));
        if (made.status != 200)
            throw std::runtime_error("append: " + boost::json::serialize(made.body));
        std::vector<Uuid> ids;
        for (const value& each : made.body.at("results").as_array())
            ids.push_back(Uuid::parse(each.at("id").as_string()).value());
        return ids;
    }
    Uuid add(object block, object more = {}) {
        return append({std::move(block)}, std::move(more)).front();
    }
    Answer list(int depth = 10) {
        return must(
            "list_block_children", {{"parent_id", card.str()}, {"depth", depth}, {"page_size", 100}}
        );
    }
    std::string all() { return outline(list().body.at("results")); }
    Answer get(const Uuid& block) { return must("get_block", {{"block_id", block.str()}}); }
    int remove(const Uuid& block) {
        return ask("delete_block", {{"block_id", block.str()}}).status;
    }
    Answer restore(const Uuid& block) {
        return ask("update_block", {{"block_id", block.str()}, {"in_trash", false}});
    }
    Answer move(const Uuid& block, const Uuid& parent, value position = nullptr) {
        object what{{"block_id", block.str()}, {"parent_id", parent.str()}};
        if (!position.is_null()) what["position"] = std::move(position);
        return ask("move_block", std::move(what));
    }
    std::int64_t card_version() { return fixture.get(card).number("/version"); }
};

inline value after(const Uuid& block) {
    return object{{"type", "after_block"}, {"after_block", {{"id", block.str()}}}};
}
/// Where in the input a refusal points, as `children/0/paragraph`.
inline std::string place_of(const Answer& refused) {
    std::string place;
    const auto& loc = refused.body.at_pointer("/detail/0/loc").as_array();
    for (std::size_t i = 1; i < loc.size(); ++i) {
        if (i > 1) place += '/';
        place += loc[i].is_string() ? std::string(loc[i].as_string())
                                    : std::to_string(loc[i].to_number<int>());
    }
    return place;
}

}  // namespace svc::test
