#pragma once

#include "http/buffer.hpp"
#include "http/connection_ownership.hpp"
#include "http/proxies.hpp"
#include "http/request_assembler.hpp"
#include "http/socket.hpp"

#include <exception>

namespace svc::http {

class StreamConnection;

/// What a connection is doing. `waiting` and `parked` ones keep the turn: it belongs to the job
/// queue and to the parked exchange.
enum class Phase : std::uint8_t {
    handshake,
    reading,
    waiting,  ///< a whole request for which no worker was free
    parked,
    writing,
    lingering,  ///< all is said; until the peer has read it, what it still sends is thrown away
    streaming,
};

/// Which deadline runs while a connection is reading.
enum class Stage : std::uint8_t { fresh, idle, head, body };

/// What is sent behind an answer's head, if it is large: a text and what follows it, or a file.
struct LargeBody {
    std::shared_ptr<const std::string> text{};
    std::string tail{};
    std::shared_ptr<const FileBody> file{};
    explicit operator bool() const { return text || file; }
};

/// The unsent rest of an answer.
struct Pending {
    std::string bytes;
    LargeBody body;           // sent behind `bytes`
    std::uint64_t sent = 0;   // of both
    std::size_t untaken = 0;  // bytes the kernel held for the peer when its time began
    std::int64_t due = 0;     // by now_ms(): all of it is to be taken by then
};

/// A body on its way to whoever takes it.
struct Reception {
    std::unique_ptr<BodySink> sink;
    std::exception_ptr failure;  // of the sink: nothing more is given to it
};

/// One accepted connection. Lives in a slot of the table that is used again and never freed, so
/// that a late event finds something to disagree with. All but `ownership` belongs to whoever
/// has the turn.
struct Connection {
    ConnectionOwnership ownership;
    std::uint32_t slot = 0;
    std::uint32_t begin = 0;        // where in `in` the present request begins
    std::int64_t heard_out_by = 0;  // by now_ms(), while lingering
    Phase phase = Phase::reading;
    Stage stage = Stage::fresh;
    bool trusted_peer = false;
    bool closing = false;  // nothing more is read as a request
    bool lingers = false;  // the peer may be sending: close only when it has read the answer
    bool watches_writes = false;
    Socket channel;
    Buffer in;
    RequestAssembler assembler;
    std::unique_ptr<Pending> out;
    std::unique_ptr<Reception> reception;
    std::shared_ptr<StreamConnection> stream;
    Address peer;

    std::size_t unread() const { return in.size() - begin; }
    /// Identifies this connection among all that ever were in its slot.
    std::uint64_t key() const { return std::uint64_t{ownership.generation()} << 32 | slot; }
};

}  // namespace svc::http
