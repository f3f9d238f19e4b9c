#pragma once

#include "svc/record.hpp"

/// Values of database rows. A cell that does not fit its field is a std::logic_error: the
/// statement and the record disagree.
namespace svc::decl {

/// The cell's text; a NULL is a misfit.
std::string_view present(Cell cell);

[[noreturn]] void misfit(Cell cell, std::string_view expected);

}  // namespace svc::decl
