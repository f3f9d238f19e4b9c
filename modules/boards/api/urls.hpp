#pragma once

#include "svc/kernel.hpp"

/// Where people see things.
namespace svc::boards {

struct Board;
struct Card;

std::string url_of(const Kernel& kernel, const Board& board);
std::string url_of(const Kernel& kernel, const Card& card);

}  // namespace svc::boards
