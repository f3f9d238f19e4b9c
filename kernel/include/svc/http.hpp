#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// HTTP as modules see it. Nothing here names a socket, a thread or a POCO type; a
/// handler written against POCO goes through svc/poco_handler.hpp.
namespace svc::http {

struct Header {
    std::string_view name;   ///< as sent; compared without regard to case
    std::string_view value;  ///< surrounding white space removed; visible ASCII, tab and UTF-8
};

/// A whole request in memory. Views are valid as long as the handler runs.
class Request {
public:
    std::string_view method;
    std::string_view target;  ///< as sent: path and query
    std::string_view path;    ///< without the query, still percent-encoded
    std::string_view query;   ///< without the '?', still percent-encoded
    std::string_view body;
    std::span<const Header> headers;
    std::string_view client_address;  ///< the peer, or what a trusted proxy says it is
    bool secure = false;              ///< TLS here, or a trusted proxy says so

    /// The value of the only header of that name; empty when absent. A header sent twice,
    /// other than a list header, was refused before.
    std::string_view header(std::string_view name) const;
    bool has(std::string_view name) const;
    /// A cookie's value, as sent; empty when absent.
    std::string_view cookie(std::string_view name) const;
};

/// Takes a request's body as it comes in, for bodies that are not to be held in memory. Called on
/// workers, one call at a time, in order; destroyed with the request, whether it was answered or
/// broke off.
class BodySink {
public:
    virtual ~BodySink() = default;
    /// The next bytes. What it throws ends the request: the rest of the body is not read, and a
    /// Failure is the answer.
    virtual void take(std::string_view bytes) = 0;
};

/// Bytes of an open file, which an answer sends without holding them in memory. Owns the
/// descriptor.
class FileBody {
public:
    FileBody(int descriptor, std::uint64_t offset, std::uint64_t size)
        : descriptor_(descriptor), offset_(offset), size_(size) {}
    ~FileBody();
    FileBody(const FileBody&) = delete;
    FileBody& operator=(const FileBody&) = delete;
    int descriptor() const { return descriptor_; }
    std::uint64_t offset() const { return offset_; }
    std::uint64_t size() const { return size_; }

private:
    int descriptor_;
    std::uint64_t offset_, size_;
};

using Headers = std::vector<std::pair<std::string, std::string>>;

struct Answer {
    int status = 200;
    Headers headers{};
    std::string content_type{"application/json"};
    std::string body{};
    std::shared_ptr<const std::string> shared_body{};  ///< sent behind `body`, never copied
    std::string tail{};                                ///< sent behind `shared_body`
    std::shared_ptr<const FileBody> file{};            ///< sent instead of these when set

    std::uint64_t size() const {
        if (file) return file->size();
        return body.size() + (shared_body ? shared_body->size() : 0) + tail.size();
    }
};

/// Why a stream ends that neither its user nor its peer has closed.
enum class StreamEnd {
    revoked,   ///< the credential it was opened with is no longer good, or stands for less
    too_slow,  ///< the peer does not take what it is sent
    stopping,  ///< the server stops
};

/// Whom a stream belongs to. The stream keeps it until it ends.
class StreamUser {
public:
    virtual ~StreamUser() = default;
    /// Bytes from the peer; what is left over is the callee's to keep. On a worker, one call at a
    /// time.
    virtual void receive(std::string_view) {}
    /// All that could not be sent at once is sent. On a worker, never while receive() runs.
    virtual void drained() {}
    /// The stream has ended, whoever ended it. Once.
    virtual void ended() {}
    /// What is sent as the last, if anything is. Under the stream's lock: must not call it.
    virtual std::shared_ptr<const std::string> last_frame(StreamEnd) const { return nullptr; }
};

/// A connection that has become a stream of bytes (SSE, WebSocket, MCP). The front end
/// keeps the socket; any thread may call any member.
class Stream {
public:
    virtual ~Stream() = default;
    /// Gives it a user, once, before the handler returns. One that comes too late is told of the
    /// end at once.
    virtual void use(std::shared_ptr<StreamUser> user) = 0;
    /// Sends now or as the peer drains; frames are shared, never copied. False when the stream is
    /// closed or `frame` would exceed the backlog: the stream is then ended as too slow.
    virtual bool send(std::shared_ptr<const std::string> frame) = 0;
    /// Bytes that wait for the peer here. StreamUser::drained() follows when there are any.
    virtual std::size_t backlog() const = 0;
    /// Sends what is queued, then closes.
    virtual void close() = 0;
    /// Sends what is queued and the user's last frame, then closes. Of a peer that is too slow, only
    /// the frame that is under way is sent before.
    virtual void end(StreamEnd why) = 0;
    virtual bool open() const = 0;
};

/// The media type of the body, as its Content-Type names it: in lower case, without parameters;
/// empty when it names none.
std::string media_type(const Request& request);
/// Whether a body came as it is, without a Content-Encoding, and in UTF-8 as far as its
/// Content-Type names a charset.
bool is_plain_utf8(const Request& request);

/// Percent-decodes a path segment or a query part; nothing when an escape is malformed,
/// or the result is not UTF-8 or holds a NUL. '+' is a space only in a query.
enum class Decode { path, query };
std::optional<std::string> decode(std::string_view text, Decode how);
/// The pairs of a query string, decoded, in order; nothing when one is malformed.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

}  // namespace svc::http
