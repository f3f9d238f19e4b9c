#pragma once

#include "svc/caller.hpp"
#include "svc/tx.hpp"
#include "svc/types.hpp"

#include <optional>
#include <string>
#include <vector>

/// Writes to the directory's tables, for the modules that know what is to stand there: auth of
/// people, agents of agents. Each queues one statement in the caller's transaction.
namespace svc::orgs {

// --------------------------------------------------------------------------------- principals

/// A principal's name and picture, as every PrincipalRef of the workspace shows them.
struct PrincipalLook {
    std::optional<std::string> name;
    std::optional<Url> avatar_url;
};

void add_principal(
    Tx& tx, const Uuid& org, const Uuid& id, PrincipalType type, const PrincipalLook& look
);
/// The same of one that may be there, under another name: an automation, which is a file and has no
/// row before somebody is to see what it did.
void name_principal(
    Tx& tx, const Uuid& org, const Uuid& id, PrincipalType type, const PrincipalLook& look
);
/// Nothing changes when it looks so already.
void update_principal(Tx& tx, const Uuid& org, const Uuid& id, const PrincipalLook& look);
/// It is gone; its name stays on what it did.
void retire_principal(Tx& tx, const Uuid& org, const Uuid& id);

// ------------------------------------------------------------------------------------- people

/// An account whose address is known to be its own.
void add_person(
    Tx& tx,
    const Uuid& id,
    const Email& email,
    const std::string& email_key,
    const std::optional<std::string>& name
);
/// What becomes of the name that the account has.
enum class OldName { kept, replaced };
/// The address is known to be its own from now on. A name that there is not yet is `name`.
void confirm_person(
    Tx& tx, const Uuid& id, const std::optional<std::string>& name, OldName old_name
);
void set_disabled(Tx& tx, const Uuid& id, bool disabled);
void set_preferences(Tx& tx, const Uuid& id, const std::string& json);

struct PersonLook {
    PrincipalLook shown;
    std::optional<Uuid> avatar_file_id;
    std::optional<std::string> job_title, bio, pronouns, location;
    std::string links;  ///< as JSON
};
void set_look(Tx& tx, const Uuid& id, const PersonLook& look);

// ---------------------------------------------------------------------------------- workspaces

/// A person in a workspace.
struct Member {
    Uuid org_id;
    Uuid user_id;
};
SVC_SHARED_RECORD(Member, (org_id), (user_id));
/// They were active just now. For a transaction that acts for all workspaces.
void note_active(Tx& tx, const std::vector<Member>& members);

}  // namespace svc::orgs
