#include "modules/lib/http_client/dial.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/DNS.h>
#include <Poco/Net/HostEntry.h>

#include <algorithm>
#include <stdexcept>

namespace svc {

namespace {

using Clock = std::chrono::steady_clock;

Poco::Timespan left_until(Clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
    return Poco::Timespan(std::max<std::int64_t>(left.count(), 1));
}

}  // namespace

Poco::Net::StreamSocket dial(
    const std::string& host, std::uint16_t port, Clock::time_point end, const AddressRules& rules
) {
    auto addresses = Poco::Net::DNS::resolve(host).addresses();
    if (addresses.empty()) throw std::runtime_error(host + " has no address");
    std::erase_if(addresses, [&](const auto& each) { return !rules.allows(each); });
    if (addresses.empty())
        throw std::runtime_error(host + " has no address on the public internet");
    for (std::size_t i = 0;; ++i) try {
            Poco::Net::StreamSocket socket;
            socket.connect(Poco::Net::SocketAddress(addresses[i], port), left_until(end));
            socket.setReceiveTimeout(left_until(end));
            socket.setSendTimeout(left_until(end));
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

bool is_this_machine(const std::string& host) {
    Poco::Net::IPAddress address;
    return host == "localhost" ||
           (Poco::Net::IPAddress::tryParse(host, address) && address.isLoopback());
}

}  // namespace svc
