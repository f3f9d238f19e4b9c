#include "svc/poco_handler.hpp"

#include <Poco/File.h>
#include <Poco/MemoryStream.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>

#include <fstream>
#include <sstream>

namespace svc {

namespace {

namespace net = Poco::Net;

class Response final : public net::HTTPServerResponse {
public:
    void sendContinue() override {}  // the body is here already
    std::ostream& send() override {
        sent_ = true;
        return body_;
    }
    void sendFile(const std::string& path, const std::string& type) override {
        const Poco::File file(path);
        if (!file.exists()) throw Poco::FileNotFoundException(path);
        std::ifstream in(path, std::ios::binary);
        if (!in) throw Poco::OpenFileException(path);
        setContentType(type);
        if (file.getSize() > 0) send() << in.rdbuf();
        sent_ = true;
    }
    void sendBuffer(const void* bytes, std::size_t size) override {
        send().write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    }
    void redirect(const std::string& uri, HTTPStatus status) override {
        setStatusAndReason(status);
        set("Location", uri);
        sent_ = true;
    }
    void requireAuthentication(const std::string& realm) override {
        setStatusAndReason(HTTP_UNAUTHORIZED);
        set("WWW-Authenticate", "Basic realm=\"" + realm + "\"");
    }
    bool sent() const override { return sent_; }

    http::Answer answer() && {
        http::Answer out;
        out.status = getStatus();
        out.content_type = getContentType();
        if (out.content_type == UNKNOWN_CONTENT_TYPE) out.content_type.clear();
        for (const auto& [name, value] : *this)
            if (Poco::icompare(name, CONTENT_TYPE) != 0) out.headers.emplace_back(name, value);
        out.body = std::move(body_).str();
        return out;
    }

private:
    std::ostringstream body_;
    bool sent_ = false;
};

class Request final : public net::HTTPServerRequest {
public:
    Request(const http::Request& from, Response& response)
        : response_(response),
          body_(from.body.data(), static_cast<std::streamsize>(from.body.size())),
          client_(std::string(from.client_address), 0),
          secure_(from.secure) {
        setMethod(std::string(from.method));
        setURI(std::string(from.target));
        setVersion(HTTP_1_1);
        for (const http::Header& each : from.headers)
            add(std::string(each.name), std::string(each.value));
    }
    std::istream& stream() override { return body_; }
    const net::SocketAddress& clientAddress() const override { return client_; }
    const net::SocketAddress& serverAddress() const override { return server_; }
    const net::HTTPServerParams& serverParams() const override {
        static const net::HTTPServerParams::Ptr params = new net::HTTPServerParams;
        return *params;
    }
    net::HTTPServerResponse& response() const override { return response_; }
    bool secure() const override { return secure_; }

private:
    Response& response_;
    Poco::MemoryInputStream body_;
    net::SocketAddress client_;
    net::SocketAddress server_;  // the wildcard: behind a proxy nobody knows a better one
    bool secure_;
};

http::Answer serve(net::HTTPRequestHandlerFactory& factory, const http::Request& from) {
    Response response;
    Request request(from, response);
    try {
        const std::unique_ptr<net::HTTPRequestHandler> handler(factory.createRequestHandler(request)
        );
        if (handler) handler->handleRequest(request, response);
        else response.setStatusAndReason(net::HTTPResponse::HTTP_NOT_IMPLEMENTED);
    } catch (const Poco::Exception& problem) {
        throw std::runtime_error(problem.displayText());  // what() names the class alone
    } catch (const std::exception&) {
        throw;
    } catch (...) {
        throw std::runtime_error("a POCO handler threw what is no std::exception");
    }
    return std::move(response).answer();
}

}  // namespace

Route poco_route(
    std::string method,
    std::string path,
    Access access,
    std::shared_ptr<net::HTTPRequestHandlerFactory> factory
) {
    const auto handle = [factory = std::move(factory)](RouteCall& call) {
        return serve(*factory, call.request());
    };
    return {
        .method = std::move(method), .path = std::move(path), .access = access, .handle = handle};
}

}  // namespace svc
