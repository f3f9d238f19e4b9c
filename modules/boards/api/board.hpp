#pragma once

#include "modules/boards/api/definitions.hpp"
#include "modules/boards/api/kinds.hpp"
#include "modules/orgs/api.hpp"
#include "svc/caller.hpp"

/// Boards as they are shown (contract 6.17).
namespace svc::boards {

struct Board {
    Object<"board"> object;
    Uuid id;
    Uuid org_id;
    std::string key;
    std::string name;
    std::optional<std::string> description;
    std::optional<orgs::Icon> icon;
    Visibility visibility{};
    AsJson<std::vector<PropertyDefinition>> properties;
    AsJson<std::vector<Label>> labels;
    AsJson<std::vector<Uuid>> column_ids;
    std::int64_t card_count = 0;
    std::optional<std::string> default_view;
    bool is_archived = false;
    bool in_trash = false;
    std::optional<BoardRole> role;
    std::string url;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    AsJson<PrincipalRef> last_edited_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    Board,
    (object),
    (id),
    (org_id, "The workspace."),
    (key, "Prefix of its cards' keys: ENG makes ENG-42. Unique in the workspace."),
    (name, "What people call it."),
    (description, "What it is for; null when nobody said."),
    (icon, "Shown before its name: an emoji, or a picture."),
    (visibility,
     "`org`: everybody in the workspace sees it. `private`: its maker, those with a "
     "grant, and the workspace's admins."),
    (properties, "The properties its cards may have."),
    (labels, "The labels its cards may carry."),
    (column_ids, "From left to right."),
    (card_count, "Cards that are neither archived nor in the trash."),
    (default_view, "How people see it first."),
    (is_archived,
     "It is archived: out of lists, and nothing on it can be changed until it is restored."),
    (in_trash),
    (role, "What you may do here."),
    (url, "Where people see it."),
    (created_time),
    (created_by),
    (last_edited_time),
    (last_edited_by),
    (version, "Rises with every change; send it as If-Match to refuse to overwrite others.")
);

}  // namespace svc::boards
