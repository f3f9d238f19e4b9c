#pragma once

#include "modules/mail/api.hpp"
#include "modules/notifications/drafts.hpp"

/// Mails about notifications, and how they are ended.
namespace svc::notifications {

/// Where people see it.
std::string url_of(const Kernel& kernel, const NotificationTarget& target);

/// Queues a single mail; without a module for mails nothing happens.
void send_mail(
    const Kernel& kernel, Tx& tx, const Draft& draft, const Uuid& person, const Email& to
);

/// What an address that ends mails is about: a kind of notification, or digests.
struct Unsubscribing {
    Uuid person;
    std::optional<NotificationKind> kind;  ///< none: the digest
};
/// The address; it takes nothing but the server's key to make, and stays good.
std::string unsubscribe_url(const Kernel& kernel, const Unsubscribing& what);
/// What the token in such an address says, when we have made it.
std::optional<Unsubscribing> read_unsubscribe_token(const Kernel& kernel, std::string_view token);

/// The page at that address, for anyone who has it.
void add_unsubscribe_page(Kernel& kernel);

}  // namespace svc::notifications
