#pragma once

#include "lab.hpp"
#include "load.hpp"

/// The work that is measured, as requests.
namespace svc::bench {

/// The text of a member in a JSON answer, without parsing all of it: what follows `before`, up to
/// the next quote.
std::string_view member(std::string_view body, std::string_view before);

std::string get_request(Lab& lab, const std::string& card);
std::vector<std::string> get_requests(Lab& lab, const std::vector<std::string>& cards);
/// The same, each by a client of another name: none is served together with others, so this is
/// what a request costs by itself.
std::vector<std::string> get_requests_apart(Lab& lab, const std::vector<std::string>& cards);
std::string create_request(Lab& lab, const QueueBoard& board);

/// Each of sixteen clients sends one of `requests` again and again.
WorkedOff ask(Lab& lab, double seconds, const std::vector<std::string>& requests);

/// Puts cards that nobody has touched into a column, in the order they were made; as the superuser,
/// for ten thousand requests take long. `from` is the last number that the board has given.
void put_cards(Lab& lab, const std::string& board, const std::string& column, int from, int count);

/// Claims from one queue of a board and completes into the other.
class Pair {
public:
    Pair(Lab& lab, const QueueBoard& board, int from);
    void run(Presser& presser);
    /// Of the last run.
    const std::string& lease() const { return lease_; }
    const std::string& card() const { return card_; }

private:
    std::string token_, claim_, to_, lease_, card_;
};

}  // namespace svc::bench
