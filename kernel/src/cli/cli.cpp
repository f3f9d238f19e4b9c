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

/// Flags that take no value; which command takes them stands in its row.
constexpr std::string_view switches[] = {"--overwrite", "--allow-missing"};

Words parse(int count, char** words) {
    Words out;
    for (int i = 1; i < count; ++i) {
        std::string word = words[i];
        if (!word.starts_with("--")) {
            out.words.push_back(word);
            continue;
        }
        if (std::ranges::find(switches, word) != std::end(switches)) {
            out.switches.push_back(word);
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
        "  (modules bring more, such as org, user, token and agent: `workboard modules` names "
        "them)\n\nflags\n"
        "  --config FILE     settings to read (config/workboard.toml)\n";
    for (const Flag& each : flags) {
        text += "  " + std::string(each.name);
        text.append(18 - each.name.size(), ' ') += std::string(each.help) + "\n";
    }
    text +=
        "  --set KEY=VALUE   any setting, such as --set server.workers=8; a list with commas:\n"
        "                    --set modules=mail,orgs,auth,boards\n\n"
        "`workboard <command> --help` says more of a command.\n";
    std::fputs(text.c_str(), stdout);
    return 0;
}

int help_of(const Words& given) {
    const std::string& name = given.words[1];
    for (const Command& each : commands()) {
        if (each.name != name) continue;
        std::string text = "usage: workboard " + name;
        if (!each.words.empty()) (text += ' ') += each.words;
        text += " [flags]\n\n" + std::string(each.help) + "\n";
        if (!each.more.empty()) text += "\n" + std::string(each.more);
        text += "\n`workboard help` lists the flags that all commands take.\n";
        std::fputs(text.c_str(), stdout);
        return 0;
    }
    Words asked = given;
    asked.words.erase(asked.words.begin());
    std::fputs(help_of_module_command(asked).c_str(), stdout);
    return 0;
}

void require_known_switches(const Words& given, const Command& command) {
    const std::string known = " " + std::string(command.switches) + " ";
    for (const std::string& each : given.switches)
        if (known.find(" " + each + " ") == known.npos)
            throw Usage("the command " + std::string(command.name) + " takes no " + each);
}

/// The server waits for these in its main thread, so every thread starts with them blocked. Other
/// commands are ended by them: whatever they do is whole or not there.
void block_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int each : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, each);
    sigprocmask(SIG_BLOCK, &set, nullptr);
}

}  // namespace

int run(int count, char** words) {
    try {
        const Words given = parse(count, words);
        const std::string name = given.words.empty() ? "help" : given.words.front();
        if (name == "help") return given.words.size() > 1 ? help_of(given) : help();
        if (name == "version") return std::puts("workboard " SVC_VERSION), 0;
        signal(SIGPIPE, SIG_IGN);
        if (name == "serve") block_signals();
        for (const Command& each : commands()) {
            if (each.name != name) continue;
            require_known_switches(given, each);
            return each.run(given);
        }
        if (!given.switches.empty()) throw Usage(name + " takes no " + given.switches.front());
        return run_module_command(given);
    } catch (const Usage& problem) {
        return complain(problem.what(), 2);
    } catch (const std::exception& problem) {
        return complain(problem.what(), 1);
    }
}

}  // namespace svc::cli
