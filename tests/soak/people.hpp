#pragma once

#include "tests/support/workspace.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>

/// Who uses the server in a soak: two who do their work, and many who mean it no good.
namespace svc::test {

/// Goes about its work, notes how long each answer took, and that nothing it was promised is lost.
class HonestClient {
public:
    /// Signs up with an address and a workspace of its own, and makes a board with a queue.
    HonestClient(const Server& server, const std::string& name);

    /// Works at a person's pace until `stop`.
    void work(std::stop_token stop);

    /// What went wrong so far: statuses that must not be, and writes that are not there.
    std::vector<std::string> faults() const;
    /// Times of answers since the last call, in milliseconds.
    std::vector<double> take_times();
    std::size_t writes() const { return cards_.size(); }
    /// Reads again every card it has ever written, and compares; faults() tells.
    void check_all();

private:
    Reply ask(
        std::string_view method, const std::string& path, const std::string& body, int expected
    );
    void one_round(int number);
    void fault(std::string what);

    std::string name_;
    Workspace workspace_;
    std::string board_, todo_, queue_;
    std::map<std::string, std::string> cards_;  // id -> the title that was promised last
    std::deque<std::string> shown_;             // ids of those that are not archived
    mutable std::mutex mutex_;
    std::vector<double> times_;
    std::vector<std::string> faults_;
};

/// What the hostile share: a workspace that they have filled to its limits.
struct Prey {
    Workspace workspace;
    std::string board, big_board, column, queue, big_column, card, big_card, share_token;
    std::string lines, reversed;  ///< bodies that replace the big card's text
    std::string session;          ///< of MCP
};
Prey fill_workspace(const Server& server, const std::string& email);

/// One way of doing harm. Called again and again, each call a request or a few.
struct Harm {
    std::string name;
    std::function<void(const Server&, const Prey&, Client&, int round)> once;
};
const std::vector<Harm>& ways_of_harm();

}  // namespace svc::test
