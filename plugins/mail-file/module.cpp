#include "svc/module.hpp"

#include "modules/mail/api.hpp"

#include <Poco/Logger.h>

#include <fstream>

/// Mails as files: `<var>/mail/<id>.eml`, and a line in the log with the link to follow. For a
/// machine of one's own, and for tests; a driver that is set up and stands before it in the list
/// of plugins has precedence.
namespace svc::mail_file {

namespace {

class MailFile final : public Module, public mail::Driver {
public:
    void open(Kernel& kernel) override {
        folder_ = kernel.var_folder() / "mail";
        if (!kernel.find<mail::Driver>()) kernel.offer<mail::Driver>(*this);
    }

    void carry(const mail::Message& message) override {
        std::filesystem::create_directories(folder_);
        const auto file = folder_ / (message.id.str() + ".eml");
        // Whoever watches the folder sees whole mails only.
        auto unfinished = file;
        unfinished += ".part";
        std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
        out << message.mime;
        out.close();
        if (!out) throw std::runtime_error("cannot write " + unfinished.string());
        std::filesystem::permissions(unfinished, private_file);
        std::filesystem::rename(unfinished, file);
        Poco::Logger::get("mail").information(
            message.kind + " to " + message.to.str() + ": " +
            (message.link.empty() ? file.string() : message.link)
        );
    }

private:
    static constexpr auto private_file =
        std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
    std::filesystem::path folder_;
};

}  // namespace

}  // namespace svc::mail_file

SVC_MODULE(svc::mail_file::MailFile, "mail-file", "mail");
