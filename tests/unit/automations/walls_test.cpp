#include "tests/support/places.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <string>

/// What is left to a process that has closed itself in as the sandbox does.
namespace svc::test {

namespace {

/// Ends as the probe does: the signal that killed it, negative, or its exit code.
int end_of_probe(std::string attempt) {
    const std::string program = in_build("bin/sandbox_probe");
    std::string name = "sandbox_probe";
    char* words[] = {name.data(), attempt.data(), nullptr};
    pid_t pid = 0;
    if (posix_spawn(&pid, program.c_str(), nullptr, nullptr, words, nullptr) != 0) return -1'000;
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST(SandboxWalls, ReadingWritingMemoryAndTheClockAreLeft) {
    EXPECT_EQ(end_of_probe("nothing"), 0);
    EXPECT_EQ(end_of_probe("memory"), 0);
    EXPECT_EQ(end_of_probe("clock"), 0);
}

TEST(SandboxWalls, EverythingElseEndsTheProcess) {
    for (const char* attempt :
         {"fork",
          "vfork",
          "clone",
          "execve",
          "open",
          "openat",
          "socket",
          "kill",
          "ptrace",
          "mmap_exec",
          "mmap_file",
          "mprotect",
          "prctl",
          "setrlimit",
          "unlink",
          "write_elsewhere",
          "read_elsewhere",
          "memfd",
          "io_uring",
          "process_vm_readv",
          "setuid",
          "mount",
          "unshare",
          "bpf",
          "keyctl",
          "getdents",
          "uname",
          "nanosleep",
          "dup",
          "pipe",
          "sigaction"})
        EXPECT_EQ(end_of_probe(attempt), -SIGSYS) << attempt;
}

}  // namespace svc::test
