#include "core/config.hpp"
#include "core/settings.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <unistd.h>

namespace svc::core {
namespace {

/// A config file in a folder of its own.
class ConfigTest : public testing::Test {
protected:
    ConfigTest() : folder_(testing::TempDir() + "config-" + std::to_string(::getpid())) {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_ / "conf.d");
    }
    ~ConfigTest() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& name, std::string_view text) {
        std::ofstream(folder_ / name) << text;
        return (folder_ / name).string();
    }
    Config config(std::string_view text) {
        return Config(
            {.file = write("workboard.toml", text), .environment = environment_, .flags = flags_}
        );
    }
    static std::string problems(const Config& config) {
        try {
            config.check();
        } catch (const ConfigError& problem) {
            return problem.what();
        }
        return "none";
    }
    std::string server_problems(std::string_view text) {
        Config read = config(text);
        ServerSettings settings;
        read.read("server", record_of<ServerSettings>(), &settings);
        std::string out = problems(read);
        for (std::size_t at; (at = out.find(folder_.string() + "/")) != out.npos;)
            out.erase(at, folder_.string().size() + 1);
        return out;
    }

    std::filesystem::path folder_;
    std::vector<std::string> environment_;
    std::vector<std::pair<std::string, std::string>> flags_;
};

TEST_F(ConfigTest, LaterSourcesWin) {
    environment_ = {"WORKBOARD_SERVER__WORKERS=4", "WORKBOARD_SERVER__QUEUE=7", "PATH=/bin"};
    flags_ = {{"server.queue", "9"}};
    write("conf.d/10-more.toml", "[server]\nport = 3\naddress = '::1'\n");
    Config read = config("[server]\nport = 1\nbase_url = 'http://a'\nworkers = 2\n");
    ServerSettings settings;
    read.read("server", record_of<ServerSettings>(), &settings);
    EXPECT_EQ(problems(read), "none");
    EXPECT_EQ(settings.base_url, "http://a");
    EXPECT_EQ(settings.port, 3);
    EXPECT_EQ(settings.address, "::1");
    EXPECT_EQ(settings.workers, 4);
    EXPECT_EQ(settings.queue, 9);
    EXPECT_EQ(settings.idle_seconds, 75) << "what nobody sets keeps its default";
}

TEST_F(ConfigTest, NamesFileLineAndKeyOfEveryMistake) {
    const auto found = server_problems("[server]\nport = 70000\nworkers = 'many'\n\nprot = 1\n");
    EXPECT_NE(found.find("workboard.toml:2: server.port:"), found.npos) << found;
    EXPECT_NE(found.find("workboard.toml:3: server.workers:"), found.npos) << found;
    EXPECT_NE(found.find("workboard.toml:5: server.prot: there is no such setting"), found.npos)
        << found;
}

TEST_F(ConfigTest, NamesTheVariableAndTheFlagAtFault) {
    environment_ = {
        "WORKBOARD_SERVER__PORT=x", "WORKBOARD_SERVER__PROT=1", "WORKBOARD_SERVER_QUEUE=9"};
    flags_ = {{"nobody.knows", "1"}};
    const auto found = server_problems("");
    EXPECT_NE(found.find("WORKBOARD_SERVER__PORT: server.port:"), found.npos) << found;
    EXPECT_NE(found.find("WORKBOARD_SERVER__PROT: there is no such setting"), found.npos) << found;
    EXPECT_NE(found.find("WORKBOARD_SERVER_QUEUE: write WORKBOARD_SERVER__QUEUE"), found.npos)
        << found;
    EXPECT_NE(found.find("--set nobody.knows: there is no such setting"), found.npos) << found;
}

TEST_F(ConfigTest, TakesListsWithCommasFromTheEnvironment) {
    environment_ = {"WORKBOARD_SERVER__TRUSTED_PROXIES=10.0.0.1,10.0.0.0/8"};
    Config read = config("");
    ServerSettings settings;
    read.read("server", record_of<ServerSettings>(), &settings);
    EXPECT_EQ(problems(read), "none");
    EXPECT_EQ(settings.trusted_proxies, (std::vector<std::string>{"10.0.0.1", "10.0.0.0/8"}));
}

TEST_F(ConfigTest, SectionsOfNobodyAreRefusedAndThoseOfModulesThatAreOffAreNot) {
    Config read = config("[nobody]\nx = 1\n[queue]\ny = 1\n");
    read.ignore("queue");
    const auto found = problems(read);
    EXPECT_NE(found.find("[nobody]"), found.npos) << found;
    EXPECT_EQ(found.find("[queue]"), found.npos) << found;
}

TEST_F(ConfigTest, ASecretMayStandInAFileAndIsNeverShown) {
    const auto file = write("secret", "a secret of some length\n");
    Config read = config("[server]\nsecret = 'file:" + file + "'\n");
    ServerSettings settings;
    read.read("server", record_of<ServerSettings>(), &settings);
    EXPECT_EQ(settings.secret, "a secret of some length");
    EXPECT_EQ(read.describe().find("some length"), std::string::npos);
}

TEST_F(ConfigTest, AnEmptyFileIsNoSecretAndAFolderNone) {
    const auto empty = server_problems("[server]\nsecret = 'file:" + write("empty", "\n") + "'\n");
    EXPECT_NE(empty.find("server.secret: there is nothing in the file"), empty.npos) << empty;
    const auto folder = server_problems("[server]\nsecret = 'file:" + folder_.string() + "'\n");
    EXPECT_NE(folder.find("server.secret: cannot read the file"), folder.npos) << folder;
    EXPECT_THROW(Config({.file = folder_}), ConfigError);
}

TEST_F(ConfigTest, AFileThatIsNotTomlNamesItsLine) {
    try {
        config("[server]\nport = = 3\n");
        FAIL() << "was taken";
    } catch (const ConfigError& problem) {
        EXPECT_NE(std::string(problem.what()).find("workboard.toml:2"), std::string::npos)
            << problem.what();
    }
}

}  // namespace
}  // namespace svc::core
