#pragma once

#include "modules/boards/card/numbers.hpp"
#include "tests/unit/boards/columns.hpp"

#include <chrono>

/// Boards with many cards, or long ones.
namespace svc::test {

/// So many cards by SQL, with values of so many bytes.
inline void fill(const Columns& fixture, const Uuid& column, int count, int value_bytes) {
    // Those that are made afterwards get the numbers behind these.
    in_process().kernel().use<boards::CardNumbers>().give_back_all();
    const std::string value =
        value_bytes == 0 ? "'{}'"
                         : "jsonb_build_object('Notes', jsonb_build_object('id', gen_random_uuid(),"
                           " 'type', 'rich_text', 'rich_text', repeat('x', " +
                               std::to_string(value_bytes) + ")))";
    in_process().run(
        "WITH first AS (SELECT last_number FROM board_counters WHERE board_id = '" +
        fixture.board.str() +
        "') INSERT INTO cards (org_id, id, board_id, column_id, number, position, title,"
        " properties, created_by, last_edited_by) SELECT '" +
        fixture.owner.org_id->str() + "', gen_random_uuid(), '" + fixture.board.str() + "', '" +
        column.str() + "', f.last_number + n, 'V' || lpad(n::text, 7, '0'), 'Card ' || n, " +
        value + ", o.o, o.o FROM generate_series(1, " + std::to_string(count) +
        ") n, first f, (SELECT '{\"object\":\"user\",\"id\":\"" + fixture.owner.id.str() +
        "\",\"principal_type\":\"user\",\"name\":\"Olga\"}'::jsonb AS o) o"
    );
    in_process().run(
        "UPDATE board_counters SET last_number = last_number + " + std::to_string(count) +
        ", card_count = card_count + " + std::to_string(count) + " WHERE board_id = '" +
        fixture.board.str() + "'"
    );
}

/// How long `work` takes, in milliseconds.
template <class Work>
std::int64_t milliseconds(Work work) {
    const auto since = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::steady_clock::now() - since
    )
        .count();
}

}  // namespace svc::test
