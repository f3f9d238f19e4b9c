#include "lab.hpp"
#include "load.hpp"
#include "statements.hpp"
#include "tests/support/places.hpp"
#include "tests/support/workspace.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <csignal>
#include <thread>

/// get_card with a token: against the statement alone, and against the obvious POCO program.
namespace svc::bench {

namespace {

constexpr int connections = 64;

using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;
using Connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

Connection connect(const std::string& url) {
    Connection connection(PQconnectdb(url.c_str()), &PQfinish);
    if (PQstatus(connection.get()) != CONNECTION_OK)
        throw std::runtime_error(PQerrorMessage(connection.get()));
    return connection;
}

/// Poco::Data knows no URLs.
std::string keywords(const std::string& url) {
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> options(
        PQconninfoParse(url.c_str(), nullptr), &PQconninfoFree
    );
    std::string out;
    for (const auto* each = options.get(); each && each->keyword; ++each)
        if (each->val) out += fmt::format("{}={} ", each->keyword, each->val);
    return out;
}

/// get_card's own statement as the server sent it, and which parameter names the card.
struct CardQuestion {
    Logged statement;
    std::size_t card = 0;
};

CardQuestion card_question(Lab& lab) {
    const auto& id = lab.cards().front();
    const auto ask = request_text("GET", "/v1/cards/" + id, lab.token());
    Presser presser(lab.server().port());
    presser.ask(ask);  // from now on the identity is known and everything is prepared
    for (auto& each : record(lab.postgres(), [&] { presser.ask(ask); })) {
        for (std::size_t i = 0; i < each.parameters.size(); ++i)
            if (each.parameters[i] == id && each.text.find("SELECT") != std::string::npos)
                return {std::move(each), i};
    }
    throw std::runtime_error("get_card's statement was not recorded");
}

std::vector<const char*> pointers(const std::vector<std::optional<std::string>>& values) {
    std::vector<const char*> out;
    for (const auto& value : values) out.push_back(value ? value->c_str() : nullptr);
    return out;
}

Answer prepare(PGconn* connection, const std::string& text) {
    Answer answer(PQprepare(connection, "q", text.c_str(), 0, nullptr), &PQclear);
    if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK)
        throw std::runtime_error(PQerrorMessage(connection));
    return Answer(PQdescribePrepared(connection, "q"), &PQclear);
}

/// Nothing but the statement: prepared once, executed again and again.
double libpq_loop(Lab& lab, const CardQuestion& question, double seconds) {
    const auto url = lab.postgres().superuser_url(lab.database_url());
    return press(connections, seconds, [&](int index) {
        auto connection = std::make_shared<Connection>(connect(url));
        prepare(connection->get(), question.statement.text);
        auto parameters = question.statement.parameters;
        std::size_t turn = static_cast<std::size_t>(index) * 17;
        return [&lab, &question, connection, parameters, turn]() mutable {
            parameters[question.card] = lab.cards()[turn++ % lab.cards().size()];
            const auto values = pointers(parameters);
            const Answer answer(
                PQexecPrepared(
                    connection->get(),
                    "q",
                    static_cast<int>(values.size()),
                    values.data(),
                    nullptr,
                    nullptr,
                    0
                ),
                &PQclear
            );
            if (PQntuples(answer.get()) != 1)
                throw std::runtime_error(
                    "no row: " + std::string(PQerrorMessage(connection->get()))
                );
        };
    });
}

/// Tells the obvious program what to ask: every column as text, and what JSON it becomes.
boost::json::object obvious_question(Lab& lab, const CardQuestion& question) {
    constexpr Oid boolean = 16, int8 = 20, int2 = 21, int4 = 23, float4 = 700, float8 = 701,
                  json = 114, jsonb = 3802, numeric = 1700;
    const auto connection = connect(lab.postgres().superuser_url(lab.database_url()));
    const auto described = prepare(connection.get(), question.statement.text);
    boost::json::array columns, parameters;
    std::string selected;
    for (int i = 0; i < PQnfields(described.get()); ++i) {
        const std::string name = PQfname(described.get(), i);
        const auto type = PQftype(described.get(), i);
        const bool scalar = type == boolean || type == int8 || type == int2 || type == int4 ||
                            type == float4 || type == float8 || type == numeric;
        columns.push_back(
            {{"name", name}, {"json", type == json || type == jsonb}, {"scalar", scalar}}
        );
        // to_json, for PostgreSQL's text of a boolean is t.
        selected += fmt::format(
            "{}{}::text",
            i ? ", " : "",
            scalar ? fmt::format("to_json(q.\"{}\")", name) : fmt::format("q.\"{}\"", name)
        );
    }
    for (const auto& value : question.statement.parameters)
        parameters.push_back(value ? boost::json::value(*value) : boost::json::value());
    return {
        {"sql", "SELECT " + selected + " FROM (" + question.statement.text + ") q"},
        {"card", question.card},
        {"columns", columns},
        {"parameters", parameters},
    };
}

class Obvious {
public:
    Obvious(Lab& lab, const CardQuestion& question)
        : folder_("workboard-obvious"), port_(test::free_port()) {
        const auto file = folder_.path() / "question.json";
        test::write_file(file, boost::json::serialize(obvious_question(lab, question)));
        program_ = std::make_unique<test::Program>(test::Program::Start{
            .command =
                {test::in_build("bin/obvious_poco"),
                 std::to_string(port_),
                 std::to_string(connections + 4),
                 keywords(lab.postgres().superuser_url(lab.database_url())),
                 file},
            .environment = {},
            .folder = {},
            .output = folder_.path() / "output",
        });
        for (int i = 0; i < 400; ++i) {
            if (output().find("ready") != std::string::npos) return;
            std::this_thread::sleep_for(std::chrono::milliseconds(25));
        }
        throw std::runtime_error(output());
    }
    ~Obvious() {
        program_->signal(SIGTERM);
        program_->wait(std::chrono::seconds(5));
    }
    Obvious(const Obvious&) = delete;
    Obvious& operator=(const Obvious&) = delete;
    std::uint16_t port() const { return port_; }
    std::string output() const { return test::read_file(folder_.path() / "output"); }

private:
    test::TempFolder folder_;
    std::uint16_t port_;
    std::unique_ptr<test::Program> program_;
};

/// A wrk script that reads all cards in turn.
std::string reading(Lab& lab) {
    std::string out = "local ids = {";
    for (const auto& id : lab.cards()) out += "'" + id + "',";
    return out + "}\nlocal at = 0\nwrk.headers['X-Board-Version'] = '2026-06-19'\n" +
           "wrk.headers['Authorization'] = 'Bearer " + lab.token() + "'\n" +
           "function request()\n  at = at % #ids + 1\n"
           "  return wrk.format('GET', '/v1/cards/' .. ids[at])\nend\n";
}

/// The obvious program tells the same of a card as far as the database knows it.
void check_same(Lab& lab, const Obvious& obvious) try {
    const auto ask = [&](std::uint16_t port) {
        return test::expect(
                   200,
                   test::Client(port).token(lab.token()).get("/v1/cards/" + lab.cards().front())
        )
            .json();
    };
    const auto ours = ask(lab.server().port()), theirs = ask(obvious.port());
    for (const char* name : {"id", "title", "priority", "labels", "version", "queue"})
        if (ours.at(name) != theirs.at(name))
            throw std::runtime_error(fmt::format(
                "{}: {} here, {} from the obvious program",
                name,
                boost::json::serialize(ours.at(name)),
                boost::json::serialize(theirs.at(name))
            ));
} catch (const std::runtime_error& problem) {
    throw std::runtime_error(problem.what() + ("\n" + obvious.output()));
}

}  // namespace

void measure_reads(Lab& lab, const Plan& plan, Report& report) {
    const auto question = card_question(lab);
    const auto script = reading(lab);
    const auto port = lab.server().port();
    const Obvious obvious(lab, question);
    check_same(lab, obvious);
    report.note("get_card with a token, 64 connections");
    const std::vector<Variant> variants{
        {"workboard", [&] { return wrk(port, connections, plan.seconds, "/", script).per_second; }},
        {"libpq_loop", [&] { return libpq_loop(lab, question, plan.seconds); }},
        {"obvious_poco",
         [&] { return wrk(obvious.port(), connections, plan.seconds, "/", script).per_second; }},
    };
    const auto values = alternate(variants, plan.rounds);
    const auto made_of = rounds_of(variants, values);
    report.figure(
        "get-card/libpq",
        median(values[0]) / median(values[1]),
        at_least(0.8),
        {{"per_second", made_of}}
    );
    report.figure("get-card/obvious-poco", median(values[0]) / median(values[2]), at_least(4));
}

}  // namespace svc::bench
