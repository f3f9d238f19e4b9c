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
    Held(std::unique_ptr<Connection> connection, const Settings& settings, std::int64_t key)
        : settings_(settings), key_(key), connection_(std::move(connection)) {}

    ~Held() override {
        if (connection_->lost()) return;
        try {
            // By name, so that whoever tries next finds it free at once.
            ask(*connection_, let_go, key_);
        } catch (const std::exception&) {
            connection_->lose();  // the server lets go when the session ends
        }
    }

    std::unique_ptr<Tx> begin() override {
        return std::make_unique<Tx>(std::make_unique<Tx::Impl>(*this, Tx::Mode::write));
    }

    bool held() const override { return !connection_->lost() && connection_->stands(); }

    Connection& take(Tx::Mode) override {
        // Never renewed: another session may hold the lock by now.
        if (held()) return *connection_;
        connection_->lose();
        throw unavailable("The lock is lost with its connection to the database.");
    }
    void give(Connection&) noexcept override {}
    const Settings& settings() const override { return settings_; }

private:
    const Settings& settings_;
    const std::int64_t key_;
    const std::unique_ptr<Connection> connection_;
};

}  // namespace

LockConnections::LockConnections(Connector& connector, Watchdog& watchdog, const Settings& settings)
    : connector_(connector), watchdog_(watchdog), settings_(settings) {}
LockConnections::~LockConnections() = default;

std::unique_ptr<Database::Lock> LockConnections::try_lock(std::int64_t key) {
    try {
        auto connection = take();
        if (ask(*connection, try_it, key))
            return std::make_unique<Held>(std::move(connection), settings_, key);
        keep(std::move(connection));
        return nullptr;
    } catch (const Lost& lost) {
        throw unavailable(std::string("The database cannot be reached: ") + lost.what());
    }
}

std::unique_ptr<Connection> LockConnections::take() {
    std::unique_ptr<Connection> kept;
    {
        const std::lock_guard lock(mutex_);
        kept = std::move(free_);
    }
    if (kept && kept->stands()) return kept;
    return std::make_unique<Connection>(connector_, &watchdog_, patience_with(settings_));
}

void LockConnections::keep(std::unique_ptr<Connection> connection) noexcept {
    const std::lock_guard lock(mutex_);
    if (!free_) free_.swap(connection);
}

void LockConnections::close() noexcept {
    const std::lock_guard lock(mutex_);
    free_.reset();
}

}  // namespace svc::db
