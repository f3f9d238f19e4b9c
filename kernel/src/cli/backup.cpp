#include "cli/archive.hpp"
#include "cli/commands.hpp"
#include "core/backup_lock.hpp"
#include "core/kernel_impl.hpp"
#include "core/server_key.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace svc::cli {

namespace {

using core::App;

void add_tables(const db::Snapshot& snapshot, ArchiveWriter& to, Manifest& manifest) {
    for (const db::CopiedTable& table : snapshot.tables()) {
        to.begin("database/" + table.name);
        const auto rows = snapshot.copy(table, [&](std::string_view bytes) { to.add(bytes); });
        to.end();
        manifest.tables.push_back({table.name, table.columns, rows});
    }
    // Behind the tables: no number in them is beyond what their sequences have given.
    for (const db::SequenceState& each : snapshot.sequences())
        manifest.sequences.push_back({each.name, each.last_value, each.is_called});
    for (const auto& row : snapshot.migrations())
        manifest.migrations.push_back({row[0], std::stoll(row[1]), row[2], row[3]});
}

/// The bytes that rows of the snapshot name. What is lost, or is not what its row says, is an end
/// to it unless that is allowed.
class Objects {
public:
    Objects(const BackupPart& part, bool allow_missing) : part_(part), allowed_(allow_missing) {}

    void list(const db::Snapshot& snapshot) {
        for (const auto& row : snapshot.rows(part_.list)) items_.push_back(part_.item(row));
    }
    void add(ArchiveWriter& to, Manifest& manifest) const {
        for (const BackupPart::Item& item : items_) {
            const std::string name = part_.name + "/" + item.key;
            to.begin(name);
            const bool there = part_.read(item.key, [&](std::string_view bytes) { to.add(bytes); });
            const bool whole = to.end() == item.sha256;
            ++manifest.objects;
            if (there && whole) continue;
            const std::string what = there ? " is not what was uploaded" : " is lost";
            if (!allowed_)
                throw std::runtime_error(
                    name + what + "; --allow-missing makes a backup all the same"
                );
            fmt::print(stderr, "workboard: {}{}\n", name, what);
            manifest.missing.push_back(name);
        }
    }

private:
    const BackupPart& part_;
    const bool allowed_;
    std::vector<BackupPart::Item> items_;
};

void add_settings(const Words& words, const App& app, ArchiveWriter& to) {
    const auto files = config_files(words);
    for (const auto& file : files) {
        std::ifstream in(file, std::ios::binary);
        const std::string text(std::istreambuf_iterator<char>(in), {});
        const auto name = file.lexically_relative(files.front().parent_path());
        to.add_file("config/" + name.string(), text);
    }
    to.add_file("config/in-force.toml", app.config().describe());
}

/// The key in the archive has to be the one that the database's servers use.
void require_key(App& app) {
    const auto recorded = core::recorded_key(app.database());
    if (!app.secret().lasts())
        throw std::runtime_error(app.place_of_secret() + ": there is no key to be saved");
    if (recorded && *recorded != app.secret().fingerprint())
        throw std::runtime_error(
            app.place_of_secret() + ": is not the key that this database's servers use"
        );
}

}  // namespace

int backup(const Words& words) {
    if (words.words.size() != 2)
        throw std::runtime_error("usage: workboard backup FILE [--allow-missing]");
    const std::filesystem::path file = words.words[1];
    App app = make_app(words);
    app.open_modules(App::Touch::look);
    app.open_database(App::Touch::look);
    require_key(app);

    ArchiveWriter archive(file);
    Manifest manifest{
        .version = SVC_VERSION,
        .made_at = Timestamp::now(),
        .key_fingerprint = app.secret().fingerprint()};
    std::vector<Objects> parts;
    for (const BackupPart& each : app.kernel().impl().upkeep.parts())
        parts.emplace_back(each, words.has("--allow-missing"));
    {
        db::Snapshot snapshot(app.database().settings(), core::backup_lock);
        snapshot.require_sight();
        add_tables(snapshot, archive, manifest);
        for (Objects& each : parts) each.list(snapshot);
        snapshot.end();
        for (const Objects& each : parts) each.add(archive, manifest);
    }
    add_settings(words, app, archive);
    archive.add_file("server.key", app.secret().key());
    archive.finish(manifest);

    std::int64_t rows = 0;
    for (const auto& each : manifest.tables) rows += each.rows;
    fmt::print(
        "{}: {} tables with {} rows, {} files\n",
        file.string(),
        manifest.tables.size(),
        rows,
        manifest.objects
    );
    return 0;
}

}  // namespace svc::cli
