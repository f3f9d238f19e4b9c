#include "db/lock.hpp"

#include "db/errors.hpp"
#include "db/pool.hpp"
#include "db/tx_impl.hpp"

namespace svc::db {

namespace {

constexpr Sql try_it{"db.try_lock", "SELECT pg_try_advisory_lock($1)"};
constexpr Sql let_go{"db.unlock", "SELECT pg_advisory_unlock($1)"};

/// Runs one statement whose answer is one boolean.
bool ask(Connection& connection, const Sql& sql, std::int64_t key) {
    Params params;
    params.add(key);
    Answer answer;
    Pipeline pipeline(connection);
    pipeline.add(sql, params.values(), &answer);
    if (const auto refused = pipeline.exchange())
        throw_error(refused->error.get(), refused->sql.name);
    return *PQgetvalue(answer.result.get(), 0, 0) == 't';
}

class Held final : public Database::Lock, public Source {
public:
    Held(Connector& connector, Watchdog& watchdog, const Settings& settings, std::int64_t key)
        : settings_(settings),
          key_(key),
          connection_(connector, &watchdog, patience_with(settings)) {}

    ~Held() override {
        if (connection_.lost()) return;
        try {
            // By name, so that whoever tries next finds it free at once.
            ask(connection_, let_go, key_);
        } catch (const std::exception&) {
            connection_.lose();  // the server lets go when the session ends
        }
    }

    bool obtain() { return ask(connection_, try_it, key_); }

    std::unique_ptr<Tx> begin() override {
        return std::make_unique<Tx>(std::make_unique<Tx::Impl>(*this, Tx::Mode::write));
    }

    bool held() const override { return !connection_.lost() && connection_.stands(); }

    Connection& take(Tx::Mode) override {
        // Never renewed: another session may hold the lock by now.
        if (held()) return connection_;
        connection_.lose();
        throw unavailable("The lock is lost with its connection to the database.");
    }
    void give(Connection&) noexcept override {}
    const Settings& settings() const override { return settings_; }

private:
    const Settings& settings_;
    const std::int64_t key_;
    mutable Connection connection_;
};

}  // namespace

std::unique_ptr<Database::Lock> take_lock(
    Connector& connector, Watchdog& watchdog, const Settings& settings, std::int64_t key
) {
    try {
        auto lock = std::make_unique<Held>(connector, watchdog, settings, key);
        if (!lock->obtain()) return nullptr;
        return lock;
    } catch (const Lost& lost) {
        throw unavailable(std::string("The database cannot be reached: ") + lost.what());
    }
}

}  // namespace svc::db
