#pragma once

#include "http/answer_writer.hpp"
#include "http/server_state.hpp"

namespace svc::http {

/// One thread's hands: what it needs to move connections on, whichever they are.
///
/// A connection is moved by whoever has its turn, through the steps below, until it can only
/// wait. Bytes come into a buffer that the worker lends and takes back, so that an idle
/// connection has none. Requests that lie in it whole are served one behind the other, and
/// their answers leave in one send.
class Worker {
public:
    /// A watcher never runs a handler or a callback: it leaves them to the others as jobs.
    enum class Role { server, watcher };
    Worker(ServerState& server_state, Role role);
    ~Worker();

    /// Serves until the front end quits.
    void run();
    /// Handles what the set has to say, without waiting.
    void watch(int most_events);
    /// A deadline is over; the caller does not have the turn.
    void expire(Connection& connection, std::int64_t now);
    /// Takes in what waits on the listening socket.
    void accept_all();
    /// Ends what is left, when nobody else is there any more.
    void abandon(Connection& connection);

private:
    /// How a step leaves the connection: waiting for events, with more to do when others have had
    /// their turn, with its turn in other hands, or gone.
    enum class Next { rest, later, passed_on, gone };
    class BlockingScope;

    bool poll(int timeout_ms);
    void look(std::uint64_t key, bool hung_up);
    void take_up(const WorkQueue::Job& job);
    void drive(Connection& c, Next next);
    void come_back(Connection& c);
    Next step(Connection& c);
    Next settle(Connection& c);
    bool admit(Connection& c, int socket, const Address& peer);
    void refuse_socket(int socket);
    void answer_plain(int socket);
    void send_refusal(int socket, const Refusal& why);

    // reading.cpp
    Next converse(Connection& c);
    Next answer_all(Connection& c);
    bool answers_at_once(LiveExchange& x);
    Next pass_on(Connection& c);
    Next take_in(Connection& c, LiveExchange& x);
    std::ptrdiff_t fill(Connection& c, bool& drained);
    void keep_input(Connection& c);
    void set_reading_deadline(Connection& c);

    // serving.cpp
    LiveExchange& exchange();
    Next answer_one(Connection& c, LiveExchange& x);
    Outcome call_service(LiveExchange& x);
    Next resume(LiveExchange& x);
    Next serve_waiting(Connection& c);
    Next park(Connection& c, LiveExchange& x);
    LargeBody take_body(Answer& answer);
    Next complete(Connection& c, LiveExchange& x);
    Next decline(Connection& c, LiveExchange& x);
    Next refuse(Connection& c, const Refusal& why);
    Answer refusal(const Refusal& why, const Request& seen) const;
    Next begin_stream(Connection& c, LiveExchange& x);
    Next pump(Connection& c);
    Next end_stream(Connection& c);
    template <class Call>
    void call_back(StreamConnection& stream, Call call);

    // writing.cpp
    enum class Pushed { all, some, gone };
    Pushed push(Connection& c, LargeBody body = {});
    Pushed push_pending(Connection& c);
    Next send(Connection& c, LargeBody body = {});
    Next drain(Connection& c);
    void await_reader(Connection& c);
    std::int64_t milliseconds_for(std::uint64_t bytes) const;
    Next give_up_reader(Connection& c);
    Next finish(Connection& c);
    Next linger(Connection& c);
    void hurry(Connection& c);
    Next close(Connection& c);

    ServerState& server_state_;
    const Role role_;
    bool on_watch_ = false;
    bool woken_ = false;
    Buffer lent_;                       // given to one connection while it is being moved
    Connection* borrower_ = nullptr;    // who has it
    std::string out_;                   // answers not yet sent, of the connection being moved
    LiveExchange* exchange_ = nullptr;  // for the next request
};

}  // namespace svc::http
