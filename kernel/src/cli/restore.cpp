#include "cli/archive.hpp"
#include "cli/commands.hpp"
#include "core/kernel_impl.hpp"
#include "core/loader.hpp"
#include "core/server_key.hpp"

#include "svc/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace svc::cli {

namespace {

using core::App;
using core::Secret;

[[noreturn]] void refuse(const std::string& why) { throw std::runtime_error(why); }

/// The steps that made the schema of the backup, out of this program's own.
std::vector<db::Migration> steps_of(const Manifest& manifest, const App& app) {
    std::vector<std::string> modules;
    for (const auto& each : manifest.migrations)
        if (each.module != "kernel" && std::ranges::find(modules, each.module) == modules.end())
            modules.push_back(each.module);
    auto known = app.migrations();
    std::erase_if(known, [](const auto& each) { return each.module != "kernel"; });
    for (const ModuleCard* card : core::load_cards(app.places().modules, modules))
        for (auto& step : db::unpack_migrations(card->name, card->migrations))
            known.push_back(std::move(step));
    std::vector<db::Migration> steps;
    for (auto& step : known)
        for (const auto& each : manifest.migrations)
            if (each.module == step.module && each.number == step.number &&
                each.sha256 == hex(sha256(step.sql)))
                steps.push_back(step);
    if (steps.size() != manifest.migrations.size())
        refuse(
            "the backup is of version " + manifest.version +
            ", which has steps of the schema that this program does not know; use that version"
        );
    return steps;
}

/// Whether the key is to be put into the file; refuses when that would take away another.
bool key_is_missing(App& app, const Manifest& manifest, bool overwrite) {
    const Secret& present = app.secret();
    if (present.lasts() && present.fingerprint() == manifest.key_fingerprint) return false;
    if (!app.server_settings().secret.empty())
        refuse(
            "server.secret is not the key of the backup; take it out of the settings, and the "
            "backup's is put into " +
            app.kernel().var_folder() + "/server.key"
        );
    if (present.lasts() && !overwrite)
        refuse(app.place_of_secret() + ": there is another key; --overwrite replaces it");
    return true;
}

/// Which of the archive's folders belongs to whom; refuses what would be left out.
std::vector<const BackupPart*> parts_of(const Archive& archive, App& app) {
    std::vector<const BackupPart*> out;
    for (const std::string& folder : archive.folders()) {
        if (folder == "database" || folder == "config") continue;
        const auto& all = app.kernel().impl().upkeep.parts();
        const auto found = std::ranges::find(all, folder, &BackupPart::name);
        if (found == all.end())
            refuse("no module that is on takes what the backup has in " + folder);
        out.push_back(&*found);
    }
    return out;
}

void require_room(db::Refill& refill, bool overwrite) {
    if (refill.is_empty()) return;
    if (!overwrite) refuse("the database is not empty; --overwrite drops what is in it");
    require_no_other_sessions([&] { return refill.other_sessions(); });
    refill.drop_all();
}

void put_objects(const Archive& archive, const BackupPart& part, const Manifest& manifest) {
    for (const std::string& key : archive.names_in(part.name)) {
        const std::string name = part.name + "/" + key;
        if (std::ranges::find(manifest.missing, name) != manifest.missing.end()) continue;
        const auto& entry = *archive.find(name);
        part.write(key, static_cast<std::int64_t>(entry.size), archive.source(entry));
    }
}

void put_tables(const Archive& archive, db::Refill& refill) {
    for (const auto& table : archive.manifest().tables) {
        const auto rows = refill.copy(
            {table.name, table.columns}, archive.source(*archive.find("database/" + table.name))
        );
        if (rows != table.rows)
            refuse(fmt::format("{}: {} rows of {} came in", table.name, rows, table.rows));
    }
}

}  // namespace

int restore(const Words& words) {
    if (words.words.size() != 2)
        throw std::runtime_error("usage: workboard restore FILE [--overwrite]");
    const bool overwrite = words.has("--overwrite");
    const Archive archive(words.words[1]);
    const Manifest& manifest = archive.manifest();
    App app = make_app(words);
    app.open_modules(App::Touch::fill);
    const auto steps = steps_of(manifest, app);
    const bool wants_key = key_is_missing(app, manifest, overwrite);
    const auto parts = parts_of(archive, app);
    app.open_database(App::Touch::fill);

    std::vector<db::CopiedTable> tables;
    for (const auto& each : manifest.tables) tables.push_back({each.name, each.columns});
    std::vector<db::SequenceState> sequences;
    for (const auto& each : manifest.sequences)
        sequences.push_back({each.name, each.last_value, each.is_called});
    app.database().close();  // so that nobody but us is in it
    db::Refill refill(app.database().settings());
    require_room(refill, overwrite);
    refill.apply(steps);
    refill.prepare(tables);
    put_tables(archive, refill);
    refill.finish(sequences);
    for (const BackupPart* each : parts) put_objects(archive, *each, manifest);
    // The old key stays until the old database is gone. A restore that is stopped between the two
    // is repeated, with --overwrite.
    std::optional<core::NewKey> key;
    if (wants_key)
        key.emplace(archive.text("server.key"), app.kernel().var_folder() + "/server.key");
    refill.commit();
    if (key) key->put();
    refill.analyze();

    std::string when;
    manifest.made_at.append_to(when);
    fmt::print(
        "{} tables and {} files are back as they were at {}\n",
        manifest.tables.size(),
        manifest.objects - static_cast<std::int64_t>(manifest.missing.size()),
        when
    );
    for (const std::string& each : manifest.missing)
        fmt::print(stderr, "workboard: {} was lost before the backup\n", each);
    return 0;
}

}  // namespace svc::cli
