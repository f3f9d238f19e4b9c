#pragma once

#include "modules/boards/statements.hpp"

/// Assignees as requests name them, turned into what cards show.
namespace svc::boards {

struct PersonFound {
    std::optional<Uuid> id;
    std::optional<PrincipalType> principal_type;
    std::optional<std::string> name;
};
SVC_SHARED_RECORD(PersonFound, (id), (principal_type), (name));

/// People and agents by id.
class PeopleResolver {
public:
    /// Queues the look-up, unless nobody said anything about people.
    PeopleResolver(Call& call, const std::optional<std::vector<Uuid>>& wanted);
    bool given() const { return found_.has_value(); }
    /// Reads; throws Failure 422 for somebody who is not in the workspace. Those `present` on the
    /// card may stay when they have left: lists are sent back as they were shown.
    std::vector<PrincipalRef> refs(const std::vector<PrincipalRef>& present = {});
    /// Reads; whoever is not in the workspace is left out.
    std::vector<PrincipalRef> those_still_here();

private:
    Call& call_;
    std::vector<Uuid> wanted_;
    std::optional<DeferredRows<PersonFound>> found_;
};

/// Queues the index of who is on a card in place of what it was.
void index_assignees(Tx& tx, const Uuid& org, const Uuid& card, const std::vector<PrincipalRef>&);

}  // namespace svc::boards
