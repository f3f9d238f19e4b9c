#pragma once

#include <filesystem>
#include <string>

/// Where things lie on this machine. Told by functions and not by macros, so that one file alone
/// is compiled with them, and a compiler cache finds all others in every clone.
namespace svc::test {

/// The checkout, absolute.
const std::filesystem::path& source_folder();
/// What it was built into, absolute.
const std::filesystem::path& build_folder();
/// For what need not outlive the machine: in memory where there is plenty of it, for making the
/// files of a database takes ten times as much processor time on a disk; else the one for temporary
/// files.
const std::filesystem::path& memory_folder();

/// A file of the checkout or of the build, as a word for a command.
inline std::string in_source(const char* path) { return source_folder() / path; }
inline std::string in_build(const char* path) { return build_folder() / path; }

}  // namespace svc::test
