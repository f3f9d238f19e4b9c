#include "cli/cli.hpp"

#include "cli/commands.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>

namespace svc::cli {

namespace {

/// The line that the shell understands and a person can act on.
int complain(const std::string& what, int code) {
    std::fprintf(stderr, "workboard: %s\n", what.c_str());
    return code;
}

class Usage : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

struct Flag {
    std::string_view name, setting, help;
};
constexpr Flag flags[] = {
    {"--database-url", "database.url", "PostgreSQL to use instead of the server's own"},
    {"--address", "server.address", "where to listen"},
    {"--port", "server.port", "0 takes any free port"},
    {"--base-url", "server.base_url", "the address people and programs use"},
    {"--var", "server.var", "the folder for everything that changes"},
    {"--log", "log.form", "json, or text for people"},
};

Words parse(int count, char** words) {
    Words out;
    for (int i = 1; i < count; ++i) {
        std::string word = words[i];
        if (!word.starts_with("--")) {
            out.words.push_back(word);
            continue;
        }
        std::string value;
        if (const auto equals = word.find('='); equals != std::string::npos) {
            value = word.substr(equals + 1);
            word.resize(equals);
        } else if (word != "--help" && word != "--version") {
            if (++i == count) throw Usage(word + " needs a value");
            value = words[i];
        }
        const auto flag = std::ranges::find(flags, word, &Flag::name);
        if (flag != std::end(flags)) {
            out.settings.emplace_back(flag->setting, value);
        } else if (word == "--set") {
            const auto equals = value.find('=');
            if (equals == std::string::npos) throw Usage("--set takes section.key=value");
            out.settings.emplace_back(value.substr(0, equals), value.substr(equals + 1));
        } else if (word == "--config") {
            out.config = value;
        } else if (word == "--help" || word == "--version") {
            out.words.insert(out.words.begin(), word.substr(2));
        } else {
            throw Usage("there is no flag " + word + "; `workboard help` lists them");
        }
    }
    return out;
}

int help() {
    std::string text =
        "workboard: a self-hosted work board for people and agents\n\n"
        "usage: workboard <command> [flags]\n\ncommands\n";
    for (const Command& each : commands()) {
        text += "  " + std::string(each.name);
        text.append(16 - each.name.size(), ' ') += std::string(each.help) + "\n";
    }
    text +=
        "  (modules bring more: `workboard modules` names them)\n\nflags\n"
        "  --config FILE     settings to read (config/workboard.toml)\n";
    for (const Flag& each : flags) {
        text += "  " + std::string(each.name);
        text.append(18 - each.name.size(), ' ') += std::string(each.help) + "\n";
    }
    text += "  --set KEY=VALUE   any setting, such as --set server.workers=8\n";
    std::fputs(text.c_str(), stdout);
    return 0;
}

/// Ends the program by sigwait() in the main thread, so every thread starts with these blocked.
void block_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int run(int count, char** words) {
    try {
        const Words given = parse(count, words);
        const std::string name = given.words.empty() ? "help" : given.words.front();
        if (name == "help") return help();
        if (name == "version") return std::puts("workboard " SVC_VERSION), 0;
        block_signals();
        for (const Command& each : commands())
            if (each.name == name) return each.run(given);
        return run_module_command(given);
    } catch (const Usage& problem) {
        return complain(problem.what(), 2);
    } catch (const std::exception& problem) {
        return complain(problem.what(), 1);
    }
}

}  // namespace svc::cli
