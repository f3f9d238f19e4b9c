#include "tests/soak/people.hpp"

#include <thread>

namespace svc::test {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::milliseconds pace{40};
constexpr std::size_t most_faults = 20;
constexpr std::size_t most_shown = 50;

}  // namespace

HonestClient::HonestClient(const Server& server, const std::string& name)
    : name_(name), workspace_(make_workspace(server, name + "@example.com", name)) {
    // A token does not run out within an hour, and a program is what works like this.
    const auto token = workspace_.mint("agent", name);
    workspace_.client = server.client();
    workspace_.client.token(token);
    const auto board = expect(
        201,
        workspace_.client.post(
            "/v1/boards",
            json::value{
                {"name", name},
                {"columns",
                 {{{"name", "To do"}},
                  {{"name", "Work"}, {"kind", "queue"}},
                  {{"name", "Done"}, {"kind", "done"}}}}}
        )
    );
    board_ = board.text("/id");
    todo_ = board.text("/column_ids/0");
    queue_ = board.text("/column_ids/1");
}

void HonestClient::fault(std::string what) {
    const std::lock_guard lock(mutex_);
    if (faults_.size() < most_faults) faults_.push_back(name_ + ": " + std::move(what));
}

Reply HonestClient::ask(
    std::string_view method, const std::string& path, const std::string& body, int expected
) {
    const auto begun = Clock::now();
    Reply reply;
    try {
        reply = workspace_.client.send(method, path, body);
    } catch (const ConnectionError& lost) {
        fault(std::string(method) + " " + path + ": " + lost.what());
        return reply;
    }
    const std::chrono::duration<double, std::milli> took = Clock::now() - begun;
    if (reply.status != expected)
        fault(
            std::string(method) + " " + path + ": " + std::to_string(reply.status) + " " +
            reply.body.substr(0, 300)
        );
    const std::lock_guard lock(mutex_);
    times_.push_back(took.count());
    return reply;
}

/// A card is written, changed, read and worked on as a worker would; what has been there for a
/// while is archived, so that the board stays as large as it is.
void HonestClient::one_round(int number) {
    const bool queued = number % 2 == 1;
    const auto title = "Parcel " + std::to_string(number);
    const auto made =
        ask("POST",
            "/v1/boards/" + board_ + "/cards",
            json::serialize(json::value{{"column_id", queued ? queue_ : todo_}, {"title", title}}),
            201);
    if (made.status != 201) return;
    const auto id = made.text("/id");
    cards_[id] = title;
    shown_.push_back(id);
    if (shown_.size() > most_shown) {
        ask("POST", "/v1/cards/" + shown_.front() + ":archive", "", 200);
        shown_.pop_front();
    }
    const auto changed = title + ", packed";
    if (ask("PATCH", "/v1/cards/" + id, json::serialize(json::value{{"title", changed}}), 200)
            .status == 200)
        cards_[id] = changed;
    const auto read = ask("GET", "/v1/cards/" + id, "", 200);
    if (read.status == 200 && read.text("/title") != cards_[id])
        fault("card " + id + " reads " + read.text("/title"));
    ask("GET", "/v1/me", "", 200);
    ask("GET", "/v1/boards/" + board_ + "/snapshot?page_size=10", "", 200);
    if (!queued) return;
    const auto claim =
        ask("POST", "/v1/boards/" + board_ + "/columns/" + queue_ + ":claim-next", "{}", 200);
    if (claim.status != 200 || claim.json().at("lease").is_null()) return;
    ask("POST",
        "/v1/leases/" + claim.text("/lease/id") + ":complete",
        json::serialize(json::value{
            {"lease_token", claim.text("/lease_token")}, {"result", {{"boxes", 1}}}}),
        200);
}

void HonestClient::work(std::stop_token stop) {
    for (int number = static_cast<int>(cards_.size()); !stop.stop_requested(); ++number) {
        one_round(number);
        std::this_thread::sleep_for(pace);
    }
}

std::vector<std::string> HonestClient::faults() const {
    const std::lock_guard lock(mutex_);
    return faults_;
}

std::vector<double> HonestClient::take_times() {
    const std::lock_guard lock(mutex_);
    return std::exchange(times_, {});
}

void HonestClient::check_all() {
    for (const auto& [id, title] : cards_) {
        const auto read = workspace_.client.get("/v1/cards/" + id);
        if (read.status != 200 || read.text("/title") != title)
            fault("lost: card " + id + ", " + title + ": " + std::to_string(read.status));
    }
}

}  // namespace svc::test
