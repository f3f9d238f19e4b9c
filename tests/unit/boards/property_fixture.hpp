#pragma once

#include "tests/support/in_process_server.hpp"

namespace svc::test {

/// A board with a property of every type, named after it, and a card.
struct PropertyFixture {
    BoardFixture fixture;
    std::string card, other;

    PropertyFixture() {
        for (const char* type :
             {"rich_text",
              "number",
              "select",
              "multi_select",
              "status",
              "people",
              "date",
              "checkbox",
              "url",
              "email",
              "phone_number",
              "relation",
              "files",
              "created_time"})
            in_process().must(
                fixture.owner,
                "create_property",
                {{"board_id", fixture.board.str()}, {"name", type}, {"type", type}}
            );
        card = fixture.card(fixture.backlog).text("/id");
        other = fixture.card(fixture.backlog).text("/id");
        in_process().forget_events();
    }
    Answer set(const std::string& name, const value& to, bool merge = false) {
        return in_process().ask(
            fixture.owner,
            "update_card",
            {{"card_id", card},
             {"properties", boost::json::object{{name, to}}},
             {"merge_properties", merge}}
        );
    }
    /// What the card shows of it; null when nothing.
    value shown(const std::string& name) {
        const value all = fixture.get(*Uuid::parse(card)).body.at("properties");
        const value* one = all.as_object().if_contains(name);
        return one ? one->at(name) : value();
    }
};

}  // namespace svc::test
