#include "modules/boards/api/named_cards.hpp"

namespace svc::boards {

namespace {

constexpr Sql find_card_by_key{"boards.find_card_by_key", R"(
    SELECT c.id FROM boards b
    JOIN cards c ON c.org_id = $1 AND c.board_id = b.id AND c.number = $3
    WHERE b.org_id = $1 AND b.key = $2)"};

struct CardOfKey {
    Uuid id;
};
SVC_RECORD(CardOfKey, (id));

constexpr Sql find_cards_by_keys{"boards.find_cards_by_keys", R"(
    SELECT b.key AS board_key, c.number, c.id
    FROM unnest($2::text[], $3::text[]) w (key, number)
    JOIN boards b ON b.org_id = $1 AND b.key = w.key
    JOIN cards c ON c.org_id = $1 AND c.board_id = b.id AND c.number = w.number::bigint)"};

struct CardOfKeys {
    std::string board_key;
    std::int64_t number = 0;
    Uuid id;
};
SVC_RECORD(CardOfKeys, (board_key), (number), (id));

}  // namespace

void find_ids(Call& call, const std::vector<CardRef*>& refs) {
    std::vector<std::string> keys, numbers;
    for (const CardRef* each : refs) {
        if (each->id) continue;
        keys.push_back(each->board_key);
        numbers.push_back(std::to_string(each->number));
    }
    if (keys.empty()) return;
    const auto found = call.tx().all<CardOfKeys>(find_cards_by_keys, call.org(), keys, numbers);
    for (CardRef* each : refs) {
        if (each->id) continue;
        each->id = Uuid();
        for (const CardOfKeys& card : found)
            if (card.board_key == each->board_key && card.number == each->number)
                each->id = card.id;
    }
}

std::optional<Uuid> id_in(const std::optional<CardRef>& ref) {
    return ref ? ref->id : std::nullopt;
}
std::vector<Uuid> ids_in(const std::vector<CardRef>& refs) {
    std::vector<Uuid> ids;
    for (const CardRef& each : refs) ids.push_back(*each.id);
    return ids;
}

Uuid id_of(Call& call, const CardRef& ref) {
    if (ref.id) return *ref.id;
    const auto found =
        call.tx().one<CardOfKey>(find_card_by_key, call.org(), ref.board_key, ref.number);
    if (!found) not_found("card");
    return found->id;
}

}  // namespace svc::boards
