#pragma once

#include "modules/auth/api.hpp"
#include "modules/auth/shapes.hpp"
#include "svc/kernel.hpp"

/// The account of a person, as its owner sees it.
namespace svc::auth {

/// Queues the reading of the person the transaction acts for, as that session finds it: with
/// the workspace it works in and the role there; in no workspace without a session.
DeferredRows<UserResponse> find_user_of_session(Tx& tx, const std::optional<Uuid>& session);

/// The caller, if it is a person; 403 for an agent.
const Caller& person_of(const Call& call);

/// Leaves an entry in the audit record of the workspace that the call is in, if it is in one:
/// accounts are in no workspace, but what is done to one may matter there.
void note_in_audit(Call& call, const Event& event);

class PreferencesOfPeople final : public PreferenceChanges {
public:
    explicit PreferencesOfPeople(const Kernel& kernel) : kernel_(kernel) {}
    bool change(Tx& tx, const Uuid& person, const std::function<void(Preferences&)>& edit) override;

private:
    const Kernel& kernel_;
};

void add_user_operations(Kernel& kernel);
void add_profile_operations(Kernel& kernel);
void add_preferences_operations(Kernel& kernel);

}  // namespace svc::auth
