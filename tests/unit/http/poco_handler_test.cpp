#include "svc/poco_handler.hpp"

#include <Poco/Net/HTMLForm.h>
#include <Poco/Net/HTTPCookie.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/StreamCopier.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

/// Handlers written against POCO.
namespace svc::http::test {

namespace {

using Poco::Net::HTTPServerRequest;
using Poco::Net::HTTPServerResponse;
using Handle = std::function<void(HTTPServerRequest&, HTTPServerResponse&)>;

class Handler final : public Poco::Net::HTTPRequestHandler {
public:
    explicit Handler(const Handle& handle) : handle_(handle) {}
    void handleRequest(HTTPServerRequest& request, HTTPServerResponse& response) override {
        handle_(request, response);
    }

private:
    const Handle& handle_;
};

class Factory final : public Poco::Net::HTTPRequestHandlerFactory {
public:
    explicit Factory(Handle handle) : handle_(std::move(handle)) {}
    Poco::Net::HTTPRequestHandler* createRequestHandler(const HTTPServerRequest&) override {
        return handle_ ? new Handler(handle_) : nullptr;
    }

private:
    Handle handle_;
};

class Call final : public RouteCall {
public:
    explicit Call(const Request& request) : request_(request) {}
    const Request& request() const override { return request_; }
    const std::string& request_id() const override { return id_; }
    BodySink* body_sink() override { return nullptr; }
    const Caller* caller() const override { return nullptr; }
    Invoked invoke(const Invocation&) override { return {}; }
    void become_stream(std::function<void(std::shared_ptr<Stream>)>) override {}

private:
    const Request& request_;
    std::string id_ = "none";
};

Answer run(const Request& request, Handle handle) {
    const auto route =
        poco_route("*", "/poco", Access::anyone, std::make_shared<Factory>(std::move(handle)));
    Call call(request);
    return route.handle(call);
}

Request post_of(std::string_view body, std::span<const Header> headers = {}) {
    Request request;
    request.method = "POST";
    request.target = "/poco?a=1";
    request.path = "/poco";
    request.query = "a=1";
    request.body = body;
    request.headers = headers;
    request.client_address = "203.0.113.9";
    request.secure = true;
    return request;
}

std::string header(const Answer& answer, std::string_view name) {
    for (const auto& [each, value] : answer.headers)
        if (each == name) return value;
    return "";
}

}  // namespace

TEST(PocoHandlers, SeeTheWholeRequest) {
    const Header headers[] = {{"Host", "test"}, {"Cookie", "a=b"}, {"X-Name", "value"}};
    const auto answer = run(post_of("the body", headers), [](auto& request, auto& response) {
        std::string body;
        Poco::StreamCopier::copyToString(request.stream(), body);
        Poco::Net::NameValueCollection cookies;
        request.getCookies(cookies);
        response.send() << request.getMethod() << ' ' << request.getURI() << ' ' << body << ' '
                        << request.get("x-name") << ' ' << cookies.get("a") << ' '
                        << request.clientAddress().host().toString() << ' ' << request.secure();
    });
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "POST /poco?a=1 the body value b 203.0.113.9 1");
}

TEST(PocoHandlers, ReadForms) {
    const Header headers[] = {
        {"Content-Type", "application/x-www-form-urlencoded"}, {"Content-Length", "7"}};
    const auto answer = run(post_of("b=2&c=3", headers), [](auto& request, auto& response) {
        const Poco::Net::HTMLForm form(request, request.stream());
        const std::string text = form.get("b") + form.get("c");
        response.sendBuffer(text.data(), text.size());
    });
    EXPECT_EQ(answer.body, "23");
}

TEST(PocoHandlers, SetStatusTypeHeadersAndCookies) {
    const auto answer = run(post_of(""), [](auto&, auto& response) {
        response.setStatusAndReason(Poco::Net::HTTPResponse::HTTP_CREATED);
        response.setContentType("text/csv");
        response.set("X-Made", "yes");
        response.addCookie(Poco::Net::HTTPCookie("one", "1"));
        response.addCookie(Poco::Net::HTTPCookie("two", "2"));
        response.send() << "a,b";
    });
    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.content_type, "text/csv");
    EXPECT_EQ(header(answer, "X-Made"), "yes");
    EXPECT_EQ(
        std::ranges::count(answer.headers, "Set-Cookie", [](auto& each) { return each.first; }), 2
    );
    EXPECT_EQ(header(answer, "Content-Type"), "") << "it would be sent twice";
    EXPECT_EQ(answer.body, "a,b");
}

TEST(PocoHandlers, Redirect) {
    const auto answer = run(post_of(""), [](auto&, auto& response) {
        response.redirect("https://example.org/", Poco::Net::HTTPResponse::HTTP_SEE_OTHER);
    });
    EXPECT_EQ(answer.status, 303);
    EXPECT_EQ(header(answer, "Location"), "https://example.org/");
    EXPECT_EQ(answer.body, "");
}

TEST(PocoHandlers, SendFiles) {
    const auto file = std::filesystem::temp_directory_path() /
                      ("svc-poco-" + std::to_string(std::random_device{}()));
    std::ofstream(file) << "from a file";
    const auto answer = run(post_of(""), [&](auto&, auto& response) {
        response.sendFile(file.string(), "text/plain");
    });
    std::filesystem::remove(file);
    EXPECT_EQ(answer.body, "from a file");
    EXPECT_EQ(answer.content_type, "text/plain");
    EXPECT_THROW(
        run(post_of(""), [&](auto&, auto& response) { response.sendFile(file.string(), "a/b"); }),
        std::exception
    );
}

TEST(PocoHandlers, AreMissedWithA501AndThrowThrough) {
    EXPECT_EQ(run(post_of(""), nullptr).status, 501);
    EXPECT_THROW(
        run(post_of(""), [](auto&, auto&) { throw std::runtime_error("x"); }), std::runtime_error
    );
}

}  // namespace svc::http::test
