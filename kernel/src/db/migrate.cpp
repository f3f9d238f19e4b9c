#include "db/errors.hpp"
#include "db/pipeline.hpp"
#include "db/pool.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <charconv>

namespace svc::db {

namespace {

/// Of this program's migrations, so that no other use of advisory locks meets it.
constexpr std::int64_t migration_lock = 0x776f726b6d696772;  // "workmigr"

struct Applied {
    std::string module;
    std::int64_t number = 0;
    std::string name, sha256;
};
SVC_RECORD(Applied, (module), (number), (name), (sha256));

constexpr Sql list_applied{"db.list_migrations", R"(
    SELECT module, number, name, sha256 FROM kernel_migrations)"};

constexpr Sql lock_out_others{"db.lock_migrations", "SELECT pg_advisory_lock($1)"};
constexpr Sql note_applied{"db.note_migration", R"(
    INSERT INTO kernel_migrations (module, number, name, sha256) VALUES ($1, $2, $3, $4))"};

[[noreturn]] void fail(std::string_view module, std::string_view name, const std::string& why) {
    throw std::runtime_error(
        "migration " + std::string(module) + "/" + std::string(name) + ": " + why
    );
}

/// PostgreSQL's message with the line it is about.
std::string message_of(const PGresult* result) {
    std::string text = PQresultErrorMessage(result);
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

/// The numbers of a module's files are 1, 2, 3 and so on.
void check_numbers(const std::vector<Migration>& steps) {
    std::map<std::string, int> last;
    for (const Migration& step : steps)
        if (step.number != ++last[step.module])
            fail(
                step.module,
                step.name,
                "its number should be " + std::to_string(last[step.module]) +
                    ": numbers begin with 1 and leave none out"
            );
}

const Migration* find(const std::vector<Migration>& steps, const Applied& applied) {
    for (const Migration& step : steps)
        if (step.module == applied.module && step.number == applied.number) return &step;
    return nullptr;
}

/// What is still to be applied. Throws when what was applied is not what is there.
std::vector<Migration> missing(
    const std::vector<Migration>& steps, const std::vector<Applied>& applied
) {
    const auto is_known = [&](std::string_view module) {
        return std::ranges::any_of(steps, [&](const auto& step) { return step.module == module; });
    };
    std::vector<Migration> left = steps;
    for (const Applied& each : applied) {
        // What belongs to a module that is turned off stays as it is.
        if (!is_known(each.module)) continue;
        const Migration* step = find(steps, each);
        if (!step) fail(each.module, each.name, "was applied to this database but is missing here");
        if (step->name != each.name)
            fail(each.module, step->name, "was applied to this database as " + each.name);
        if (hex(sha256(step->sql)) != each.sha256)
            fail(
                each.module,
                each.name,
                "has changed since it was applied to this database; undo that, and put the change "
                "into a new file"
            );
        std::erase_if(left, [&](const Migration& other) {
            return other.module == each.module && other.number == each.number;
        });
    }
    return left;
}

/// The one session that migrates, with no time limit on its statements.
class Migrator {
public:
    explicit Migrator(const Settings& settings)
        : connector_(settings, Use::migration), connection_(connector_, nullptr, {}) {
        // Held until the session ends. The table is made under it too: two servers that do so
        // at once would get in each other's way.
        Params key;
        key.add(migration_lock);
        run(lock_out_others, key);
        script(migrations_table);
    }

    std::vector<Applied> applied() {
        const ResultPtr result = run(list_applied, {});
        std::vector<Applied> rows(static_cast<std::size_t>(PQntuples(result.get())));
        const Binding binding(record_of<Applied>(), result.get(), list_applied.name);
        for (std::size_t i = 0; i < rows.size(); ++i)
            binding.read(result.get(), static_cast<int>(i), &rows[i], list_applied.name);
        return rows;
    }

    void apply(const Migration& step) {
        script("BEGIN; SELECT set_config('app.all_orgs', 'on', true)");
        const ResultPtr result = connection_.run_script(step.sql);
        if (const auto state = PQresultStatus(result.get());
            state != PGRES_COMMAND_OK && state != PGRES_TUPLES_OK && state != PGRES_EMPTY_QUERY)
            fail(step.module, step.name, message_of(result.get()));
        if (PQtransactionStatus(connection_.native()) != PQTRANS_INTRANS)
            fail(step.module, step.name, "ends the transaction that it runs in");
        Params note;
        note.add(step.module);
        note.add(step.number);
        note.add(step.name);
        note.add(hex(sha256(step.sql)));
        run(note_applied, note);
        script("COMMIT");
    }

private:
    ResultPtr run(const Sql& sql, const Params& params) {
        Answer answer;
        Pipeline pipeline(connection_);
        pipeline.add(sql, params.values(), &answer);
        if (const auto refused = pipeline.exchange())
            throw_error(refused->error.get(), refused->sql.name);
        return std::move(answer.result);
    }
    void script(const std::string& text) {
        const ResultPtr result = connection_.run_script(text);
        if (PQresultStatus(result.get()) == PGRES_FATAL_ERROR)
            throw_error(result.get(), "db.migrate");
    }

    Connector connector_;
    Connection connection_;
};

/// Nothing when the database has never been migrated.
std::vector<Applied> look(Database& database) {
    std::vector<Applied> rows;
    try {
        database.transact(Tx::Mode::read, [&](Tx& tx) { rows = tx.all<Applied>(list_applied); });
    } catch (const SqlError& error) {
        if (error.state() != sqlstate::undefined_table) throw;
    }
    return rows;
}

}  // namespace

const char* const migrations_table = R"(
    CREATE TABLE IF NOT EXISTS kernel_migrations (
        module     text NOT NULL,
        number     integer NOT NULL,
        name       text NOT NULL,
        sha256     text NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (module, number)
    ))";

std::vector<Migration> unpack_migrations(std::string_view module, std::string_view packed) {
    constexpr std::string_view mark = "--@migration ";
    std::vector<Migration> steps;
    for (auto at = packed.find(mark); at != packed.npos;) {
        const auto name_end = packed.find('\n', at);
        auto next = packed.find("\n" + std::string(mark), at);
        if (next != packed.npos) ++next;
        Migration step;
        step.module = module;
        step.name = packed.substr(at + mark.size(), name_end - at - mark.size());
        step.sql = packed.substr(name_end + 1, next == packed.npos ? next : next - name_end - 1);
        const auto digits =
            std::from_chars(step.name.data(), step.name.data() + step.name.size(), step.number);
        if (digits.ec != std::errc() || *digits.ptr != '_')
            fail(module, step.name, "a file's name begins with its number: 0001_what.sql");
        steps.push_back(std::move(step));
        at = next;
    }
    return steps;
}

std::vector<Migration> pending(Database& database, const std::vector<Migration>& steps) {
    check_numbers(steps);
    return missing(steps, look(database));
}

std::vector<Migration> migrate(Database& database, const std::vector<Migration>& steps) {
    if (pending(database, steps).empty()) return {};
    try {
        Migrator migrator(database.settings());
        // Another server may have done it while we waited for the lock.
        const std::vector<Migration> left = missing(steps, migrator.applied());
        for (const Migration& step : left) migrator.apply(step);
        return left;
    } catch (const Lost& lost) {
        throw std::runtime_error(
            std::string("the connection broke while migrating: ") + lost.what()
        );
    }
}

}  // namespace svc::db
