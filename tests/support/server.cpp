#include "tests/support/server.hpp"
#include "tests/support/places.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace svc::test {

namespace {

constexpr std::string_view ready = "workboard: ready on http://";

/// The port in the newest line of readiness after `from`, or nothing.
std::optional<std::uint16_t> port_in(const std::string& output, std::size_t from) {
    const auto line = output.find(ready, from);
    if (line == std::string::npos || output.find('\n', line) == std::string::npos)
        return std::nullopt;
    const auto colon = output.find(':', line + ready.size());
    return static_cast<std::uint16_t>(std::stoi(output.substr(colon + 1)));
}

std::mutex running_mutex;
std::set<const Server*> running;          // under running_mutex
std::map<std::string, int> count_by_url;  // under running_mutex

std::vector<std::filesystem::path> mail_files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    if (!std::filesystem::is_directory(folder / "mail")) return files;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder / "mail"))
        if (each.path().extension() == ".eml") files.push_back(each.path());
    return files;
}

/// Oldest first; their files are named after the ids of the mails.
std::vector<std::string> mails_in(
    const std::vector<std::filesystem::path>& folders, std::string_view address
) {
    std::vector<std::filesystem::path> files;
    for (const auto& folder : folders)
        std::ranges::move(mail_files_in(folder), std::back_inserter(files));
    std::ranges::sort(files, {}, &std::filesystem::path::filename);
    std::vector<std::string> mails;
    for (const auto& file : files) {
        auto mail = read_file(file);
        if (mail.find(address) != std::string::npos) mails.push_back(std::move(mail));
    }
    return mails;
}

}  // namespace

Server::Server(Options options) : options_(std::move(options)) {
    if (options_.var.empty()) {
        own_folder_ = std::make_unique<TempFolder>("workboard-test");
        options_.var = own_folder_->path();
    }
    std::filesystem::create_directories(options_.var);
    start();
    const std::lock_guard lock(running_mutex);
    running.insert(this);
    ++count_by_url[options_.database_url];
}

int Server::count_on(const std::string& database_url) {
    const std::lock_guard lock(running_mutex);
    return count_by_url[database_url];
}

Server::~Server() {
    {
        const std::lock_guard lock(running_mutex);
        running.erase(this);
    }
    if (program_->running()) end(SIGTERM);
    end_orphaned_database();
}

std::filesystem::path Server::program_of(const Options& options) {
    const auto build =
        options.checkout.empty() ? build_folder() : options.checkout / "build/release";
    return build / "bin/workboard";
}

void Server::start() {
    const std::size_t before = std::filesystem::exists(log()) ? output().size() : 0;
    const auto program = program_of(options_);
    Program::Start start{
        .command = {program, "serve", "--port", std::to_string(port_), "--var", options_.var},
        .environment = options_.environment,
        .folder = options_.checkout.empty() ? source_folder() : options_.checkout,
        .output = log(),
    };
    std::vector<std::string> settings;
    const bool without_auth = std::ranges::any_of(options_.settings, [](const auto& each) {
        return each.starts_with("modules=") && each.find("auth") == std::string::npos;
    });
    if (options_.cheap_hashes && !without_auth) settings.emplace_back("auth.password_memory_mib=8");
    if (!options_.database_url.empty()) {
        start.command.emplace_back("--database-url");
        start.command.push_back(options_.database_url);
        settings.emplace_back(key_of_all_servers);
    }
    settings.insert(settings.end(), options_.settings.begin(), options_.settings.end());
    for (const auto& setting : settings) {
        start.command.emplace_back("--set");
        start.command.push_back(setting);
    }
    program_ = std::make_unique<Program>(start);
    const auto give_up = std::chrono::steady_clock::now() + options_.patience;
    for (;;) {
        if (const auto port = port_in(output(), before)) {
            port_ = *port;
            return;
        }
        if (!program_->running() || std::chrono::steady_clock::now() > give_up)
            throw std::runtime_error("the server did not start:\n" + output().substr(before));
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

std::string Server::output() const { return read_file(log()).substr(forgotten_); }

void Server::forget() {
    forgotten_ += output().size();
    for (const auto& mail : mail_files_in(var())) std::filesystem::remove(mail);
}

int Server::end(int signal, std::chrono::seconds patience) {
    program_->signal(signal);
    if (const auto code = program_->wait(patience)) return *code;
    program_->signal(SIGKILL);
    program_->wait(std::chrono::seconds(10));
    throw std::runtime_error("the server did not end:\n" + output());
}

void Server::end_orphaned_database() const {
    const auto pid_file = options_.var / "postgres/data/postmaster.pid";
    std::ifstream stream(pid_file);
    pid_t pid = 0;
    if (!(stream >> pid) || pid <= 1) return;
    ::kill(pid, SIGQUIT);
    for (int i = 0; i < 500 && ::kill(pid, 0) == 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

std::vector<std::string> Server::mails_to(std::string_view address) const {
    return mails_in({options_.var}, address);
}

std::string Server::mail_to(std::string_view address, std::size_t count) const {
    for (int i = 0; i < 1500; ++i) {
        const auto mails = mails_in(folders_of_database(), address);
        if (mails.size() >= count) return mails.back();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    throw std::runtime_error("no mail to " + std::string(address) + ":\n" + output());
}

/// Its own, and those of the other servers on its database, as far as this program runs them.
std::vector<std::filesystem::path> Server::folders_of_database() const {
    if (options_.database_url.empty()) return {options_.var};
    const std::lock_guard lock(running_mutex);
    std::vector<std::filesystem::path> folders;
    for (const Server* each : running)
        if (each->options_.database_url == options_.database_url)
            folders.push_back(each->options_.var);
    return folders;
}

std::string mail_value(const std::string& mail, std::string_view before) {
    const auto at = mail.find(before);
    if (at == std::string::npos)
        throw std::runtime_error("no " + std::string(before) + " in the mail:\n" + mail);
    const auto start = at + before.size();
    return mail.substr(start, mail.find_first_of(" \r\n\"'<>", start) - start);
}

}  // namespace svc::test
