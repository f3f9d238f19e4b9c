#pragma once

#include "modules/oauth/documents.hpp"

/// Who may be sent a code.
namespace svc::oauth {

struct Client {
    std::string id;
    std::string name;
    std::vector<std::string> redirect_uris;
    /// Of the document that describes it; nothing when it has registered itself.
    std::optional<std::string> host;
};

/// The client of that id; nothing when there is none, or its document is of no use. To be called
/// before anything else is done: a document is fetched while the call waits, and the handler then
/// runs again.
std::optional<Client> find_client(Call& call, const std::string& id);

/// Queues the note that a person has granted it something.
void note_use(Tx& tx, const Client& client);
/// Queues the deletion of registered clients that nobody uses.
void forget_unused(Tx& tx, std::chrono::seconds unused);

/// POST /oauth/register.
http::Answer register_client(Kernel& kernel, const http::Request& request);

}  // namespace svc::oauth
