#pragma once

#include "tests/support/client.hpp"
#include "tests/support/program.hpp"

#include <memory>

/// The real program, as an operator runs it, for tests and benchmarks.
namespace svc::test {

/// Servers of one database have one key, and each of these has a folder of its own.
inline constexpr const char* key_of_all_servers =
    "server.secret=the key of all servers of this database";

class Server {
public:
    struct Options {
        /// Of another commit, built there for release, whose config it reads; empty: this build.
        std::filesystem::path checkout;
        std::filesystem::path var;          ///< its data; empty: a folder that goes with the object
        std::string database_url;           ///< empty: its own embedded PostgreSQL
        std::vector<std::string> settings;  ///< "section.key=value"
        std::vector<std::string> environment;  ///< NAME=value
        bool cheap_hashes = true;  ///< of passwords, for tests make many people; false: as shipped
        /// For its first line of readiness. A first start makes a database; sanitizers are slow.
        std::chrono::seconds patience{90};
    };
    /// Starts it on a free port and waits until it serves; throws with its output when it does not.
    explicit Server(Options options);
    /// Stops it, and the database it may have left behind when it was killed.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// How many this program has started on a database.
    static int count_on(const std::string& database_url);
    /// What it runs.
    static std::filesystem::path program_of(const Options& options);
    const Options& options() const { return options_; }
    std::uint16_t port() const { return port_; }
    pid_t pid() const { return program_->pid(); }
    Client client() const { return Client(port_); }
    const std::filesystem::path& var() const { return options_.var; }
    std::string output() const;

    /// Sends the signal and waits for the end; the exit code (128 + the signal when it was killed).
    int end(int signal, std::chrono::seconds patience = std::chrono::seconds(30));
    /// Starts it again on the same data and the same port.
    void start();
    void signal(int number) const { program_->signal(number); }
    std::optional<int> wait(std::chrono::milliseconds at_most) { return program_->wait(at_most); }

    /// What it has printed and mailed so far is nobody's from now on.
    void forget();

    /// Mails that the server has written so far to this address, oldest first.
    std::vector<std::string> mails_to(std::string_view address) const;
    /// The newest of those that any server on its database has written, since each sends what it
    /// comes to, once there are `count`; mails go out after the answer. Throws when they do not
    /// come.
    std::string mail_to(std::string_view address, std::size_t count = 1) const;

private:
    void end_orphaned_database() const;
    std::vector<std::filesystem::path> folders_of_database() const;
    std::filesystem::path log() const { return options_.var / "server.log"; }

    Options options_;
    std::unique_ptr<TempFolder> own_folder_;  // none when the caller named one
    std::unique_ptr<Program> program_;
    std::uint16_t port_ = 0;
    std::size_t forgotten_ = 0;  // bytes of its output
};

/// What a mail's body says after `before`, up to white space or a quote: links and codes.
std::string mail_value(const std::string& mail, std::string_view before);

}  // namespace svc::test
