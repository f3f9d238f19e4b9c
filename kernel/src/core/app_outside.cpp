// What of the App is about what lies outside it, and settings name.

#include "core/app.hpp"
#include "db/connector.hpp"
#include "http/listener.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace svc::core {

namespace {

namespace fs = std::filesystem;

/// Any free port shows whether the address is one of this machine; a server may listen there.
void check_address(const std::string& address) try {
    ::close(http::listen_on(address, 0));
} catch (const std::exception& problem) {
    throw std::runtime_error("server.address: " + std::string(problem.what()));
}

/// Whether the access log could be written; looking leaves no file behind.
void check_access_log(const std::string& where) {
    if (where == "off" || where == "stdout") return;
    const fs::path file = fs::absolute(where);
    const bool can = ::access(file.c_str(), F_OK) == 0
                         ? !fs::is_directory(file) && ::access(file.c_str(), W_OK) == 0
                         : ::access(file.parent_path().c_str(), W_OK | X_OK) == 0;
    if (!can) throw std::runtime_error("log.access: cannot write " + where);
}

void check_url(const std::string& url) {
    if (url.empty()) return;
    db::Settings settings;
    settings.url = url;
    db::Connector(settings, db::Use::work);
}

}  // namespace

void App::check_outside() const {
    check_certificate();
    check_address(server_settings_.address);
    check_access_log(log_settings_.access);
    check_url(database_settings_.url);
}

}  // namespace svc::core
