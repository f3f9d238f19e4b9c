#include "modules/lib/http_client/http_client.hpp"

#include "svc/socket_deadline.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPClientSession.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/URI.h>

#include <algorithm>
#include <array>

namespace svc {

namespace {

using Clock = std::chrono::steady_clock;

HttpError not_one_line(const WebAddress& to) {
    return HttpError(to.host + ": the request would not be one line");
}

Poco::Net::HTTPRequest head_of(const HttpRequest& from) {
    if (!is_header_name(from.method)) throw not_one_line(from.to);
    require_lines(from.to, from.headers);
    Poco::Net::HTTPRequest head(from.method, from.to.target, "HTTP/1.1");
    head.set("Host", from.to.authority());
    head.set("User-Agent", "workboard");
    head.setKeepAlive(false);
    for (const auto& [name, value] : from.headers) head.set(name, value);
    const auto bytes =
        from.source ? from.source_bytes : static_cast<std::int64_t>(from.body.size());
    if (bytes > 0 || from.method == "POST" || from.method == "PUT") head.setContentLength64(bytes);
    return head;
}

void send_body(const HttpRequest& request, std::ostream& to) {
    if (!request.source) {
        to << request.body << std::flush;
        return;
    }
    for (auto piece = request.source(); !piece.empty() && to; piece = request.source())
        to.write(piece.data(), static_cast<std::streamsize>(piece.size()));
    to.flush();
}

HttpAnswer read_answer(
    Poco::Net::HTTPClientSession& session, std::size_t most, const HttpClient::Sink& sink
) {
    Poco::Net::HTTPResponse response;
    std::istream& from = session.receiveResponse(response);
    HttpAnswer answer{.status = response.getStatus(), .body = {}};
    const bool passed_on = sink && answer.status == 200;
    std::int64_t size = 0;
    std::array<char, 64 << 10> piece;
    while (from.read(piece.data(), piece.size()), from.gcount() > 0) {
        const std::string_view bytes(piece.data(), static_cast<std::size_t>(from.gcount()));
        size += from.gcount();
        if (passed_on) sink(bytes);
        else answer.body += bytes;
        if (answer.body.size() > most) throw HttpError("the answer is too long");
    }
    if (response.hasContentLength() && response.getContentLength64() != size)
        throw HttpError("the answer broke off");
    return answer;
}

/// A throw of the caller's own source or sink, which is not the server's fault.
struct Foreign {
    std::exception_ptr what;
};

template <class Function>
auto guarded(const Function& function) {
    return [&function](auto&&... arguments) {
        try {
            return function(std::forward<decltype(arguments)>(arguments)...);
        } catch (...) {
            throw Foreign{std::current_exception()};
        }
    };
}

/// Path and query as they are written: Poco decodes `%2F` and does not encode it again.
std::string target_in(const std::string& url) {
    const auto host = url.find("://");
    const auto start = host == url.npos ? host : url.find_first_of("/?", host + 3);
    return start == url.npos ? "/" : url.substr(start);
}

}  // namespace

bool is_one_line(std::string_view text) {
    return std::ranges::all_of(text, [](char each) { return each >= 0x20 && each < 0x7F; });
}

bool is_header_name(std::string_view text) {
    return !text.empty() && text.find_first_of(" \"(),/:;<=>?@[\\]{}") == text.npos &&
           is_one_line(text);
}

void require_lines(const WebAddress& to, const HttpRequest::Headers& headers) {
    if (!is_one_line(to.target) || to.target.find(' ') != std::string::npos) throw not_one_line(to);
    for (const auto& [name, value] : headers)
        if (!is_header_name(name) || !is_one_line(value))
            throw HttpError("the header " + name + " would not be one line");
}

WebAddress WebAddress::parse(const std::string& url) {
    Poco::URI uri;
    try {
        uri = url;
    } catch (const Poco::Exception&) {
        throw HttpError(url + " is no web address");
    }
    WebAddress out{
        .secure = uri.getScheme() == "https",
        .host = uri.getHost(),
        .port = uri.getPort(),
        .target = target_in(url)
    };
    const bool is_http = out.secure || uri.getScheme() == "http";
    if (!is_http || !is_one_line(url) || url.find(' ') != url.npos || out.host.empty() ||
        !uri.getUserInfo().empty() || url.find('#') != url.npos)
        throw HttpError(url + " is no web address that we would ask");
    if (!out.target.starts_with('/')) out.target.insert(0, 1, '/');
    return out;
}

std::string WebAddress::authority() const {
    const bool is_v6 = host.find(':') != std::string::npos;
    const std::string name = is_v6 ? "[" + host + "]" : host;
    return port == (secure ? 443 : 80) ? name : name + ":" + std::to_string(port);
}

HttpClient::HttpClient(Settings settings)
    : settings_(std::move(settings)), tls_(settings_.ca_file) {}

HttpAnswer HttpClient::run(const HttpRequest& request, const Sink& sink) const {
    const auto end = Clock::now() + settings_.time + request.more_time;
    const std::string& host = request.to.host;
    Poco::Net::HTTPRequest head = head_of(request);
    HttpRequest sent = request;
    if (request.source) sent.source = guarded(request.source);
    Sink taken = sink;
    if (sink) taken = guarded(sink);
    try {
        Resolver& resolver = settings_.resolver ? *settings_.resolver : system_resolver();
        const auto socket = dial(host, request.to.port, end, settings_.rules, resolver);
        const SocketDeadline deadline(socket.impl()->sockfd(), end);
        try {
            // Poco's session for HTTPS does not take a socket that is connected; its other one
            // does, and the socket encrypts.
            auto over = socket;
            if (request.to.secure)
                over = Poco::Net::SecureStreamSocket::attach(socket, host, tls_.get());
            Poco::Net::HTTPClientSession session(over);
            send_body(sent, session.sendRequest(head));
            HttpAnswer answer = read_answer(session, settings_.most_bytes, taken);
            if (!deadline.passed()) return answer;
        } catch (const std::exception&) {
            if (!deadline.passed()) throw;
        }
        throw HttpError("takes too long");
    } catch (const Foreign& foreign) {
        std::rethrow_exception(foreign.what);
    } catch (const Poco::Exception& problem) {
        throw HttpError(host + ": " + problem.displayText());
    } catch (const std::runtime_error& problem) {
        const std::string why = problem.what();
        throw HttpError(why.starts_with(host) ? why : host + ": " + why);
    }
}

}  // namespace svc
