#include "replay.hpp"

#include "tests/support/program.hpp"

#include <boost/json.hpp>

#include <sstream>
#include <stdexcept>

namespace svc::bench {

namespace {

constexpr std::string_view comment = "-- ";
constexpr std::string_view new_round_trip = "-- round trip";

/// "name [parameters] {kept}".
Replayed::Statement read_heading(const std::string& text) {
    Replayed::Statement statement;
    const auto list = text.find(" ["), object = text.rfind("] {");
    statement.name = text.substr(0, list);
    const bool keeps = object != std::string::npos;
    const auto parameters = text.substr(list + 1, keeps ? object - list : std::string::npos);
    for (const auto& each : boost::json::parse(parameters).as_array()) {
        if (each.is_null()) statement.parameters.push_back({true, {}});
        else statement.parameters.push_back({false, std::string(each.as_string())});
    }
    if (!keeps) return statement;
    for (const auto& [column, name] : boost::json::parse(text.substr(object + 2)).as_object())
        statement.kept.emplace(column, name.as_string());
    return statement;
}

}  // namespace

Replayed::Replayed(const std::filesystem::path& file) {
    std::istringstream lines(test::read_file(file));
    for (std::string line; std::getline(lines, line);) read_line(line);
    if (round_trips_.empty()) throw std::runtime_error("no statements in " + file.string());
}

void Replayed::read_line(const std::string& line) {
    if (line == new_round_trip) {
        round_trips_.emplace_back();
    } else if (line.starts_with(comment) && line.find(" [") != std::string::npos) {
        round_trips_.back().push_back(read_heading(line.substr(comment.size())));
    } else if (!line.starts_with(comment) && !line.empty()) {
        round_trips_.back().back().text += line + "\n";
    }
}

Replayer::Replayer(const std::string& url) : connection_(PQconnectdb(url.c_str()), &PQfinish) {
    if (PQstatus(connection_.get()) != CONNECTION_OK || PQenterPipelineMode(connection_.get()) != 1)
        throw std::runtime_error(PQerrorMessage(connection_.get()));
}

void Replayer::run(const Replayed& what) {
    for (const auto& trip : what.round_trips()) {
        preparing_.clear();
        for (const auto& statement : trip) send(statement);
        if (PQpipelineSync(connection_.get()) != 1)
            throw std::runtime_error(PQerrorMessage(connection_.get()));
        std::size_t index = 0;
        for (const auto& statement : trip) {
            if (preparing_[index++]) take({"preparing " + statement.name, {}, {}, {}});
            take(statement);
        }
        if (PQresultStatus(next().get()) != PGRES_PIPELINE_SYNC)
            throw std::runtime_error("the answers do not fit the statements");
    }
}

void Replayer::send(const Replayed::Statement& statement) {
    bool& prepared = prepared_[statement.name];
    preparing_.push_back(!prepared);
    bool sent = prepared ||
                PQsendPrepare(
                    connection_.get(), statement.name.c_str(), statement.text.c_str(), 0, nullptr
                ) == 1;
    prepared = true;
    std::vector<std::string> texts;
    for (const auto& each : statement.parameters) texts.push_back(filled_in(each.text));
    std::vector<const char*> values;
    for (std::size_t i = 0; i < texts.size(); ++i)
        values.push_back(statement.parameters[i].null ? nullptr : texts[i].c_str());
    sent = sent && PQsendQueryPrepared(
                       connection_.get(),
                       statement.name.c_str(),
                       static_cast<int>(values.size()),
                       values.data(),
                       nullptr,
                       nullptr,
                       0
                   ) == 1;
    if (!sent) throw std::runtime_error(PQerrorMessage(connection_.get()));
}

void Replayer::take(const Replayed::Statement& statement) {
    const Answer answer = next();
    const auto status = PQresultStatus(answer.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
        throw std::runtime_error(statement.name + ": " + PQresultErrorMessage(answer.get()));
    if (next()) throw std::runtime_error("the answers do not fit the statements");
    for (const auto& [column, name] : statement.kept) {
        const int at = PQfnumber(answer.get(), column.c_str());
        if (at < 0 || PQntuples(answer.get()) == 0)
            throw std::runtime_error(statement.name + " gives no " + column);
        values_[name] = PQgetvalue(answer.get(), 0, at);
    }
}

Replayer::Answer Replayer::next() { return {PQgetResult(connection_.get()), &PQclear}; }

std::string Replayer::filled_in(const std::string& text) const {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto begin = text.find('<', at), end = text.find('>', begin);
        if (begin == std::string::npos || end == std::string::npos) return out + text.substr(at);
        out += text.substr(at, begin - at);
        out += values_.at(text.substr(begin + 1, end - begin - 1));
        at = end + 1;
    }
    return out;
}

}  // namespace svc::bench
