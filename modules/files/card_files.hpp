#pragma once

#include "modules/boards/api/card_files.hpp"
#include "modules/files/files.hpp"

namespace svc::files {

/// Files among the values of cards' properties, for boards.
///
/// A card keeps no address, and what an address takes besides the file's id is only in the file's
/// row. So these lead here: signed for one file and a while, and from here to the store.
class ValuesOfCards final : public boards::CardFiles {
public:
    explicit ValuesOfCards(Service& service) : service_(service) {}
    void add_route(Kernel& kernel) const;

    std::function<std::vector<Named>()> find(Call& call, const std::vector<Uuid>& ids) override;
    std::function<std::vector<Uuid>()> kept(Tx& tx, const Uuid& org, const std::vector<Uuid>& ids)
        override;
    void follow(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) override;
    std::string link(const Uuid& org, const Uuid& file) override;

private:
    http::Answer serve(const http::Request& request) const;

    Service& service_;
};

}  // namespace svc::files
