// The baseline: get_card as one writes it first with POCO. Stock HTTPServer with a thread for each
// connection, a session of the pool and a new Statement for each question, Poco::JSON for the
// answer. Keep-alive works. It asks the database the same question as the server does, checks the
// same token, and leaves out what the server does beside that (row-level security, log, metrics).
//
// obvious_poco <port> <threads> <connection string> <question.json>
#include <Poco/Data/PostgreSQL/Connector.h>
#include <Poco/Data/RecordSet.h>
#include <Poco/Data/SessionPool.h>
#include <Poco/DigestEngine.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/SHA2Engine.h>
#include <Poco/ThreadPool.h>
#include <Poco/URI.h>

#include <csignal>
#include <fstream>
#include <iostream>

using namespace Poco::Data::Keywords;
using Poco::Net::HTTPServerRequest;
using Poco::Net::HTTPServerResponse;

namespace {

/// The question as the benchmark hands it over: the server's own statement, its parameters, which
/// of them is the card's id, and what kind of JSON each column becomes.
struct Question {
    struct Column {
        std::string name;
        bool json = false;    // already JSON: objects, lists
        bool scalar = false;  // a number or true or false
    };
    std::string sql;
    std::vector<Poco::Nullable<std::string>> parameters;
    std::size_t card = 0;
    std::vector<Column> columns;

    explicit Question(const std::string& file) {
        std::ifstream stream(file);
        Poco::JSON::Parser parser;
        const auto in = parser.parse(stream).extract<Poco::JSON::Object::Ptr>();
        sql = in->getValue<std::string>("sql");
        card = in->getValue<std::size_t>("card");
        const auto values = in->getArray("parameters");
        for (const auto& value : *values) {
            if (value.isEmpty()) parameters.emplace_back();
            else parameters.emplace_back(value.convert<std::string>());
        }
        const auto named = in->getArray("columns");
        for (unsigned i = 0; i < named->size(); ++i) {
            const auto column = named->getObject(i);
            columns.push_back(
                {column->getValue<std::string>("name"),
                 column->getValue<bool>("json"),
                 column->getValue<bool>("scalar")}
            );
        }
    }
};

class Handler : public Poco::Net::HTTPRequestHandler {
public:
    Handler(Poco::Data::SessionPool& pool, const Question& question)
        : pool_(pool), question_(question) {}

    void handleRequest(HTTPServerRequest& request, HTTPServerResponse& response) override try {
        response.setContentType("application/json");
        response.setChunkedTransferEncoding(true);
        if (!request.has("X-Board-Version")) return refuse(response, 400, "missing_version");
        Poco::Data::Session session = pool_.get();
        if (!knows(session, request.get("Authorization", "")))
            return refuse(response, 401, "unauthorized");
        const auto path = Poco::URI(request.getURI()).getPath();
        const auto card = find(session, path.substr(path.rfind('/') + 1));
        if (!card) return refuse(response, 404, "object_not_found");
        card->stringify(response.send());
    } catch (const Poco::Exception& problem) {
        std::cerr << problem.displayText() << std::endl;
        throw;
    }

private:
    static void refuse(HTTPServerResponse& response, int status, const std::string& code) {
        response.setStatus(static_cast<HTTPServerResponse::HTTPStatus>(status));
        Poco::JSON::Object body;
        body.set("object", "error");
        body.set("status", status);
        body.set("code", code);
        body.stringify(response.send());
    }

    static bool knows(Poco::Data::Session& session, const std::string& authorization) {
        if (authorization.rfind("Bearer ", 0) != 0) return false;
        Poco::SHA2Engine engine;
        engine.update(authorization.substr(7));
        std::string digest = Poco::DigestEngine::digestToHex(engine.digest()), org, role, owner;
        Poco::Data::Statement statement(session);
        statement << "SELECT t.org_id::text, t.role, m.role FROM tokens t JOIN memberships m"
                     " ON m.org_id = t.org_id AND m.user_id = t.owner_user_id"
                     " WHERE t.digest = decode($1, 'hex') AND t.revoked_at IS NULL"
                     " AND (t.expires_at IS NULL OR t.expires_at > now())",
            into(org), into(role), into(owner), use(digest);
        return statement.execute() == 1;
    }

    Poco::JSON::Object::Ptr find(Poco::Data::Session& session, const std::string& id) const {
        auto parameters = question_.parameters;
        parameters[question_.card] = id;
        Poco::Data::Statement statement(session);
        statement << question_.sql;
        for (auto& parameter : parameters) statement, use(parameter);
        statement.execute();
        Poco::Data::RecordSet rows(statement);
        if (rows.rowCount() == 0) return nullptr;
        Poco::JSON::Object::Ptr out = new Poco::JSON::Object;
        for (std::size_t i = 0; i < question_.columns.size(); ++i) {
            const auto& column = question_.columns[i];
            const auto value = rows.value(i);
            if (value.isEmpty()) out->set(column.name, Poco::Dynamic::Var());
            else if (column.json || column.scalar) {
                Poco::JSON::Parser parser;
                const auto text = value.convert<std::string>();
                // Poco parses no lone scalar.
                const auto list = parser.parse("[" + text + "]").extract<Poco::JSON::Array::Ptr>();
                out->set(column.name, list->get(0));
            } else {
                out->set(column.name, value.convert<std::string>());
            }
        }
        return out;
    }

    Poco::Data::SessionPool& pool_;
    const Question& question_;
};

class Factory : public Poco::Net::HTTPRequestHandlerFactory {
public:
    Factory(Poco::Data::SessionPool& pool, const Question& question)
        : pool_(pool), question_(question) {}
    Poco::Net::HTTPRequestHandler* createRequestHandler(const HTTPServerRequest&) override {
        return new Handler(pool_, question_);
    }

private:
    Poco::Data::SessionPool& pool_;
    const Question& question_;
};

}  // namespace

int main(int count, char** words) {
    if (count != 5) return 2;
    std::signal(SIGPIPE, SIG_IGN);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);

    const int threads = std::stoi(words[2]);
    const Question question(words[4]);
    Poco::Data::PostgreSQL::Connector::registerConnector();
    Poco::Data::SessionPool pool("postgresql", words[3], 1, threads + 2, 600);
    auto* parameters = new Poco::Net::HTTPServerParams;
    parameters->setMaxThreads(threads);
    parameters->setMaxQueued(1000);
    parameters->setKeepAlive(true);
    parameters->setMaxKeepAliveRequests(0);
    Poco::ThreadPool workers(2, threads);
    Poco::Net::ServerSocket socket;
    socket.bind(
        Poco::Net::SocketAddress("127.0.0.1", static_cast<Poco::UInt16>(std::stoi(words[1]))), true
    );
    socket.listen(1024);
    Poco::Net::HTTPServer server(new Factory(pool, question), workers, socket, parameters);
    server.start();
    std::cout << "ready" << std::endl;
    int signal = 0;
    sigwait(&set, &signal);
    std::_Exit(0);  // its threads wait for requests that do not come
}
