#include "modules/boards/api/card_ref.hpp"

#include <algorithm>
#include <charconv>

namespace svc::boards {

namespace {

// ASCII, whatever the process's locale says.
bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

constexpr std::size_t longest_key = 10;
constexpr std::size_t longest_stem = 7;  // room for a number of three digits
constexpr std::size_t letters_of_a_word = 3;

std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words;
    bool inside = false;
    for (const char c : name) {
        const bool fits = is_letter(c) || is_digit(c);
        if (fits && !inside) words.emplace_back();
        if (fits) words.back() += upper(c);
        inside = fits;
    }
    return words;
}

}  // namespace

bool is_board_key(std::string_view text) {
    const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || is_digit(c); };
    return text.size() >= 2 && text.size() <= longest_key && !is_digit(text.front()) &&
           std::ranges::all_of(text, fits);
}

std::string key_from(std::string_view board_name) {
    const auto words = words_of(board_name);
    std::string key;
    if (words.size() == 1) key = words.front().substr(0, letters_of_a_word);
    else
        for (const std::string& word : words) key += word.front();
    key.erase(0, std::min(key.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), key.size()));
    key = key.substr(0, longest_stem);
    if (key.size() == 1) key += 'B';
    return is_board_key(key) ? key : "BOARD";
}

std::optional<CardRef> CardRef::parse(std::string_view text) {
    if (const auto id = Uuid::parse(text)) return CardRef(*id);
    const auto dash = text.find('-');
    if (dash == text.npos) return std::nullopt;
    std::string key(text.substr(0, dash));
    std::ranges::transform(key, key.begin(), upper);
    if (!is_board_key(key)) return std::nullopt;
    std::int64_t number = 0;
    const std::string_view digits = text.substr(dash + 1);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (error != std::errc{} || end != digits.end() || number < 1) return std::nullopt;
    return CardRef(std::move(key), number);
}

std::string CardRef::str() const {
    return id ? id->str() : board_key + "-" + std::to_string(number);
}

}  // namespace svc::boards

namespace svc {

void Json<boards::CardRef>::schema(SchemaWriter& writer, const Rules& rules, json::object& out) {
    Json<std::string>::schema(writer, rules, out);
}

void Json<boards::CardRef>::read(
    Reader& reader, const Rules& rules, const json::value& in, boards::CardRef& out
) {
    std::string text;
    Json<std::string>::read(reader, rules, in, text);
    if (const auto ref = boards::CardRef::parse(text)) out = *ref;
    else if (reader.clean())
        reader.reject("uuid_parsing", "Should be a card's id, or its key such as ENG-42", &in);
}

void Json<boards::CardRef>::write(const boards::CardRef& in, std::string& out) {
    write_text(in.str(), out);
}

void Json<boards::CardRef>::from_db(Cell cell, boards::CardRef& out) {
    out = boards::CardRef::parse(cell.text()).value_or(boards::CardRef{});
}

bool Json<boards::CardRef>::empty(const boards::CardRef& in) {
    return !in.id && in.board_key.empty();
}

}  // namespace svc
