#include "modules/orgs/lib/slug.hpp"

#include <sodium.h>

namespace svc::orgs {

namespace {

constexpr std::string_view ending_letters = "abcdefghjkmnpqrstuvwxyz23456789";
constexpr std::size_t ending_size = 5;

void drop_final_dashes(std::string& slug) {
    while (slug.ends_with('-')) slug.pop_back();
}

}  // namespace

std::string slug_from(std::string_view name) {
    std::string slug;
    for (const char each : name) {
        const char lower = each >= 'A' && each <= 'Z' ? static_cast<char>(each + 32) : each;
        const bool keep = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        if (keep) slug += lower;
        else if (!slug.empty() && slug.back() != '-') slug += '-';
        if (slug.size() == longest_slug) break;
    }
    drop_final_dashes(slug);
    return slug.size() < shortest_slug ? varied(slug.empty() ? "workspace" : slug) : slug;
}

std::string varied(std::string_view slug) {
    std::string out(slug.substr(0, longest_slug - ending_size - 1));
    drop_final_dashes(out);
    out += '-';
    for (std::size_t i = 0; i < ending_size; ++i)
        out += ending_letters[randombytes_uniform(ending_letters.size())];
    return out;
}

}  // namespace svc::orgs
