#include "plugins/store-s3/conversation.hpp"

#include "modules/files/api.hpp"
#include "svc/cut_off.hpp"
#include "svc/encoding.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/DNS.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/HostEntry.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/SecureStreamSocket.h>

#include <array>

namespace svc::store_s3 {

namespace {

using Clock = std::chrono::steady_clock;
using Poco::Net::StreamSocket;

// Of an answer that is no object.
constexpr std::size_t most_kept = 4 << 20;

Poco::Timespan left_until(Clock::time_point end) {
    const auto left = std::chrono::duration_cast<std::chrono::microseconds>(end - Clock::now());
    return Poco::Timespan(std::max<std::int64_t>(left.count(), 1));
}

/// The first of the host's addresses that answers.
StreamSocket dial(const Place& place, Clock::time_point end) {
    const auto found = Poco::Net::DNS::resolve(place.host).addresses();
    for (std::size_t i = 0; i < found.size(); ++i) try {
            StreamSocket socket;
            socket.connect(Poco::Net::SocketAddress(found[i], place.port), left_until(end));
            socket.setReceiveTimeout(left_until(end));
            socket.setSendTimeout(left_until(end));
            return socket;
        } catch (const Poco::Exception&) {
            if (i + 1 == found.size() || Clock::now() >= end) throw;
        }
    throw files::StoreError(place.host + " has no address");
}

Conversation::Answer exchange(
    Poco::Net::HTTPClientSession& session,
    Poco::Net::HTTPRequest& request,
    const Conversation::Ask& ask,
    const Conversation::Sink& sink
) {
    std::ostream& to = session.sendRequest(request);
    if (ask.body)
        for (auto piece = ask.body(); !piece.empty() && to; piece = ask.body())
            to.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    Poco::Net::HTTPResponse response;
    std::istream& from = session.receiveResponse(response);
    Conversation::Answer answer{.status = response.getStatus(), .body = {}};
    const bool passed_on = sink && answer.status == 200;
    std::int64_t size = 0;
    std::array<char, 64 << 10> piece;
    while (from.read(piece.data(), piece.size()), from.gcount() > 0) {
        const std::string_view bytes(piece.data(), static_cast<std::size_t>(from.gcount()));
        size += from.gcount();
        if (passed_on) sink(bytes);
        else answer.body += bytes;
        if (answer.body.size() > most_kept) throw files::StoreError("the answer is too long");
    }
    if (response.hasContentLength() && response.getContentLength64() != size)
        throw files::StoreError("the answer broke off");
    return answer;
}

}  // namespace

Conversation::Conversation(const Settings& settings)
    : account_{settings.access_key, settings.secret_key, settings.region},
      place_(Place::of(
          settings.endpoint,
          settings.bucket,
          settings.path_style ? Place::Style::path : Place::Style::virtual_host
      )),
      time_(settings.timeout_seconds) {
    using Poco::Net::Context;
    Context::Params params;
    params.verificationMode = Context::VERIFY_STRICT;
    params.loadDefaultCAs = settings.ca_file.empty();
    params.caLocation = settings.ca_file;
    context_ = new Context(Context::TLS_CLIENT_USE, params);
    context_->requireMinimumProtocol(Context::PROTO_TLSV1_2);
}

Conversation::Answer Conversation::run(const Ask& ask, const Sink& sink) const {
    // Bytes of a backup may take the time that a slow line needs besides.
    constexpr std::int64_t slowest = 256 << 10;  // a second
    const auto end = Clock::now() + time_ + std::chrono::seconds(ask.body_size / slowest);
    const auto path = place_.path_of(ask.key);
    const auto headers = signed_headers(
        account_,
        place_,
        ask.method,
        path,
        ask.query,
        ask.headers,
        Timestamp::now(),
        ask.body ? Payload::unsigned_body : Payload::empty
    );
    const auto target =
        percent_encoded(path, "/") + (ask.query.empty() ? "" : '?' + query_text(ask.query));
    Poco::Net::HTTPRequest request(ask.method, target, "HTTP/1.1");
    request.set("Host", place_.authority());
    request.set("User-Agent", "workboard");
    request.setKeepAlive(false);
    for (const auto& [name, value] : headers) request.set(name, value);
    if (ask.method == "PUT") request.setContentLength64(ask.body_size);
    try {
        const StreamSocket socket = dial(place_, end);
        const CutOff cut_off(socket.impl()->sockfd(), end);
        try {
            StreamSocket over = socket;
            if (place_.secure)
                over = Poco::Net::SecureStreamSocket::attach(socket, place_.host, context_);
            Poco::Net::HTTPClientSession session(over);
            Answer answer = exchange(session, request, ask, sink);
            if (!cut_off.happened()) return answer;
        } catch (const Poco::Exception&) {
            if (!cut_off.happened()) throw;
        }
        throw files::StoreError(place_.host + " takes too long");
    } catch (const Poco::Exception& problem) {
        throw files::StoreError(place_.host + ": " + problem.displayText());
    }
}

}  // namespace svc::store_s3
