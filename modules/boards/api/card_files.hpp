#pragma once

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/lib/file_values.hpp"
#include "svc/kernel.hpp"

/// Files among the values of cards' properties.
namespace svc::boards {

/// Offered by the module that keeps files, for boards to find; without one no property has files.
///
/// A card's row has them as `{file_id, name, url}` with no url: addresses end too soon to be kept.
class CardFiles {
public:
    static constexpr std::string_view name = "boards.card_files";

    struct Named {
        Uuid id;
        std::string name;
    };
    /// Queues the question which of these files the caller may hang on a card; the function
    /// returned reads the answer, in no order.
    virtual std::function<std::vector<Named>()> find(Call& call, const std::vector<Uuid>& ids) = 0;

    /// Queues the question which of these files are still there, whoever may see them; the function
    /// returned reads the answer, in no order.
    virtual std::function<std::vector<Uuid>()> kept(
        Tx& tx, const Uuid& org, const std::vector<Uuid>& ids
    ) = 0;

    /// Queues that files hang on these cards as their rows say, which are queued already: whoever
    /// sees the card may see them from then on, and those let go hang there no more.
    virtual void follow(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) = 0;

    /// Where the file can be downloaded for a while, by anybody; no database is asked.
    virtual std::string link(const Uuid& org, const Uuid& file) = 0;

protected:
    ~CardFiles() = default;
};

/// Queues that files hang on these cards as their rows, queued already, say.
inline void follow_files(Call& call, const std::vector<Uuid>& cards) {
    if (cards.empty()) return;
    if (auto* files = call.kernel().find<CardFiles>()) files->follow(call.tx(), call.org(), cards);
}

/// As answers show it, with the addresses of the files in its values.
inline void show(const Kernel& kernel, Card& card) {
    card.url = url_of(kernel, card);
    if (!has_files(card.properties.text)) return;
    auto* files = kernel.find<CardFiles>();
    if (!files) return;
    card.properties.text = with_links(card.properties.text, [&](const Uuid& file) {
        return files->link(card.org_id, file);
    });
}

}  // namespace svc::boards
