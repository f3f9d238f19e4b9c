#include "plugins/idp-oidc/lib/fetch.hpp"

#include "svc/cut_off.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/DNS.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/HostEntry.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/URI.h>

#include <algorithm>
#include <array>

namespace svc::idp_oidc {

namespace {

using Clock = std::chrono::steady_clock;
using Poco::Net::StreamSocket;

Poco::Timespan left_until(Clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
    return Poco::Timespan(std::max<std::int64_t>(left.count(), 1));
}

/// Nothing but visible ASCII and spaces: nothing that would end the line.
bool is_plain(std::string_view text) {
    return std::ranges::all_of(text, [](char each) { return each >= 0x20 && each < 0x7F; });
}

/// The first of the host's addresses that answers.
StreamSocket dial(const Address& address, Clock::time_point end) {
    const auto found = Poco::Net::DNS::resolve(address.host).addresses();
    for (std::size_t i = 0; i < found.size(); ++i) try {
            StreamSocket socket;
            socket.connect(Poco::Net::SocketAddress(found[i], address.port), left_until(end));
            socket.setReceiveTimeout(left_until(end));
            socket.setSendTimeout(left_until(end));
            return socket;
        } catch (const Poco::Exception&) {
            if (i + 1 == found.size() || Clock::now() >= end) throw;
        }
    throw FetchError(address.host + " has no address");
}

std::string host_header(const Address& address) {
    const bool is_v6 = address.host.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + address.host + "]" : address.host;
    const bool usual = address.port == (address.secure ? 443 : 80);
    return usual ? host : host + ":" + std::to_string(address.port);
}

std::string read_at_most(std::istream& from, std::size_t most) {
    std::string out;
    std::array<char, 8192> buffer;
    while (from.read(buffer.data(), buffer.size()), from.gcount() > 0) {
        out.append(buffer.data(), static_cast<std::size_t>(from.gcount()));
        if (out.size() > most) throw FetchError("the answer is too long");
    }
    return out;
}

}  // namespace

Address Address::parse(const std::string& url) {
    Poco::URI uri;
    try {
        uri = url;
    } catch (const Poco::Exception&) {
        throw FetchError(url + " is no web address");
    }
    Address out{
        .secure = uri.getScheme() == "https",
        .host = uri.getHost(),
        .port = uri.getPort(),
        .target = uri.getPathAndQuery()};
    if (!is_plain(url) || url.find(' ') != url.npos || out.host.empty() ||
        !uri.getUserInfo().empty() || url.find('#') != url.npos)
        throw FetchError(url + " is no web address that we would ask");
    if (!out.secure && !(uri.getScheme() == "http" && out.is_this_machine()))
        throw FetchError(url + " has to be https");
    if (!out.target.starts_with('/')) out.target.insert(0, 1, '/');
    return out;
}

bool Address::is_this_machine() const {
    return host == "localhost" || host == "::1" || host == "127.0.0.1";
}

struct Fetch::Ask {
    std::string method, url, form;
    const Headers& headers;
};

Fetch::Fetch(Limits limits, const std::string& ca_file) : limits_(limits) {
    using Poco::Net::Context;
    Context::Params params;
    params.verificationMode = Context::VERIFY_STRICT;
    params.loadDefaultCAs = ca_file.empty();
    params.caLocation = ca_file;
    context_ = new Context(Context::TLS_CLIENT_USE, params);
    context_->requireMinimumProtocol(Context::PROTO_TLSV1_2);
}

Fetched Fetch::get(const std::string& url, const Headers& headers) const {
    return run({"GET", url, "", headers});
}

Fetched Fetch::post(const std::string& url, const std::string& form, const Headers& headers) const {
    return run({"POST", url, form, headers});
}

namespace {

Fetched exchange(
    Poco::Net::HTTPClientSession& session,
    Poco::Net::HTTPRequest& request,
    const std::string& form,
    std::size_t most
) {
    std::ostream& to = session.sendRequest(request);
    to << form << std::flush;
    Poco::Net::HTTPResponse response;
    std::istream& from = session.receiveResponse(response);
    return {response.getStatus(), read_at_most(from, most)};
}

}  // namespace

Fetched Fetch::exchange_over(
    const StreamSocket& socket,
    const Address& address,
    Poco::Net::HTTPRequest& request,
    const std::string& form
) const {
    // Poco's session for HTTPS does not take a socket that is connected; its other one does, and
    // the socket encrypts.
    StreamSocket over = socket;
    if (address.secure)
        over = Poco::Net::SecureStreamSocket::attach(socket, address.host, context_);
    Poco::Net::HTTPClientSession session(over);
    return exchange(session, request, form, limits_.bytes);
}

Fetched Fetch::run(const Ask& ask) const {
    const auto end = Clock::now() + limits_.time;
    const Address address = Address::parse(ask.url);
    Poco::Net::HTTPRequest request(ask.method, address.target, "HTTP/1.1");
    request.set("Host", host_header(address));
    request.set("Accept", "application/json");
    request.set("User-Agent", "workboard");
    request.setKeepAlive(false);
    for (const auto& [name, value] : ask.headers) {
        if (!is_plain(value)) throw FetchError("the header " + name + " would not be one line");
        request.set(name, value);
    }
    if (!ask.form.empty()) {
        request.setContentType("application/x-www-form-urlencoded");
        request.setContentLength64(static_cast<std::int64_t>(ask.form.size()));
    }
    try {
        const StreamSocket socket = dial(address, end);
        const CutOff cut_off(socket.impl()->sockfd(), end);
        try {
            Fetched answer = exchange_over(socket, address, request, ask.form);
            if (!cut_off.happened()) return answer;
        } catch (const Poco::Exception&) {
            if (!cut_off.happened()) throw;
        }
        throw FetchError(address.host + " takes too long");
    } catch (const Poco::Exception& problem) {
        throw FetchError(address.host + ": " + problem.displayText());
    }
}

}  // namespace svc::idp_oidc
