#include "svc/module.hpp"

#include "modules/files/card_files.hpp"
#include "modules/files/pictures.hpp"
#include "modules/files/sweeper.hpp"

#include <sodium.h>

namespace svc::files {

namespace {

Service* the_service = nullptr;

class Module final : public svc::Module {
public:
    void open(Kernel& kernel) override {
        if (sodium_init() < 0) throw std::runtime_error("libsodium did not initialise");
        service_.emplace(kernel, kernel.settings<Settings>());
        the_service = &*service_;
        pictures_.emplace(*service_);
        values_.emplace(*service_);
        sweeper_.emplace(*service_);
        kernel.tag("files", "Files: uploads, attachments of cards, pictures.");
        for (const Operation* each :
             {&presign_file,
              &commit_file,
              &get_file,
              &delete_file,
              &list_attachments,
              &attach_file,
              &detach_file})
            kernel.add(*each);
        for (const EventKind* each :
             {&file_created, &file_deleted, &file_announced, &file_committed, &file_removed})
            kernel.add(*each);
        kernel.offer<Files>(*service_);
        kernel.offer<Uploads>(*service_);
        kernel.offer<auth::Pictures>(*pictures_);
        kernel.offer<orgs::Pictures>(*pictures_);
        kernel.offer<boards::CardFiles>(*values_);
        pictures_->add_route(kernel);
        values_->add_route(kernel);
    }

    void start() override {
        service_->start();
        sweeper_->start();
    }

    void stop() noexcept override {
        if (sweeper_) sweeper_->stop();
        if (service_) service_->stop();
    }

private:
    std::optional<Service> service_;
    std::optional<Pictures> pictures_;
    std::optional<ValuesOfCards> values_;
    std::optional<Sweeper> sweeper_;
};

}  // namespace

Service& service() { return *the_service; }

}  // namespace svc::files

SVC_MODULE(svc::files::Module, "files", "orgs", "auth", "boards");
