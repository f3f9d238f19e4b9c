#include "rest_queue.hpp"

#include "tests/support/workspace.hpp"
#include "work.hpp"

#include <fmt/format.h>

#include <atomic>
#include <mutex>

namespace svc::bench {

namespace {

/// Every text that follows `before` in an answer.
std::vector<std::string> members(std::string_view body, std::string_view before) {
    std::vector<std::string> out;
    for (auto at = body.find(before); at != std::string_view::npos; at = body.find(before, at + 1))
        out.emplace_back(member(body.substr(at), before));
    return out;
}

/// Worker number so and so with a connection of its own.
template <class Work>
auto connected(Lab& lab, const Work& work) {
    return [&lab, &work](int) -> std::function<bool()> {
        auto presser = std::make_shared<Presser>(lab.server().port());
        return [presser, &work] { return work(*presser); };
    };
}

WorkedOff all_of(int cards, WorkedOff worked) {
    if (worked.done != cards)
        throw std::runtime_error(fmt::format("{} of {} cards were worked on", worked.done, cards));
    return worked;
}

}  // namespace

RestQueue::RestQueue(Lab& lab, const std::string& name, Completed completed) : lab_(lab) {
    auto client = lab.server().client();
    client.token(lab.token());
    board_ = test::expect(
                 201, client.post("/v1/boards", boost::json::value{{"name", name}})
    ).text("/id");
    const auto column = [&](const char* column, const char* kind) {
        const boost::json::value body{{"name", column}, {"kind", kind}};
        return test::expect(201, client.post("/v1/boards/" + board_ + "/columns", body))
            .text("/id");
    };
    queue_ = column("To do", "queue");
    if (completed == Completed::goes_on) column("Done", "done");
}

std::string RestQueue::create_request() const {
    return request_text(
        "POST",
        "/v1/boards/" + board_ + "/cards",
        lab_.token(),
        R"({"column_id":")" + queue_ +
            R"(","title":"Look into the report about the slow export","priority":"high"})"
    );
}

void RestQueue::fill(int cards) {
    std::atomic<int> left{cards};
    const auto request = create_request();
    const auto create = [&](Presser& presser) {
        if (left-- <= 0) return false;
        presser.ask(request);
        return true;
    };
    all_of(cards, bench::work_off(workers, connected(lab_, create)));
}

void put_work(Lab& lab, const std::string& board, const std::string& queue, int from, int count) {
    put_cards(lab, board, queue, from, count);
    lab.postgres().run(
        fmt::format(
            R"(INSERT INTO queue (org_id, card_id, board_id, column_id, state, urgency, place)
            SELECT org_id, id, board_id, column_id, 'ready',
                5 - array_position(ARRAY['none', 'low', 'medium', 'high', 'urgent'], priority),
                position
            FROM cards WHERE column_id = '{}' AND number > {})",
            queue,
            from
        ),
        lab.database_url()
    );
}

void RestQueue::fill_at_once(int cards) {
    constexpr int most = 10'000;  // in one statement
    for (; cards > most; cards -= most) fill_at_once(most);
    put_work(lab_, board_, queue_, numbers_, cards);
    numbers_ += cards;
}

std::string RestQueue::claim_request(const std::string& body) const {
    return request_text(
        "POST", "/v1/boards/" + board_ + "/columns/" + queue_ + ":claim-next", lab_.token(), body
    );
}

std::optional<HeldCard> RestQueue::claim(Presser& presser) const {
    const auto claimed = presser.ask(claim_request(R"({"lease_ttl_seconds":3600})"));
    if (claimed.find(R"("claimed":false)") != std::string_view::npos) return std::nullopt;
    return HeldCard{
        std::string(member(claimed, R"("lease":{"object":"lease","id":")")),
        std::string(member(claimed, R"("lease_token":")"))};
}

void RestQueue::complete(Presser& presser, const HeldCard& held) const {
    presser.ask(request_text(
        "POST",
        "/v1/leases/" + held.lease + ":complete",
        lab_.token(),
        R"({"lease_token":")" + held.secret + R"("})"
    ));
}

bool RestQueue::work(Presser& presser) const {
    const auto held = claim(presser);
    if (held) complete(presser, *held);
    return held.has_value();
}

WorkedOff RestQueue::work_off(int cards) const {
    const auto both = [this](Presser& presser) { return work(presser); };
    return all_of(cards, bench::work_off(workers, connected(lab_, both)));
}

WorkedOff RestQueue::claim_all(int cards, std::vector<HeldCard>& held) const {
    std::mutex guard;
    const auto claim_one = [&](Presser& presser) {
        auto next = claim(presser);
        if (!next) return false;
        const std::lock_guard lock(guard);
        held.push_back(std::move(*next));
        return true;
    };
    return all_of(cards, bench::work_off(workers, connected(lab_, claim_one)));
}

WorkedOff RestQueue::complete_all(const std::vector<HeldCard>& held) const {
    std::atomic<std::size_t> next{0};
    const auto complete_one = [&](Presser& presser) {
        const auto mine = next++;
        if (mine >= held.size()) return false;
        complete(presser, held[mine]);
        return true;
    };
    return bench::work_off(workers, connected(lab_, complete_one));
}

bool RestQueue::has_batches() const {
    const auto described = lab_.server().client().get("/openapi.json").body;
    return described.find(R"("/v1/leases:complete")") != std::string::npos &&
           described.find(R"("max_cards")") != std::string::npos;
}

WorkedOff RestQueue::work_off_batches(int cards, int of) const {
    const auto claim = claim_request(fmt::format(R"({{"max_cards":{}}})", of));
    std::atomic<long> completed{0};
    const auto work = [&](Presser& presser) {
        boost::json::array leases;
        for (const auto& each : members(presser.ask(claim), R"("lease_token":")"))
            leases.push_back(boost::json::object{{"lease_token", each}});
        if (leases.empty()) return false;
        const boost::json::value body{{"leases", leases}};
        const auto answer = presser.ask(
            request_text("POST", "/v1/leases:complete", lab_.token(), boost::json::serialize(body))
        );
        completed += static_cast<long>(members(answer, R"("state":"completed)").size());
        return true;
    };
    const double seconds = bench::work_off(workers, connected(lab_, work)).seconds;
    return all_of(cards, {completed, seconds});
}

}  // namespace svc::bench
