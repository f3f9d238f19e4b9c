// What a server looks at before it begins anything, and `check-config` too.

#include "core/app.hpp"
#include "core/kernel_impl.hpp"
#include "db/connector.hpp"
#include "http/listener.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace svc::core {

namespace {

namespace fs = std::filesystem;

void check_address(const std::string& address) try {
    http::check_address(address);
} catch (const std::exception& problem) {
    throw std::runtime_error("server.address: " + std::string(problem.what()));
}

/// Whether the file could be written, or made; looking makes none. `var` is made by the server.
void check_access_log(const fs::path& where, const fs::path& var) {
    const fs::path file = fs::absolute(where).lexically_normal();
    const fs::path folder = file.parent_path();
    if (fs::is_symlink(file) && !fs::exists(file)) return;  // made where it leads to
    if (folder == var.lexically_normal() && !fs::exists(folder)) return;
    const auto may = [](const fs::path& path, int mode) {
        return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
    };
    if (fs::is_directory(file)) errno = EISDIR;
    else if (fs::exists(file) ? may(file, W_OK) : may(folder, W_OK | X_OK)) return;
    throw std::runtime_error(
        "log.access: cannot write " + where.string() + ": " + std::strerror(errno)
    );
}

void check_database_url(const std::string& url) {
    if (url.empty()) return;
    db::Settings settings;
    settings.url = url;
    db::Connector(settings, db::Use::work);
}

}  // namespace

void App::check_before_start() const {
    check_certificate();
    check_address(server_settings_.address);
    if (log_settings_.goes_to_file()) check_access_log(log_settings_.access, kernel_->var_folder());
    check_database_url(database_settings_.url);
    for (const auto& check : kernel_->impl().upkeep.start_checks()) check();
}

}  // namespace svc::core
