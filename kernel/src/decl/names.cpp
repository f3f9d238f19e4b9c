#include "decl/schema.hpp"

#include <algorithm>

namespace svc::decl {

namespace {

struct Known {
    std::string_view name, description;
};

// Names that mean the same wherever they stand.
constexpr Known known[] = {
    {"object", "What sort of record this is."},
    {"id", "Its id."},
    {"name", "What people call it."},
    {"description", "What it is about."},
    {"url", "Where to see it."},
    {"created_time", "When it was made."},
    {"created_by", "Who made it."},
    {"last_edited_time", "When it was last changed."},
    {"last_edited_by", "Who last changed it."},
    {"version", "Rises with every change."},
    {"in_trash", "Whether it is in the trash."},
    {"position", "Its place among its siblings, from 0."},
    {"required", "Whether there must be one."},
};

std::string words(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '_', ' ');
    if (text.starts_with("wip ")) text.replace(0, 3, "WIP");
    return text;
}

// The words before an ending, if the name has it.
bool ends(std::string_view name, std::string_view ending, std::string& before) {
    if (!name.ends_with(ending) || name.size() <= ending.size()) return false;
    before = words(name.substr(0, name.size() - ending.size()));
    return true;
}

}  // namespace

std::string describe_by_name(std::string_view name) {
    const auto found = std::ranges::find(known, name, &Known::name);
    if (found != std::end(known)) return std::string(found->description);
    std::string noun;
    if (ends(name, "_id", noun)) return "The " + noun + "'s id.";
    if (ends(name, "_ids", noun)) return "The ids of each " + noun + ".";
    if (ends(name, "_count", noun))  // of participles there is no plural
        return "How many " + noun + (noun.ends_with("ed") ? "." : "s.");
    if (ends(name, "_at", noun)) {
        if (noun.ends_with("ed")) return "When it was " + noun + ".";
        return (noun.ends_with('s') ? "When it " : "When it is ") + noun + ".";
    }
    if (name.starts_with("is_")) return "Whether it is " + words(name.substr(3)) + ".";
    return "Its " + words(name) + ".";
}

}  // namespace svc::decl
