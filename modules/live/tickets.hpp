#pragma once

#include "svc/kernel.hpp"

/// Tickets: what a page puts into the address of a stream, where a browser lets it set no header.
namespace svc::live {

extern const Operation create_ws_ticket;

/// Stands for the credential that the ticket was made with, in the workspace it was made in: what
/// ends that ends a stream that was opened with it.
class TicketAuthenticator final : public Authenticator {
public:
    explicit TicketAuthenticator(Kernel& kernel) : kernel_(kernel) {}
    std::string_view name() const override { return "live.ticket"; }
    std::optional<Credential> recognise(const http::Request& request) const override;
    std::function<std::optional<Caller>()> identify(
        Tx& tx, const Credential& credential, const Caller* before
    ) const override;

private:
    Kernel& kernel_;
};

/// The ticket in the query of a request for a stream.
std::optional<std::string> ticket_in(const http::Request& request);

/// Uses it up; Failure 401 when somebody has done so before. A transaction of its own.
void redeem(Kernel& kernel, std::string_view ticket);

}  // namespace svc::live
