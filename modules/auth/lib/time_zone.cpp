#include "modules/auth/lib/time_zone.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace svc::auth {

namespace {

const std::filesystem::path database = "/usr/share/zoneinfo";

bool has_the_form(std::string_view name) {
    const auto fits = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) ||
               std::string_view("_+-/").find(c) != std::string_view::npos;
    };
    return !name.empty() && name.front() != '/' && std::ranges::all_of(name, fits);
}

/// Files of the database that are copies of it, or this machine's own choice.
bool is_no_zone(std::string_view name) {
    return name.starts_with("posix/") || name.starts_with("right/") || name == "localtime" ||
           name == "posixrules" || name == "Factory";
}

}  // namespace

bool is_time_zone(std::string_view name) {
    if (!has_the_form(name) || is_no_zone(name)) return false;
    static const bool have_database = std::filesystem::is_directory(database);
    if (!have_database) return true;
    constexpr std::string_view magic = "TZif";  // RFC 8536
    char begin[magic.size()] = {};
    std::ifstream file(database / name, std::ios::binary);
    return file.read(begin, sizeof begin) && std::string_view(begin, sizeof begin) == magic;
}

}  // namespace svc::auth
