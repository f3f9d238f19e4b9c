#pragma once

#include <string_view>

/// What operations refuse with is collected from the tests that meet it, for
/// docs/reference/refusals.json (CONTRIBUTING says how that is recorded).
namespace svc::test {

/// Adds a line to the file that WORKBOARD_REFUSALS names, once in a process for each reason of an
/// operation: where it was met, by which test, and the body. Does nothing when no file is named or
/// the body is no refusal of the API's. Any thread may call it.
///
/// `where` is an operation's name, or its method and path.
void note_refusal(std::string_view where, std::string_view body);

}  // namespace svc::test
