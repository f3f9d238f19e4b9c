#pragma once

#include "modules/auth/api.hpp"
#include "modules/notifications/shapes.hpp"

namespace svc::notifications {

/// What a person chooses about this kind.
auth::NotificationChannels auth::NotificationChoices::* choice_of(NotificationKind kind);

/// The kind of this name.
std::optional<NotificationKind> kind_named(std::string_view name);

/// Whether we are the ones who mail it: invitations and disabled webhooks are mailed by those who
/// know more to say.
bool is_mailed(NotificationKind kind);

}  // namespace svc::notifications
