#include "db/database.hpp"

#include "db/errors.hpp"
#include "db/listening.hpp"
#include "db/lock.hpp"
#include "db/pool.hpp"
#include "db/tx_impl.hpp"

#include <map>
#include <random>
#include <thread>

namespace svc::db {

namespace {

constexpr int oldest_version = 15;
constexpr int most_repeats = 3;
constexpr std::chrono::milliseconds health_patience{1'000};

struct ServerRow {
    std::int64_t version = 0;  ///< as 150004
    std::string role;
    bool above_policies = false;
};
SVC_RECORD(ServerRow, (version), (role), (above_policies));

constexpr Sql look_at_server{"db.look_at_server", R"(
    SELECT current_setting('server_version_num')::bigint AS version, rolname AS role,
           rolsuper OR rolbypassrls AS above_policies
      FROM pg_roles WHERE rolname = current_user)"};
constexpr Sql ping{"db.ping", "SELECT 1"};

void pause_before(int repeat) {
    // Two that met once should not meet again in step.
    static thread_local std::minstd_rand random{std::random_device{}()};
    const int most = 4 << repeat;  // milliseconds
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution(1, most)(random))
    );
}

}  // namespace

class Database::Impl {
public:
    explicit Impl(Settings given)
        : settings(std::move(given)),
          connector(settings, Use::work),
          pool(settings, connector, watchdog),
          locks(connector, watchdog, settings),
          health_connector(settings, Use::work) {}

    Settings settings;
    Watchdog watchdog;
    Connector connector;
    Pool pool;
    LockConnections locks;
    std::atomic<std::uint64_t> retries{0};

    // Of its own, so that a pool in full use does not look like a dead database.
    Connector health_connector;
    std::mutex health_mutex;
    std::unique_ptr<Connection> health;

    // By what they connect to; a connector keeps the sessions that broke.
    std::mutex listen_mutex;
    std::map<std::string, std::unique_ptr<Connector>> listen_connectors;
};

Database::Database(Settings settings) : impl_(std::make_unique<Impl>(std::move(settings))) {}
Database::~Database() { close(); }

void Database::open() {
    try {
        ServerRow server;
        transact(Tx::Mode::read, [&](Tx& tx) {
            server = tx.one<ServerRow>(look_at_server).value();
        });
        if (server.version < oldest_version * 10'000)
            throw std::runtime_error(
                "PostgreSQL " + std::to_string(server.version / 10'000) +
                " is too old; this needs 15 or later"
            );
        if (server.above_policies)
            throw std::runtime_error(
                "the role \"" + server.role +
                "\" is above row-level security; connect as one that is neither SUPERUSER nor "
                "BYPASSRLS and owns the database: CREATE ROLE workboard LOGIN PASSWORD '…'; "
                "ALTER DATABASE … OWNER TO workboard"
            );
    } catch (const Failure& failure) {
        std::string why = failure.what();
        try {
            impl_->connector.close(impl_->connector.open());
        } catch (const Lost& lost) {
            why = lost.what();
        }
        throw std::runtime_error("database.url: cannot connect: " + why);
    }
}

void Database::close() noexcept {
    impl_->pool.close();
    impl_->locks.close();
    const std::lock_guard lock(impl_->health_mutex);
    impl_->health.reset();
}

std::unique_ptr<Tx> Database::begin(Tx::Mode mode) {
    return std::make_unique<Tx>(std::make_unique<Tx::Impl>(impl_->pool, mode));
}

void Database::transact(Tx::Mode mode, const std::function<void(Tx&)>& work) {
    for (int repeat = 0;; ++repeat) {
        try {
            const auto tx = begin(mode);
            work(*tx);
            return tx->commit();
        } catch (const RetryTransaction& again) {
            if (repeat == most_repeats)
                throw unavailable("Others are changing the same things; try again in a moment.");
        }
        impl_->retries.fetch_add(1, std::memory_order_relaxed);
        pause_before(repeat);
    }
}

std::unique_ptr<Database::Lock> Database::try_lock(std::int64_t key) {
    return impl_->locks.try_lock(key);
}

std::unique_ptr<BusConnection> Database::listen(
    const std::string& url, const std::string& channel
) {
    Connector* connector = nullptr;
    {
        const std::lock_guard lock(impl_->listen_mutex);
        auto& known = impl_->listen_connectors[url];
        if (!known) {
            Settings settings = impl_->settings;
            if (!url.empty()) settings.url = url, settings.url_setting = "url";
            settings.synchronous_commit = false;  // a wake-up is worth no wait for the disk
            known = std::make_unique<Connector>(settings, Use::work);
        }
        connector = known.get();
    }
    return db::listen(*connector, impl_->watchdog, channel);
}

bool Database::reachable() noexcept {
    try {
        const std::lock_guard lock(impl_->health_mutex);
        auto& health = impl_->health;
        if (!health)
            health = std::make_unique<Connection>(
                impl_->health_connector, &impl_->watchdog, health_patience
            );
        else if (health->lost() || !health->stands()) health->renew();
        Pipeline pipeline(*health);
        pipeline.add(ping, {}, nullptr);
        return !pipeline.exchange();
    } catch (const std::exception&) {
        return false;
    }
}

Load Database::load() const {
    Load load{};
    impl_->pool.add_to(load);
    load.retries = impl_->retries.load(std::memory_order_relaxed);
    return load;
}

const Settings& Database::settings() const { return impl_->settings; }

}  // namespace svc::db
