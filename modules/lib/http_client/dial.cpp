#include "modules/lib/http_client/dial.hpp"

#include "modules/lib/http_client/resolver.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/DNS.h>
#include <Poco/Net/HostEntry.h>

#include <fcntl.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <stdexcept>

namespace svc {

namespace {

using Clock = std::chrono::steady_clock;

Poco::Timespan left_until(Clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
    return Poco::Timespan(std::max<std::int64_t>(left.count(), 1));
}

}  // namespace

std::optional<Poco::Net::IPAddress> address_in(const std::string& host) {
    const addrinfo numeric{.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
    addrinfo* found = nullptr;
    if (getaddrinfo(host.c_str(), nullptr, &numeric, &found) != 0) return std::nullopt;
    const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, freeaddrinfo);
    return Poco::Net::SocketAddress(found->ai_addr, found->ai_addrlen).host();
}

std::vector<Poco::Net::IPAddress> look_up(const std::string& host) {
    return Poco::Net::DNS::resolve(host).addresses();
}

std::vector<Poco::Net::IPAddress> look_up_until(
    Resolver& resolver, const std::string& host, Clock::time_point end, const AddressRules& rules
) {
    if (const auto address = address_in(host)) return {*address};
    const auto promise = std::make_shared<std::promise<Resolver::Answer>>();
    auto answer = promise->get_future();
    const std::string group = rules.only_public() ? "named by users" : host;
    resolver.ask(host, group, end, [promise](Resolver::Answer found) {
        promise->set_value(std::move(found));
    });
    if (answer.wait_until(end) != std::future_status::ready)
        throw std::runtime_error("the address of " + host + " was not found in time");
    auto found = answer.get();
    if (found.addresses.empty()) throw std::runtime_error(found.error);
    return std::move(found.addresses);
}

std::vector<Poco::Net::IPAddress> require_allowed(
    const std::string& host, std::vector<Poco::Net::IPAddress> addresses, const AddressRules& rules
) {
    if (addresses.empty()) throw std::runtime_error(host + " has no address");
    for (const auto& each : addresses)
        if (!rules.allows(each))
            throw std::runtime_error(host + " has an address that is not on the public internet");
    return addresses;
}

Resolver& system_resolver() {
    static Resolver resolver(look_up, {}, 8);
    return resolver;
}

Poco::Net::StreamSocket dial(
    const std::string& host,
    std::uint16_t port,
    Clock::time_point end,
    const AddressRules& rules,
    Resolver& resolver
) {
    const auto addresses = require_allowed(host, look_up_until(resolver, host, end, rules), rules);
    for (std::size_t i = 0;; ++i) try {
            Poco::Net::StreamSocket socket;
            socket.connect(Poco::Net::SocketAddress(addresses[i], port), left_until(end));
            socket.setReceiveTimeout(left_until(end));
            socket.setSendTimeout(left_until(end));
            // The end of what is sent in pieces would wait until the other side has confirmed the
            // piece before, which it may put off for 40 ms.
            socket.setNoDelay(true);
            return socket;
        } catch (const Poco::Exception&) {
            if (i + 1 == addresses.size() || Clock::now() >= end) throw;
        }
}

Poco::Net::Context::Ptr tls_context(const std::string& ca_file) {
    using Poco::Net::Context;
    Context::Params params;
    params.verificationMode = Context::VERIFY_STRICT;
    params.loadDefaultCAs = ca_file.empty();
    params.caLocation = ca_file;
    Context::Ptr context = new Context(Context::TLS_CLIENT_USE, params);
    context->requireMinimumProtocol(Context::PROTO_TLSV1_2);
    return context;
}

void check_ca_file(const std::string& setting, const std::string& file) {
    if (file.empty()) return;
    const auto refuse = [&](const std::string& why) {
        throw std::runtime_error(setting + ": cannot read authorities from " + file + ": " + why);
    };
    if (::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) != 0) refuse(std::strerror(errno));
    try {
        tls_context(file);
    } catch (const Poco::Exception& problem) {
        refuse(problem.displayText());
    }
}

LazyTlsContext::LazyTlsContext(std::string ca_file) : ca_file_(std::move(ca_file)) {
    if (!ca_file_.empty()) get();
}

Poco::Net::Context::Ptr LazyTlsContext::get() const {
    std::call_once(made_, [this] { context_ = tls_context(ca_file_); });
    return context_;
}

bool is_this_machine(const std::string& host) {
    Poco::Net::IPAddress address;
    return host == "localhost" ||
           (Poco::Net::IPAddress::tryParse(host, address) && address.isLoopback());
}

}  // namespace svc
