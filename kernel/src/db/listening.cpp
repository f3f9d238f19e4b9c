#include "db/listening.hpp"

#include "db/errors.hpp"
#include "db/pipeline.hpp"

namespace svc::db {

namespace {

constexpr std::chrono::milliseconds patience{3'000};
constexpr std::size_t most_at_once = 100;

// One channel of PostgreSQL's for all: its name is part of a statement, and those are not
// assembled. Ours stands in front of each message.
constexpr Sql begin_listening{"db.listen", "LISTEN workboard"};
constexpr Sql notify{"db.notify", "SELECT pg_notify('workboard', $1)"};

[[noreturn]] void gone(std::string_view why) {
    throw std::runtime_error(std::string(why.substr(0, why.find('\n'))));
}

using NotifyPtr = std::unique_ptr<PGnotify, decltype(&PQfreemem)>;

class Listening final : public BusConnection {
public:
    Listening(Connector& connector, Watchdog& watchdog, const std::string& channel)
        : start_(channel + ' '), connection_(connector, &watchdog, patience) {
        run(begin_listening, {});
    }

    int descriptor() const override { return PQsocket(connection_.native()); }

    void send(std::string_view message) override {
        Params params;
        params.add(start_ + std::string(message));
        run(notify, params.values());
    }

    std::vector<std::string> receive() override {
        PGconn* native = connection_.native();
        if (PQconsumeInput(native) != 1) gone(PQerrorMessage(native));
        std::vector<std::string> out;
        while (out.size() < most_at_once) {
            const NotifyPtr each(PQnotifies(native), &PQfreemem);
            if (!each) break;
            const std::string_view text = each->extra;
            if (text.starts_with(start_)) out.emplace_back(text.substr(start_.size()));
        }
        if (PQstatus(native) != CONNECTION_OK) gone(PQerrorMessage(native));
        return out;
    }

private:
    void run(const Sql& sql, std::span<const char* const> values) try {
        Answer answer;
        Pipeline pipeline(connection_);
        pipeline.add(sql, values, &answer);
        if (const auto refused = pipeline.exchange())
            throw_error(refused->error.get(), refused->sql.name);
    } catch (const Lost& lost) {
        gone(lost.what());
    }

    const std::string start_;
    Connection connection_;
};

}  // namespace

std::unique_ptr<BusConnection> listen(
    Connector& connector, Watchdog& watchdog, const std::string& channel
) try {
    return std::make_unique<Listening>(connector, watchdog, channel);
} catch (const Lost& lost) {
    gone(lost.what());
}

}  // namespace svc::db
