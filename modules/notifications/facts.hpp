#pragma once

#include "modules/notifications/lib/mentions.hpp"
#include "svc/caller.hpp"
#include "svc/events.hpp"
#include "svc/tx.hpp"

#include <boost/json/object.hpp>

#include <set>

/// What has to be known of an event before somebody is told of it.
namespace svc::notifications {

struct CardFacts {
    Uuid board_id;
    std::string key, title;
    AsJson<PrincipalRef> author;
    std::vector<Uuid> watchers, assignees;

    std::string name() const { return key + " " + title; }
};
SVC_SHARED_RECORD(CardFacts, (board_id), (key), (title), (author), (watchers), (assignees));

struct AgentFacts {
    std::optional<std::string> name;
    Uuid owner_user_id;
};
SVC_SHARED_RECORD(AgentFacts, (name), (owner_user_id));

/// A text within; empty when there is none.
std::string text_in(const json::object& in, std::string_view name);
/// An object within; empty when there is none.
json::object object_in(const json::object& in, std::string_view name);

/// An event, and what its words and its readers are made of.
struct Facts {
    StoredEvent event;
    EventActor actor;
    json::object data;                ///< of the envelope
    json::object changes, previous;   ///< of `data`
    std::string org_name;             ///< empty: the workspace is gone
    std::optional<std::string> name;  ///< of what it is about, where the kind needs it
    std::optional<CardFacts> card;    ///< where it happened, unless that is gone or in the trash
    std::optional<AgentFacts> agent;  ///< that it is about
    std::optional<Uuid> member;       ///< whose membership it is about
    std::optional<Uuid> invited;      ///< the account that a pending invitation goes to
    /// Of those whom the text did not mention before, what does so and is still there.
    std::map<Uuid, std::vector<Mention>> mentions;
    bool is_gone = false;              ///< the comment that it is about
    std::vector<Uuid> admins, owners;  ///< of the workspace, where the kind needs them

    /// Who did it, as people call them.
    std::string by() const { return actor.name.value_or("Somebody"); }
    /// A text of `changes`; empty when there is none.
    std::string text(std::string_view field) const { return text_in(changes, field); }
};

/// Reads them, in the transaction, which acts for all workspaces. One round trip, and one more for
/// what is too long for its event.
Facts facts_of(Tx& tx, StoredEvent event);

}  // namespace svc::notifications
