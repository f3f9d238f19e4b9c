#pragma once

#include <boost/json.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A small HTTP/1.1 client over one keep-alive connection to 127.0.0.1. It knows as much as the
/// tests ask of it: answers with a length or in chunks, cookies, and bytes sent as they are.
namespace svc::test {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Reply {
    int status = 0;
    Headers headers;  ///< names in lower case
    std::string body;

    /// The first header of that (lower-case) name; empty when there is none.
    std::string header(std::string_view name) const;
    /// The body as JSON; throws, with the body in the message, when it is none.
    boost::json::value json() const;
    /// A member of the JSON body as text: `text("/card/id")`, by JSON pointer.
    std::string text(std::string_view pointer) const;
};

/// The connection broke, was closed early or took too long.
class ConnectionError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One socket. Used by one thread at a time.
class Connection {
public:
    explicit Connection(
        std::uint16_t port, std::chrono::milliseconds timeout = std::chrono::seconds(20)
    );
    ~Connection();
    Connection(Connection&& other) noexcept;
    Connection& operator=(Connection&& other) noexcept;

    void write(std::string_view bytes);
    /// Reads one whole answer; what comes after it is kept for the next call.
    Reply read(std::string_view method = "GET");
    int fd() const { return fd_; }

private:
    void more();  // receives into buffer_; throws when nothing more comes
    std::string line();
    std::string bytes(std::size_t size);

    int fd_ = -1;
    std::string buffer_;
};

/// A client with a memory: cookies it was given, and headers it always sends. Dials again when
/// the server has closed the connection between two requests.
class Client {
public:
    explicit Client(std::uint16_t port) : port_(port) {}
    /// Knows the same, over a connection of its own.
    Client(const Client& other)
        : port_(other.port_), always_(other.always_), cookies_(other.cookies_) {}
    Client(Client&&) = default;
    Client& operator=(Client&&) = default;

    /// A header for every request from here on; an empty value takes it back.
    Client& always(std::string name, std::string value);
    Client& token(std::string_view token) {
        return always("Authorization", "Bearer " + std::string(token));
    }

    Reply send(
        std::string_view method,
        std::string_view path,
        std::string_view body = {},
        const Headers& headers = {}
    );
    Reply get(std::string_view path) { return send("GET", path); }
    Reply post(std::string_view path, std::string_view body = {}, const Headers& headers = {}) {
        return send("POST", path, body, headers);
    }
    template <std::same_as<boost::json::value> Value>  // text is not to become a JSON string
    Reply post(std::string_view path, const Value& body) {
        return send("POST", path, boost::json::serialize(body));
    }

    /// The bytes `send` would write.
    std::string request(
        std::string_view method,
        std::string_view path,
        std::string_view body = {},
        const Headers& headers = {}
    ) const;
    std::string cookie(std::string_view name) const;

private:
    void remember(const Reply& reply);

    std::uint16_t port_;
    std::map<std::string, std::string> always_{{"X-Board-Version", "2026-06-19"}};
    std::map<std::string, std::string, std::less<>> cookies_;
    std::vector<Connection> connection_;  // none or one
};

}  // namespace svc::test
