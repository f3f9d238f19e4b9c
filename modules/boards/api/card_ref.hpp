#pragma once

#include "svc/types.hpp"

#include <optional>
#include <string>
#include <string_view>

/// The short names of boards and cards: ENG, and ENG-42.
namespace svc::boards {

/// Whether `text` may be a board's key: two to ten of A-Z and 0-9, a letter first.
bool is_board_key(std::string_view text);

/// What a board of this name might be called for short: the initials of several words, the first
/// letters of a single one. At most seven characters, so that a number fits behind.
std::string key_from(std::string_view board_name);

/// How a call names a card: by its id or by its key. Every field of a request that is a card's id
/// is one (a rule test finds those that are not).
struct CardRef {
    std::optional<Uuid> id;
    std::string board_key;    ///< empty when there is an id
    std::int64_t number = 0;  ///< of the card on that board

    CardRef() = default;
    CardRef(const Uuid& of) : id(of) {}  // NOLINT: meant to convert
    CardRef(std::string key_of_board, std::int64_t of)
        : board_key(std::move(key_of_board)), number(of) {}

    static std::optional<CardRef> parse(std::string_view text);
    std::string str() const;
};

}  // namespace svc::boards

namespace svc {

template <>
struct Json<boards::CardRef> {
    static void schema(SchemaWriter&, const Rules&, json::object&);
    static void read(Reader&, const Rules&, const json::value&, boards::CardRef&);
    static void write(const boards::CardRef&, std::string&);
    static void from_db(Cell, boards::CardRef&);
    static bool empty(const boards::CardRef&);
};

}  // namespace svc
