#include "work.hpp"

#include <fmt/format.h>

#include <memory>

namespace svc::bench {

std::string_view member(std::string_view body, std::string_view before) {
    const auto at = body.find(before);
    if (at == std::string_view::npos)
        throw std::runtime_error(fmt::format("no {} in {}", before, body));
    const auto start = at + before.size();
    return body.substr(start, body.find('"', start) - start);
}

std::string get_request(Lab& lab, const std::string& card) {
    return request_text("GET", "/v1/cards/" + card, lab.token());
}

std::vector<std::string> get_requests(Lab& lab, const std::vector<std::string>& cards) {
    std::vector<std::string> out;
    for (const auto& card : cards) out.push_back(get_request(lab, card));
    return out;
}

std::vector<std::string> get_requests_apart(Lab& lab, const std::vector<std::string>& cards) {
    auto out = get_requests(lab, cards);
    for (std::size_t i = 0; i < out.size(); ++i)
        out[i].insert(out[i].find("\r\n") + 2, fmt::format("User-Agent: reader/{}\r\n", i));
    return out;
}

WorkedOff ask(Lab& lab, double seconds, const std::vector<std::string>& requests) {
    constexpr int clients = 16;
    return work_for(clients, seconds, [&](int client) -> std::function<void()> {
        const auto& request = requests[static_cast<std::size_t>(client) % requests.size()];
        return [&request, presser = std::make_shared<Presser>(lab.server().port())] {
            presser->ask(request);
        };
    });
}

std::string create_request(Lab& lab, const QueueBoard& board) {
    return request_text(
        "POST",
        "/v1/boards/" + board.id + "/cards",
        lab.token(),
        R"({"column_id":")" + board.columns[0] +
            R"(","title":"Look into the report about the slow export","priority":"high"})"
    );
}

void put_cards(Lab& lab, const std::string& board, const std::string& column, int from, int count) {
    lab.postgres().run(
        fmt::format(
            R"(INSERT INTO cards (
                org_id, id, board_id, column_id, number, position, title, priority, created_by,
                last_edited_by)
            SELECT k.org_id, gen_random_uuid(), k.board_id, k.id, {0} + n,
                'V' || lpad(n::text, 7, '0'), 'Card ' || n || ': look into the slow export',
                (ARRAY['none', 'low', 'medium', 'high', 'urgent'])[1 + n % 5], w.who, w.who
            FROM columns k
            CROSS JOIN LATERAL (
                SELECT jsonb_build_object('object', 'user', 'id', k.created_by, 'principal_type',
                    'user', 'name', 'Ada') AS who
            ) w
            CROSS JOIN generate_series(1, {1}) n
            WHERE k.id = '{2}')",
            from,
            count,
            column
        ),
        lab.database_url()
    );
    lab.postgres().run(
        fmt::format(
            "UPDATE board_counters SET last_number = {0}, card_count = {0} WHERE board_id = '{1}'",
            from + count,
            board
        ),
        lab.database_url()
    );
}

Pair::Pair(Lab& lab, const QueueBoard& board, int from)
    : token_(lab.token()),
      claim_(request_text(
          "POST",
          "/v1/boards/" + board.id + "/columns/" + board.columns[from] + ":claim-next",
          token_,
          "{}"
      )),
      to_(board.columns[1 - from]) {}

void Pair::run(Presser& presser) {
    const auto claimed = presser.ask(claim_);
    lease_ = member(claimed, R"("lease":{"object":"lease","id":")");
    card_ = member(claimed, R"("card_id":")");
    const std::string secret(member(claimed, R"("lease_token":")"));
    presser.ask(request_text(
        "POST",
        "/v1/leases/" + lease_ + ":complete",
        token_,
        R"({"lease_token":")" + secret + R"(","target_column_id":")" + to_ + R"("})"
    ));
}

}  // namespace svc::bench
