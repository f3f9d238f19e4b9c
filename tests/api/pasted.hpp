#pragma once

#include "tests/support/markdown.hpp"
#include "tests/support/places.hpp"
#include "tests/support/server.hpp"

#include <gtest/gtest.h>

#include <regex>

/// Commands of the documentation, run as they stand there.
namespace svc::test {

/// All blocks of code of a page, or of a part of it, one behind the other.
inline std::string all_code(const std::string& page) {
    std::string script;
    for (const CodeBlock& block : code_blocks(page)) script += block.text;
    return script;
}

/// The settings that a page says `./run` is to be started with: `./run --set section.key=value`, or
/// several.
inline std::vector<std::string> settings_in(const std::string& page) {
    static const std::regex start("`\\./run( --set [^`]+)`"), setting(" --set (\\S+)");
    std::vector<std::string> settings;
    for (std::sregex_iterator each(page.begin(), page.end(), start), end; each != end; ++each) {
        const std::string words = (*each)[1];
        for (std::sregex_iterator one(words.begin(), words.end(), setting); one != end; ++one)
            settings.push_back((*one)[1]);
    }
    return settings;
}

/// Runs the script in a terminal of its own, beside a server as `./run` starts it, and gives what
/// it printed. Only the place differs: a port that is free here, and a folder `var` of its own.
inline std::string pasted(std::string script, std::vector<std::string> settings = {}) {
    const TempFolder folder("workboard-pasted");
    const Server server({.var = folder.path() / "var", .settings = std::move(settings)});
    const std::string place = "127.0.0.1:8080";
    const std::string here = "127.0.0.1:" + std::to_string(server.port());
    for (std::size_t at = 0; (at = script.find(place, at)) != script.npos; at += here.size())
        script.replace(at, place.size(), here);
    const auto result = run({"bash", "-euo", "pipefail", "-c", script}, {}, folder.path());
    EXPECT_EQ(result.code, 0) << result.output << server.output();
    return result.output;
}

}  // namespace svc::test
