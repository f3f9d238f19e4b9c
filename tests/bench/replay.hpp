#pragma once

#include <libpq-fe.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Statements as the server sent them once, kept in tests/bench/before: sent again without a
/// server.
namespace svc::bench {

/// A file of statements. `-- round trip` begins what is sent together. Before each statement a
/// comment has its name, its parameters as a JSON list in which `<name>` stands for a value, and
/// perhaps which columns of the first row become values, as a JSON object.
class Replayed {
public:
    struct Parameter {
        bool null = false;
        std::string text;
    };
    struct Statement {
        std::string name, text;
        std::vector<Parameter> parameters;
        std::map<std::string, std::string> kept;  ///< column of the first row → value's name
    };
    using RoundTrip = std::vector<Statement>;

    explicit Replayed(const std::filesystem::path& file);
    const std::vector<RoundTrip>& round_trips() const { return round_trips_; }

private:
    void read_line(const std::string& line);
    std::vector<RoundTrip> round_trips_;
};

/// A connection that sends them, each prepared when it is first sent.
class Replayer {
public:
    explicit Replayer(const std::string& url);

    /// The value that `<name>` stands for from here on.
    void set(const std::string& name, const std::string& value) { values_[name] = value; }
    const std::string& value(const std::string& name) const { return values_.at(name); }
    /// Throws when a statement is refused, or has no row to keep values of.
    void run(const Replayed& what);

private:
    using Answer = std::unique_ptr<PGresult, decltype(&PQclear)>;

    void send(const Replayed::Statement& statement);
    void take(const Replayed::Statement& statement);
    Answer next();
    std::string filled_in(const std::string& text) const;

    std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
    std::map<std::string, bool> prepared_;
    std::map<std::string, std::string> values_;
    std::vector<bool> preparing_;  ///< of the statements under way
};

}  // namespace svc::bench
