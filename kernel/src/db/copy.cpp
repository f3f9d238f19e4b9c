#include "db/copy.hpp"

#include "db/errors.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

namespace svc::db {

namespace {

std::string said_by(PGconn* connection) {
    std::string why = PQerrorMessage(connection);
    while (why.ends_with('\n')) why.pop_back();
    return why;
}

[[noreturn]] void fail(PGconn* connection, const std::string& what) {
    throw std::runtime_error(what + ": " + said_by(connection));
}

std::string literal(std::string_view text) {
    std::string out = "'";
    for (const char each : text) {
        if (each == '\'') out += '\'';
        out += each;
    }
    return out + '\'';
}

/// Members of extensions come and go with them.
std::string not_of_extension(std::string_view catalog, std::string_view oid) {
    return " AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = '" + std::string(catalog) +
           "'::regclass AND d.objid = " + std::string(oid) + " AND d.deptype = 'e')";
}

const std::string in_our_schema = " = current_schema()::text::regnamespace";

const std::string own_tables =
    "FROM pg_class c WHERE c.relkind = 'r' AND c.relname <> 'kernel_migrations'"
    " AND c.relnamespace" +
    in_our_schema + not_of_extension("pg_class", "c.oid");

std::int64_t number(const TextRows& rows) { return std::stoll(rows.at(0).at(0)); }

}  // namespace

// ---------------------------------------------------------------------------- CopySession

CopySession::CopySession(const Settings& settings)
    : connector_(settings, Use::migration), connection_(connector_, nullptr, {}) {
    // COPY and scripts have no place in a pipeline.
    PGconn* native = connection_.native();
    if (PQexitPipelineMode(native) != 1 || PQsetnonblocking(native, 0) != 0)
        fail(native, "PostgreSQL");
}

ResultPtr CopySession::execute(const std::string& script) {
    ResultPtr result(PQexec(connection_.native(), script.c_str()));
    const auto status = PQresultStatus(result.get());
    if (status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE)
        throw SqlError(
            std::string(diagnostic(result.get(), PG_DIAG_SQLSTATE)),
            "PostgreSQL: " + said_by(connection_.native())
        );
    return result;
}

TextRows CopySession::rows(const std::string& script) {
    const ResultPtr result = execute(script);
    TextRows out(static_cast<std::size_t>(PQntuples(result.get())));
    for (std::size_t row = 0; row < out.size(); ++row)
        for (int column = 0; column < PQnfields(result.get()); ++column)
            out[row].emplace_back(PQgetvalue(result.get(), static_cast<int>(row), column));
    return out;
}

std::int64_t CopySession::copy_out(const std::string& statement, const CopySink& to) {
    PGconn* native = connection_.native();
    if (PQresultStatus(execute(statement).get()) != PGRES_COPY_OUT) fail(native, statement);
    constexpr std::size_t piece = 256 << 10;
    std::string gathered;
    std::int64_t rows = 0;
    char* row = nullptr;
    int size = 0;
    while ((size = PQgetCopyData(native, &row, 0)) > 0) {
        gathered.append(row, static_cast<std::size_t>(size));
        PQfreemem(row);
        ++rows;
        if (gathered.size() < piece) continue;
        to(gathered);
        gathered.clear();
    }
    if (!gathered.empty()) to(gathered);
    if (size == -2) fail(native, statement);
    const ResultPtr end(PQgetResult(native));
    if (PQresultStatus(end.get()) != PGRES_COMMAND_OK) fail(native, statement);
    while (ResultPtr more{PQgetResult(native)}) {
    }
    return rows;
}

std::int64_t CopySession::copy_in(const std::string& statement, const CopySource& from) {
    PGconn* native = connection_.native();
    if (PQresultStatus(execute(statement).get()) != PGRES_COPY_IN) fail(native, statement);
    for (auto piece = from(); !piece.empty(); piece = from())
        if (PQputCopyData(native, piece.data(), static_cast<int>(piece.size())) != 1)
            fail(native, statement);
    if (PQputCopyEnd(native, nullptr) != 1) fail(native, statement);
    const ResultPtr end(PQgetResult(native));
    if (PQresultStatus(end.get()) != PGRES_COMMAND_OK) fail(native, statement);
    const std::int64_t rows = std::stoll(PQcmdTuples(end.get()));
    while (ResultPtr more{PQgetResult(native)}) {
    }
    return rows;
}

// ------------------------------------------------------------------------------- Snapshot

Snapshot::Snapshot(const Settings& settings, std::int64_t lock) : session_(settings) {
    session_.run("SELECT pg_advisory_lock(" + std::to_string(lock) + ")");
    session_.run(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;"
        "SELECT set_config('app.all_orgs', 'on', true)"
    );
}

// A policy that admits a row of which nothing is known admits every row: svc_all_orgs() is all that
// can be true of it. A restrictive policy could hide rows whatever others admit.
void Snapshot::require_sight() const {
    const auto policies = session_.rows(
        "SELECT c.oid::regclass, quote_ident(c.relname), p.polpermissive,"
        " coalesce(pg_get_expr(p.polqual, p.polrelid), 'true') "
        "FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid AND p.polcmd IN ('r', '*')"
        " AND (p.polroles = '{0}' OR EXISTS (SELECT FROM unnest(p.polroles) r"
        " WHERE pg_has_role(r, 'MEMBER'))) "
        "WHERE c.relkind = 'r' AND c.relrowsecurity AND c.relnamespace" +
        in_our_schema + " ORDER BY 1"
    );
    std::map<std::string, bool> seen;
    for (const auto& row : policies) {
        bool& whole = seen.emplace(row[0], false).first->second;
        if (row[2] == "f")
            throw std::runtime_error(
                "the table " + row[0] + " has a restrictive policy, so its rows may not all be seen"
            );
        if (row[2].empty()) continue;  // no policy: nothing is seen
        const auto admits = session_.rows(
            "SELECT coalesce((" + row[3] + "), false) FROM (SELECT (NULL::" + row[0] + ").*) AS " +
            row[1]
        );
        whole = whole || admits.at(0).at(0) == "t";
    }
    for (const auto& [table, whole] : seen)
        if (!whole)
            throw std::runtime_error(
                "no policy of the table " + table + " shows its rows to a backup (svc_all_orgs())"
            );
}

std::vector<CopiedTable> Snapshot::tables() const {
    std::vector<CopiedTable> out;
    for (auto& row : session_.rows(
             "SELECT quote_ident(c.relname), (SELECT string_agg(quote_ident(a.attname), ', '"
             " ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0"
             " AND NOT a.attisdropped AND a.attgenerated = '') " +
             own_tables + " ORDER BY c.relname"
         ))
        out.push_back({row[0], row[1]});
    return out;
}

std::vector<SequenceState> Snapshot::sequences() const {
    std::vector<SequenceState> out;
    for (const auto& row : session_.rows(
             "SELECT quote_ident(c.relname) FROM pg_class c WHERE c.relkind = 'S'"
             " AND c.relnamespace" +
             in_our_schema + not_of_extension("pg_class", "c.oid") + " ORDER BY 1"
         )) {
        const auto state = session_.rows("SELECT last_value, is_called FROM " + row[0]);
        out.push_back({row[0], std::stoll(state.at(0).at(0)), state.at(0).at(1) == "t"});
    }
    return out;
}

TextRows Snapshot::migrations() const {
    return session_.rows("SELECT module, number, name, sha256 FROM kernel_migrations ORDER BY 1, 2"
    );
}

TextRows Snapshot::rows(const Sql& query) const try {
    session_.run("SAVEPOINT before");
    auto found = session_.rows(std::string(query.text));
    session_.run("RELEASE before");
    return found;
} catch (const SqlError& error) {
    if (error.state() != sqlstate::undefined_table) throw;
    session_.run("ROLLBACK TO before");
    return {};
}

std::int64_t Snapshot::copy(const CopiedTable& table, const CopySink& to) const {
    const auto copied =
        session_.copy_out("COPY " + table.name + " (" + table.columns + ") TO STDOUT", to);
    const auto counted = number(session_.rows("SELECT count(*) FROM " + table.name));
    if (copied != counted)
        throw std::runtime_error(
            "of the table " + table.name + " " + std::to_string(copied) +
            " rows were copied, and " + std::to_string(counted) + " are there"
        );
    return copied;
}

void Snapshot::end() { session_.run("COMMIT"); }

// --------------------------------------------------------------------------------- Refill

Refill::Refill(const Settings& settings) : session_(settings) {
    session_.run("BEGIN; SELECT set_config('app.all_orgs', 'on', true)");
}

bool Refill::is_empty() const {
    return number(session_.rows(
               "SELECT count(*) FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')"
               " AND c.relnamespace" +
               in_our_schema + not_of_extension("pg_class", "c.oid")
           )) == 0;
}

std::int64_t Refill::other_sessions() const {
    session_.run("SELECT pg_stat_clear_snapshot()");  // which would last for the transaction
    return number(session_.rows(std::string(count_other_sessions.text)));
}

void Refill::drop_all() {
    const auto drops = session_.rows(
        "SELECT format('DROP %s IF EXISTS %s CASCADE', CASE c.relkind WHEN 'v' THEN 'VIEW'"
        " WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,"
        " quote_ident(c.relname)) FROM pg_class c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')"
        " AND c.relnamespace" +
        in_our_schema + not_of_extension("pg_class", "c.oid") +
        // A sequence that belongs to a column goes with it.
        " AND NOT EXISTS (SELECT FROM pg_depend o WHERE o.classid = 'pg_class'::regclass"
        " AND o.objid = c.oid AND c.relkind = 'S' AND o.deptype IN ('a', 'i'))"
        " UNION ALL SELECT format('DROP ROUTINE IF EXISTS %s CASCADE', p.oid::regprocedure)"
        " FROM pg_proc p WHERE p.pronamespace" +
        in_our_schema + not_of_extension("pg_proc", "p.oid") +
        " UNION ALL SELECT format('DROP TYPE IF EXISTS %s CASCADE', t.oid::regtype)"
        " FROM pg_type t WHERE t.typtype IN ('e', 'd', 'r') AND t.typnamespace" +
        in_our_schema + not_of_extension("pg_type", "t.oid")
    );
    for (const auto& each : drops) session_.run(each.at(0));
}

void Refill::apply(const std::vector<Migration>& steps) {
    session_.run(migrations_table);
    for (const Migration& step : steps) try {
            session_.run(step.sql);
            session_.run(
                "INSERT INTO kernel_migrations (module, number, name, sha256) VALUES (" +
                literal(step.module) + ", " + std::to_string(step.number) + ", " +
                literal(step.name) + ", " + literal(hex(sha256(step.sql))) + ")"
            );
        } catch (const std::runtime_error& problem) {
            throw std::runtime_error(
                "migration " + step.module + "/" + step.name + ": " + problem.what()
            );
        }
}

void Refill::prepare(const std::vector<CopiedTable>& tables) {
    for (const auto& key : session_.rows(
             "SELECT k.conrelid::regclass, quote_ident(k.conname), pg_get_constraintdef(k.oid)"
             " FROM pg_constraint k WHERE k.contype = 'f' AND k.connamespace" +
             in_our_schema
         )) {
        session_.run("ALTER TABLE " + key[0] + " DROP CONSTRAINT " + key[1]);
        afterwards_.push_back("ALTER TABLE " + key[0] + " ADD CONSTRAINT " + key[1] + " " + key[2]);
    }
    // COPY knows no policies, so it refuses tables that have them.
    for (const auto& row : session_.rows(
             "SELECT quote_ident(c.relname) FROM pg_class c WHERE c.relrowsecurity"
             " AND c.relnamespace" +
             in_our_schema
         )) {
        session_.run("ALTER TABLE " + row[0] + " DISABLE ROW LEVEL SECURITY");
        afterwards_.push_back("ALTER TABLE " + row[0] + " ENABLE ROW LEVEL SECURITY");
    }
    for (const CopiedTable& table : tables)
        if (session_.rows("SELECT EXISTS (SELECT FROM " + table.name + ")").at(0).at(0) == "t")
            session_.run("DELETE FROM " + table.name);
}

std::int64_t Refill::copy(const CopiedTable& table, const CopySource& from) {
    return session_.copy_in("COPY " + table.name + " (" + table.columns + ") FROM STDIN", from);
}

void Refill::finish(const std::vector<SequenceState>& sequences) {
    for (const std::string& each : afterwards_) session_.run(each);
    for (const SequenceState& each : sequences)
        session_.run(
            "SELECT setval(" + literal(each.name) + ", " + std::to_string(each.last_value) + ", " +
            (each.is_called ? "true" : "false") + ")"
        );
}

void Refill::commit() { session_.run("COMMIT"); }

void Refill::analyze() { session_.run("ANALYZE"); }

}  // namespace svc::db
