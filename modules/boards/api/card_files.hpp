#pragma once

#include "svc/kernel.hpp"

/// Files among the values of cards' properties.
namespace svc::boards {

struct Card;

/// Offered by the module that keeps files, for boards to find; without one no property has files.
///
/// A card's row has them as `{file_id, name, url}` with no url: addresses end too soon to be kept.
class CardFiles {
public:
    static constexpr std::string_view name = "boards.CardFiles";

    struct Named {
        Uuid id;
        std::string name;
    };
    /// Queues the question which of these files the caller may attach to a card; the function
    /// returned reads the answer, in no order.
    virtual std::function<std::vector<Named>()> find(Call& call, const std::vector<Uuid>& ids) = 0;

    /// Queues the question which of these files are still there, whoever may see them; the function
    /// returned reads the answer, in no order.
    virtual std::function<std::vector<Uuid>()> kept(
        Tx& tx, const Uuid& org, const std::vector<Uuid>& ids
    ) = 0;

    /// Queues that files are attached to these cards as their rows say, which are queued already:
    /// whoever sees the card may see them from then on, and those let go are attached no more.
    virtual void follow(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) = 0;

    /// Where the file can be downloaded for a while, by anybody; no database is asked.
    virtual std::string link(const Uuid& org, const Uuid& file) = 0;

protected:
    ~CardFiles() = default;
};

/// Queues that files are attached to these cards as their rows, queued already, say.
void follow_files(Call& call, const std::vector<Uuid>& cards);

/// As answers show it, with the addresses of the files in its values.
void show(const Kernel& kernel, Card& card);

}  // namespace svc::boards
