#include "decl/schema.hpp"

#include <algorithm>

namespace svc::decl {

namespace {

struct Known {
    std::string_view name, description;
};

// Names that mean the same wherever they stand; rows of records need not say it again.
constexpr Known known[] = {
    {"object", "What sort of record this is."},
    {"id", "Its id."},
    {"created_time", "When it was created."},
    {"created_by", "Who created it."},
    {"last_edited_time", "When it was last changed."},
    {"last_edited_by", "Who last changed it."},
    {"version", "Rises with every change."},
    {"in_trash", "It is in the trash."},
    {"request_id", "The request's id, for logs and support."},
    {"board_id", "The board's id."},
    {"card_id", "The card's id."},
    {"column_id", "The column's id."},
    {"file_id", "The file's id."},
    {"label_id", "The label's id."},
    {"lease_id", "The lease's id."},
    {"link_id", "The link's id."},
    {"property_id", "The property's id."},
    {"share_link_id", "The share link's id."},
};

}  // namespace

std::string_view describe_by_name(std::string_view name) {
    const auto found = std::ranges::find(known, name, &Known::name);
    return found == std::end(known) ? std::string_view() : found->description;
}

}  // namespace svc::decl
