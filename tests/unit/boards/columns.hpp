#pragma once

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

namespace svc::test {

/// A board whose columns are looked at and changed.
struct Columns : BoardFixture {
    Answer ask(std::string_view operation, const Uuid& column, boost::json::object what = {}) {
        what["board_id"] = board.str();
        what["column_id"] = column.str();
        return in_process().ask(owner, operation, what);
    }
    Answer change(const Uuid& column, boost::json::object what) {
        return ask("update_column", column, std::move(what));
    }
    Answer read(const Uuid& column) { return ask("get_column", column); }
    std::vector<std::string> order() {
        std::vector<std::string> names;
        const Answer list = in_process().must(owner, "list_columns", {{"board_id", board.str()}});
        for (const value& each : list.body.at("results").as_array()) {
            EXPECT_EQ(each.at("position").as_int64(), static_cast<std::int64_t>(names.size()));
            names.emplace_back(each.at("name").as_string());
        }
        return names;
    }
    std::string state(const Answer& card) { return get(card.id()).text("/queue/state"); }
};

}  // namespace svc::test
