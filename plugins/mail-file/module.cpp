#include "svc/module.hpp"

#include "modules/mail/api.hpp"
#include "svc/operator/upkeep.hpp"

#include <Poco/Logger.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

/// Mails as files: `<var>/mail/<id>.eml`, and a line in the log that says where. For a machine of
/// one's own, and for tests; a driver that is set up and stands before it in the list of plugins
/// has precedence.
namespace svc::mail_file {

namespace {

struct Settings {
    bool log_links = false;
};
SVC_RECORD(
    Settings,
    (log_links,
     "Write the link of each mail to the log, not only where its file is. It is a key, to an "
     "account as a rule, for whoever reads the log: meant for development.",
     defaulted)
);

[[noreturn]] void cannot_write(const std::filesystem::path& file) {
    throw std::system_error(errno, std::generic_category(), "cannot write " + file.string());
}

/// Writes a new file that nobody else can read, at any moment.
void write_private(const std::filesystem::path& file, std::string_view text) {
    std::filesystem::remove(file);  // what an earlier attempt may have left
    const int out =
        ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (out < 0) cannot_write(file);
    struct Closing {
        int file;
        ~Closing() { ::close(file); }
    } closing{out};
    while (!text.empty()) {
        const auto written = ::write(out, text.data(), text.size());
        if (written < 0 && errno != EINTR) cannot_write(file);
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
}

class MailFile final : public Module, public mail::Driver {
public:
    void open(Kernel& kernel) override {
        settings_ = kernel.settings<Settings>();
        folder_ = kernel.var_folder() + "/mail";
        if (kernel.find<mail::Driver>()) return;
        kernel.offer<mail::Driver>(*this);
        kernel.use<Upkeep>().add(Check{"mail", [this] { return check(); }});
    }

    void send(const mail::Message& message) override {
        std::filesystem::create_directories(folder_);
        std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
        const auto file = folder_ / (message.id.str() + ".eml");
        // Whoever watches the folder sees whole mails only.
        auto unfinished = file;
        unfinished += ".part";
        write_private(unfinished, message.mime);
        std::filesystem::rename(unfinished, file);
        const bool shows_link = settings_.log_links && !message.link.empty();
        Poco::Logger::get("mail").information(
            message.kind + " to " + message.to.str() + ": " +
            (shows_link ? message.link : file.string())
        );
    }

private:
    Finding check() const {
        std::string found =
            "mails become files in " + folder_.string() + "; set mail-smtp.host to have them sent";
        if (settings_.log_links) found += ". Their links, which are keys, are logged";
        return {Finding::Level::warning, found};
    }

    Settings settings_;
    std::filesystem::path folder_;
};

}  // namespace

}  // namespace svc::mail_file

SVC_MODULE(svc::mail_file::MailFile, "mail-file", "mail");
