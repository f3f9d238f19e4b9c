#include "lab.hpp"
#include "scripts.hpp"
#include "tests/support/workspace.hpp"
#include "work.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <memory>

/// A large board, against the same rows and the same statements without a server; and a small
/// workspace against a large one.
namespace svc::bench {

namespace {

constexpr int columns = 20;
constexpr int clients = 16;
constexpr int moved_cards = 64;  // for each client some of its own

using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;
using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

/// A board with so many cards in each of its columns.
struct BigBoard {
    std::string token, id;
    std::vector<std::string> columns, cards;
};

BigBoard make_board(Lab& lab, const std::string& token, int cards_of_each_column) {
    auto client = lab.server().client();
    client.token(token);
    boost::json::array names;
    for (int i = 0; i < columns; ++i)
        names.push_back(boost::json::object{{"name", fmt::format("Column {}", i)}});
    const boost::json::value wanted{{"name", "Large"}, {"columns", names}};
    const auto made = test::expect(201, client.post("/v1/boards", wanted));
    BigBoard board{.token = token, .id = made.text("/id"), .columns = {}, .cards = {}};
    const auto whole = made.json();
    for (const auto& column : whole.at("column_ids").as_array())
        board.columns.emplace_back(column.as_string());
    int cards = 0;
    for (const auto& column : board.columns) {
        put_cards(lab, board.id, column, cards, cards_of_each_column);
        cards += cards_of_each_column;
    }
    const auto page =
        test::expect(200, client.get("/v1/cards?column_id=" + board.columns[0] + "&page_size=100"));
    const auto first_page = page.json();
    for (const auto& card : first_page.at("results").as_array())
        board.cards.emplace_back(card.at("id").as_string());
    return board;
}

std::string snapshot_request(const BigBoard& board) {
    return request_text("GET", "/v1/boards/" + board.id + "/snapshot", board.token);
}
std::string page_request(const BigBoard& board) {
    return request_text(
        "GET", "/v1/cards?column_id=" + board.columns[1] + "&page_size=100", board.token
    );
}
std::string new_card_request(const BigBoard& board, std::size_t column) {
    return request_text(
        "POST",
        "/v1/boards/" + board.id + "/cards",
        board.token,
        R"({"column_id":")" + board.columns[column] + R"(","title":"Look into the slow export"})"
    );
}
std::string move_request(const BigBoard& board, std::size_t card) {
    return request_text(
        "POST",
        "/v1/cards/" + board.cards[card] + ":move",
        board.token,
        R"({"column_id":")" + board.columns[2 + card % 4] + R"("})"
    );
}

/// The statement with `words` in it that answers this request, as the server sent it.
Logged statement_of(Lab& lab, const std::string& request, const std::string& words) {
    Presser presser(lab.server().port());
    presser.ask(request);
    for (auto& each : record(lab.postgres(), [&] { presser.ask(request); }))
        if (each.text.find(words) != std::string::npos) return std::move(each);
    throw std::runtime_error("there is no statement with " + words);
}

/// Fetches the rows of a statement again and again.
class Fetching {
public:
    Fetching(Lab& lab, const Logged& statement)
        : connection_(
              PQconnectdb(lab.postgres().superuser_url(lab.database_url()).c_str()), &PQfinish
          ),
          parameters_(statement.parameters) {
        const Answer answer(
            PQprepare(connection_.get(), "q", statement.text.c_str(), 0, nullptr), &PQclear
        );
        if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK)
            throw std::runtime_error(PQerrorMessage(connection_.get()));
    }

    int rows() {
        std::vector<const char*> values;
        for (const auto& each : parameters_) values.push_back(each ? each->c_str() : nullptr);
        const Answer answer(
            PQexecPrepared(
                connection_.get(),
                "q",
                static_cast<int>(values.size()),
                values.data(),
                nullptr,
                nullptr,
                0
            ),
            &PQclear
        );
        if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK)
            throw std::runtime_error(PQerrorMessage(connection_.get()));
        return PQntuples(answer.get());
    }

private:
    Connection connection_;
    std::vector<std::optional<std::string>> parameters_;
};

double asked_again(Lab& lab, const std::string& request, double seconds) {
    return press(1, seconds, [&](int) {
        auto presser = std::make_shared<Presser>(lab.server().port());
        return [presser, request] { presser->ask(request); };
    });
}

double fetched_again(Lab& lab, const Logged& statement, double seconds) {
    return press(1, seconds, [&](int) {
        auto fetching = std::make_shared<Fetching>(lab, statement);
        return [fetching] {
            if (fetching->rows() == 0) throw std::runtime_error("no rows");
        };
    });
}

/// How much longer an answer takes than its rows, one client at a time.
void measure_read(
    Lab& lab,
    const Plan& plan,
    Report& report,
    const std::string& name,
    const std::string& request,
    const std::string& words,
    double most
) {
    const auto statement = statement_of(lab, request, words);
    report.note(fmt::format("{}: {} rows", name, Fetching(lab, statement).rows()));
    const std::vector<Variant> variants{
        {"workboard", [&] { return asked_again(lab, request, plan.seconds); }},
        {"libpq", [&] { return fetched_again(lab, statement, plan.seconds); }},
    };
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        name,
        median(values[1]) / median(values[0]),
        at_most(most),
        {{"per_second", rounds_of(variants, values)}}
    );
}

using Requests = std::function<std::string(std::size_t turn)>;

double pressed_by_all(Lab& lab, const Requests& requests, double seconds) {
    return press(clients, seconds, [&](int index) {
        auto presser = std::make_shared<Presser>(lab.server().port());
        return [presser, &requests, turn = static_cast<std::size_t>(index)]() mutable {
            presser->ask(requests(turn));
            turn += clients;
        };
    });
}

/// As often as pgbench runs the same statements, or half as often.
void measure_write(
    Lab& lab,
    const Plan& plan,
    Report& report,
    const std::string& name,
    const Scripts& scripts,
    const Writes& writes,
    const Requests& requests
) {
    const std::vector<Variant> variants{
        {"workboard", [&] { return pressed_by_all(lab, requests, plan.seconds); }},
        {"pgbench",
         [&] {
             return writing_rate(lab, scripts, clients, plan.seconds, writes);
         }},
    };
    const auto values = alternate(variants, plan.rounds);
    report.figure(
        name,
        median(values[0]) / median(values[1]),
        at_least(0.5),
        {{"per_second", rounds_of(variants, values)}}
    );
}

void measure_writes_of(Lab& lab, const BigBoard& board, const Plan& plan, Report& report) {
    Scripts creating, moving;
    for (std::size_t column = 0; column < 4; ++column)
        creating.add(lab, 1, [&, column](Presser& presser) {
            const auto answer = presser.ask(new_card_request(board, column));
            return Done{std::string(member(answer, R"("object":"card","id":")")), std::nullopt};
        });
    for (std::size_t card = 0; card < moved_cards; ++card)
        moving.add(lab, 1, [&, card](Presser& presser) {
            presser.ask(move_request(board, card));
            return Done{board.cards[card], std::nullopt};
        });
    measure_write(
        lab,
        plan,
        report,
        "board-create-card/pgbench",
        creating,
        // Where another card has just come further down, the server tries again; a script does not.
        {"SELECT count(*) FROM cards", 0.4},
        [&](std::size_t turn) { return new_card_request(board, turn % 4); }
    );
    measure_write(
        lab,
        plan,
        report,
        "board-move-card/pgbench",
        moving,
        {"SELECT count(*) FROM event_log", 0.4},
        [&](std::size_t turn) { return move_request(board, turn % moved_cards); }
    );
}

/// Two boards alike, in a workspace of a thousand cards and in one of a hundred thousand: how much
/// of the speed of the one the other has.
void measure_growth(
    Lab& lab, const BigBoard& small, const BigBoard& large, const Plan& plan, Report& report
) {
    using Ask = std::string (*)(const BigBoard&, std::size_t);
    const std::vector<std::pair<std::string, Ask>> operations{
        {"snapshot", [](const BigBoard& board, std::size_t) { return snapshot_request(board); }},
        {"list-cards", [](const BigBoard& board, std::size_t) { return page_request(board); }},
        {"create-card",
         [](const BigBoard& board, std::size_t turn) {
             return new_card_request(board, 6 + turn % 4);
         }},
        {"move-card",
         [](const BigBoard& board, std::size_t turn) {
             return move_request(board, turn % board.cards.size());
         }},
    };
    for (const auto& operation : operations) {
        const auto on = [&](const BigBoard& board) {
            return pressed_by_all(
                lab, [&](std::size_t turn) { return operation.second(board, turn); }, plan.seconds
            );
        };
        const std::vector<Variant> variants{
            {"of_1000", [&] { return on(small); }},
            {"of_100000", [&] { return on(large); }},
        };
        const auto values = alternate(variants, plan.rounds);
        report.figure(
            operation.first + "/hundredfold-cards",
            median(values[0]) / median(values[1]),
            at_most(1.2),
            {{"per_second", rounds_of(variants, values)}}
        );
    }
}

}  // namespace

void measure_boards(Lab& lab, const Plan& plan, Report& report) {
    const auto large_token = test::make_workspace(lab.server(), "large@example.com", "Large")
                                 .mint("integration", "large");
    const auto small_token = test::make_workspace(lab.server(), "small@example.com", "Small")
                                 .mint("integration", "small");
    const auto board = make_board(lab, large_token, 500);
    const auto small = make_board(lab, small_token, 50);
    const auto twin = make_board(lab, large_token, 50);
    for (int i = 0; i < 9; ++i) make_board(lab, large_token, 500);
    lab.postgres().run("VACUUM ANALYZE", lab.database_url());

    report.note("a board of 20 columns and 10,000 cards, in a workspace of 100,000");
    measure_read(
        lab, plan, report, "snapshot/libpq-time", snapshot_request(board), "FROM chosen p", 3
    );
    measure_read(lab, plan, report, "list-cards/libpq-time", page_request(board), "sort_key", 2);
    measure_writes_of(lab, board, plan, report);
    measure_growth(lab, small, twin, plan, report);
}

}  // namespace svc::bench
