#include "work.hpp"

#include <fmt/format.h>

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

std::string create_request(Lab& lab, const QueueBoard& board) {
    return request_text(
        "POST",
        "/v1/boards/" + board.id + "/cards",
        lab.token(),
        R"({"column_id":")" + board.columns[0] +
            R"(","title":"Look into the report about the slow export","priority":"high"})"
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
