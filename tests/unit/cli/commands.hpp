#pragma once

#include "tests/support/places.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

/// The program as its operator meets it: on the command line.
namespace svc::test {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::HasSubstr;
using testing::Not;

/// What a command printed, errors included.
struct CommandOutcome {
    int code = 0;
    std::string text;
};

/// `workboard` with these words, its folder for what changes and perhaps a database.
inline CommandOutcome workboard(
    std::vector<std::string> words, const fs::path& var, const std::string& url
) {
    std::string line = "exec \"$0\" \"$@\" 2>&1";
    std::vector<std::string> command{"sh", "-c", line, (build_folder() / "bin/workboard").string()};
    command.insert(command.end(), words.begin(), words.end());
    if (!var.empty()) command.insert(command.end(), {"--var", var.string()});
    if (!url.empty()) command.insert(command.end(), {"--database-url", url});
    const auto finished = run(command, {}, source_folder());
    return {finished.code, finished.output};
}

/// Every file below a folder with its size and the moment it was changed, but for what `skip`
/// begins.
inline std::map<std::string, std::string> tree_of(const fs::path& folder) {
    std::map<std::string, std::string> out;
    if (!fs::exists(folder)) return out;
    for (const auto& each : fs::recursive_directory_iterator(folder)) {
        struct stat about {};
        ::lstat(each.path().c_str(), &about);
        const bool is_file = S_ISREG(about.st_mode);
        out[each.path().string()] = is_file ? std::to_string(about.st_size) + " " +
                                                  std::to_string(about.st_mtim.tv_sec) + "." +
                                                  std::to_string(about.st_mtim.tv_nsec)
                                            : "";
    }
    return out;
}

/// All tables of a database with their numbers of rows.
inline std::string tables_of(const std::string& url) {
    return Postgres::shared().run(
        "SELECT coalesce(string_agg(c.relname || '=' || (xpath('/row/c/text()', query_to_xml("
        "'SELECT count(*) AS c FROM ' || c.oid::regclass, false, true, '')))[1]::text, ' '"
        " ORDER BY c.relname), '') FROM pg_class c"
        " WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace",
        url
    );
}

}  // namespace svc::test
