#pragma once

#include "modules/boards/api/definitions.hpp"
#include "modules/boards/statements.hpp"

/// Labels as requests name them, turned into what cards show.
namespace svc::boards {

/// 409: another label of the board has the name.
Failure label_name_taken();

/// A label as asked for, and the one that the board has for it.
struct LabelFound {
    std::string wanted;
    std::string name_key;  ///< what names are compared by, of that
    std::optional<Uuid> id;
    std::optional<std::string> name;
    std::optional<Color> color;
    std::int64_t total = 0;
};
SVC_SHARED_RECORD(LabelFound, (wanted), (name_key), (id), (name), (color), (total));

/// Labels by id or by name; names that the board does not know yet become labels.
class LabelResolver {
public:
    /// Queues the look-up, unless nobody said anything about labels. The board is the one given,
    /// or else the one that `card` is on.
    LabelResolver(
        Call& call,
        const std::optional<std::vector<std::string>>& wanted,
        const std::optional<Uuid>& board,
        const std::optional<Uuid>& card
    );
    bool given() const { return found_.has_value(); }
    /// Reads; throws Failure 422 for an unknown id.
    std::vector<LabelRef> refs();
    /// Queues the rows of new labels and emits them.
    void make_new_ones(const Uuid& board);

private:
    struct NewLabel {
        std::string name_key;
        LabelRef ref;
    };
    LabelRef ref_of_new(const LabelFound& wanted);

    Call& call_;
    std::optional<DeferredRows<LabelFound>> found_;
    std::vector<NewLabel> new_;
};

}  // namespace svc::boards
