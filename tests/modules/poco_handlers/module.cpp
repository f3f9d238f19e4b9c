#include "svc/module.hpp"
#include "svc/poco_handler.hpp"

#include <Poco/Exception.h>
#include <Poco/Net/HTTPCookie.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/NameValueCollection.h>

#include <map>

/// Handlers that do what handlers written against POCO do, the wrong things among it.
namespace svc::poco_handlers {

namespace {

using Poco::Net::HTTPServerRequest;
using Poco::Net::HTTPServerResponse;
using Handle = void (*)(HTTPServerRequest&, HTTPServerResponse&);

void pass_headers(HTTPServerRequest& request, HTTPServerResponse& response) {
    Poco::Net::NameValueCollection cookies;
    request.getCookies(cookies);
    Poco::Net::HTTPCookie counted("visits", cookies.get("visits", "") + "i");
    counted.setHttpOnly();
    response.addCookie(counted);
    response.addCookie(Poco::Net::HTTPCookie("second", "2"));
    response.set("X-Echo", request.get("X-Name", ""));
    response.setContentType("text/plain");
    response.send() << request.getMethod() << ' ' << request.getURI() << ' '
                    << request.clientAddress().host().toString();
}

void throw_after_writing(HTTPServerRequest&, HTTPServerResponse& response) {
    response.set("X-Half", "done");
    response.send() << "half an answer";
    throw Poco::IOException("the tape has torn");
}

void throw_standard(HTTPServerRequest&, HTTPServerResponse&) {
    throw std::runtime_error("the belt has slipped");
}

void throw_number(HTTPServerRequest&, HTTPServerResponse&) { throw 42; }

void throw_failure(HTTPServerRequest&, HTTPServerResponse&) { not_found("tape"); }

/// Framing is the server's, whatever a handler says of it.
void frame_wrongly(HTTPServerRequest&, HTTPServerResponse& response) {
    response.setChunkedTransferEncoding(true);
    response.setContentLength(3);
    response.setKeepAlive(false);
    response.set("X-Split", "one\r\nX-Made-Up: two");
    response.setContentType("text/plain");
    response.send() << "more than three";
}

void answer_much(HTTPServerRequest&, HTTPServerResponse& response) {
    response.setContentType("application/octet-stream");
    const std::string piece(1 << 20, 'm');
    for (int i = 0; i < 16; ++i) response.send() << piece;
}

const std::map<std::string, Handle> handles{
    {"/poco/headers", pass_headers},
    {"/poco/throws", throw_after_writing},
    {"/poco/throws-standard", throw_standard},
    {"/poco/throws-number", throw_number},
    {"/poco/throws-failure", throw_failure},
    {"/poco/frames", frame_wrongly},
    {"/poco/much", answer_much},
};

class Handler final : public Poco::Net::HTTPRequestHandler {
public:
    explicit Handler(Handle handle) : handle_(handle) {}
    void handleRequest(HTTPServerRequest& request, HTTPServerResponse& response) override {
        handle_(request, response);
    }

private:
    Handle handle_;
};

class Factory final : public Poco::Net::HTTPRequestHandlerFactory {
public:
    Poco::Net::HTTPRequestHandler* createRequestHandler(const HTTPServerRequest& request) override {
        const auto found = handles.find(request.getURI());
        return found == handles.end() ? nullptr : new Handler(found->second);
    }
};

class MembersFactory final : public Poco::Net::HTTPRequestHandlerFactory {
public:
    Poco::Net::HTTPRequestHandler* createRequestHandler(const HTTPServerRequest&) override {
        return new Handler(pass_headers);
    }
};

}  // namespace

class PocoHandlers final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.add(poco_route("*", "/poco/*", Access::anyone, std::make_shared<Factory>()));
        kernel.add(poco_route("GET", "/members", Access::member, std::make_shared<MembersFactory>())
        );
    }
};

}  // namespace svc::poco_handlers

SVC_MODULE(svc::poco_handlers::PocoHandlers, "poco_handlers");
