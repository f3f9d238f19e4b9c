#include "modules/files/lib/file_name.hpp"

#include <algorithm>
#include <array>

namespace svc::files {

namespace {

constexpr bool is_token(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$&^_.+-").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
    constexpr std::size_t longest = 100;
    return !text.empty() && text.size() <= longest &&
           std::ranges::all_of(text, [](char each) { return is_token(each); });
}

/// In UTF-8: line and paragraph separators, and what turns the direction of writing, so that
/// "gpj.exe" reads "exe.jpg".
constexpr std::array<std::string_view, 14> treacherous{
    "\u2028",
    "\u2029",
    "\u200E",
    "\u200F",
    "\u202A",
    "\u202B",
    "\u202C",
    "\u202D",
    "\u202E",
    "\u2066",
    "\u2067",
    "\u2068",
    "\u2069",
    "\u061C"};

/// U+0080 to U+009F.
bool has_upper_control(std::string_view text) {
    for (std::size_t at = 0; at + 1 < text.size(); ++at)
        if (text[at] == '\xC2' && static_cast<unsigned char>(text[at + 1]) < 0xA0) return true;
    return false;
}

}  // namespace

std::optional<std::string_view> fault_of_name(std::string_view name) {
    if (name.find_first_of("/\\") != std::string_view::npos) return "a name has no / and no \\";
    if (name == "." || name == "..") return "that is a folder's name";
    const bool has_control = std::ranges::any_of(name, [](char each) {
        return static_cast<unsigned char>(each) < 0x20 || each == 0x7F;
    });
    if (has_control || has_upper_control(name)) return "a name has no control characters";
    for (const auto each : treacherous)
        if (name.find(each) != std::string_view::npos)
            return "a name has no characters that change how it reads";
    return std::nullopt;
}

std::optional<std::string> media_type_of(std::string_view declared) {
    std::string type(declared);
    for (char& each : type)
        if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
    const auto slash = type.find('/');
    if (slash == std::string::npos) return std::nullopt;
    const std::string_view all = type;
    if (!is_token(all.substr(0, slash)) || !is_token(all.substr(slash + 1))) return std::nullopt;
    return type;
}

bool is_picture(std::string_view type) {
    return type == "image/png" || type == "image/jpeg" || type == "image/gif" ||
           type == "image/webp";
}

}  // namespace svc::files
