#pragma once

#include "modules/lib/http_client/address_rules.hpp"

#include <Poco/Net/Context.h>
#include <Poco/Net/StreamSocket.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// Connections to other servers. Any thread.
namespace svc {

/// The address that a host is, when it is no name, in whatever way the system reads one: `127.1`
/// and `0x7f000001` are the same.
std::optional<Poco::Net::IPAddress> address_in(const std::string& host);

/// The addresses of a host, as the system's resolver has them. Blocks for as long as that does.
/// Throws Poco::Exception when there is no such host.
std::vector<Poco::Net::IPAddress> look_up(const std::string& host);

class Resolver;
/// The same, but not for longer than until `end`. Names that users may choose, by `rules`, are one
/// group: those that hang keep nobody from the names of the operator. Throws std::runtime_error
/// when there are none, or none by then.
std::vector<Poco::Net::IPAddress> look_up_until(
    Resolver& resolver,
    const std::string& host,
    std::chrono::steady_clock::time_point end,
    const AddressRules& rules = {}
);

/// What looks up names for all that dial. Its threads wait for the system's resolver, which has no
/// other end than its own.
Resolver& system_resolver();

/// The addresses, when `rules` allow all of them. Throws std::runtime_error when there are none or
/// one is refused: whoever gives a name both kinds means harm.
std::vector<Poco::Net::IPAddress> require_allowed(
    const std::string& host, std::vector<Poco::Net::IPAddress> addresses, const AddressRules& rules
);

/// Connected to the first of the host's addresses that answers, with what is left until `end` as
/// its timeouts. The name is resolved once, by `end` as well, and what is dialled is what `rules`
/// were asked about. Throws Poco::Exception, or std::runtime_error when the host has no address
/// that may be dialled.
Poco::Net::StreamSocket dial(
    const std::string& host,
    std::uint16_t port,
    std::chrono::steady_clock::time_point end,
    const AddressRules& rules = {},
    Resolver& resolver = system_resolver()
);

/// TLS 1.2 or later to servers that an authority vouches for: those of the PEM file, or the
/// system's when it is empty.
Poco::Net::Context::Ptr tls_context(const std::string& ca_file);

/// Throws std::runtime_error, with the name of the setting in front, when no authority can be read
/// from the file that it names; it may be empty.
void check_ca_file(const std::string& setting, const std::string& file);

/// tls_context() for whoever may never need it. The system's authorities are read when somebody
/// first asks for it: that takes a third of the time in which a server starts. A file of one's own
/// is read at once, so that whoever wrote its name learns at once what is wrong with it.
class LazyTlsContext {
public:
    explicit LazyTlsContext(std::string ca_file);
    /// Throws what tls_context() throws, and reads them again the next time. Any thread.
    Poco::Net::Context::Ptr get() const;

private:
    const std::string ca_file_;
    mutable std::once_flag made_;
    mutable Poco::Net::Context::Ptr context_;
};

/// Nobody but this machine's own users answers there.
bool is_this_machine(const std::string& host);

}  // namespace svc
