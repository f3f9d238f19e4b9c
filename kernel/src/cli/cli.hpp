#pragma once

namespace svc::cli {

/// The `workboard` program: reads the command line and runs the command; the exit code.
/// 0 done, 1 refused or failed, 2 the command line makes no sense.
int run(int count, char** words);

}  // namespace svc::cli
