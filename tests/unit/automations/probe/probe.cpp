#include "modules/automations/sandbox/box.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

/// sandbox_probe <attempt>: closes itself in as the sandbox does and tries to get out. Ends with
/// 0 when it was let.
namespace svc::sandbox {

void finish(const std::string&) { _exit(3); }

}  // namespace svc::sandbox

namespace {

struct Attempt {
    const char* name;
    long number;
    long arguments[6];
};

const char path[] = "/etc/passwd";
const long at = reinterpret_cast<long>(path);

const Attempt attempts[] = {
    {"fork", SYS_fork, {}},
    {"vfork", SYS_vfork, {}},
    {"clone", SYS_clone, {}},
    {"execve", SYS_execve, {at, 0, 0}},
    {"open", SYS_open, {at, O_RDONLY}},
    {"openat", SYS_openat, {AT_FDCWD, at, O_RDONLY}},
    {"socket", SYS_socket, {2, 1, 0}},
    {"kill", SYS_kill, {1, 0}},
    {"ptrace", SYS_ptrace, {0}},
    {"mmap_exec", SYS_mmap, {0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0}},
    {"mmap_file", SYS_mmap, {0, 4096, PROT_READ, MAP_PRIVATE, 0, 0}},
    {"mprotect", SYS_mprotect, {0, 4096, PROT_READ | PROT_EXEC}},
    {"prctl", SYS_prctl, {4, 1}},
    {"setrlimit", SYS_setrlimit, {7, at}},
    {"unlink", SYS_unlink, {at}},
    {"write_elsewhere", SYS_write, {1, at, 1}},
    {"read_elsewhere", SYS_read, {3, at, 1}},
    {"memfd", SYS_memfd_create, {at, 0}},
    {"io_uring", SYS_io_uring_setup, {1, 0}},
    {"process_vm_readv", SYS_process_vm_readv, {1, 0, 0, 0, 0, 0}},
    {"setuid", SYS_setuid, {0}},
    {"mount", SYS_mount, {at, at, at, 0, 0}},
    {"unshare", SYS_unshare, {0x10000000}},
    {"bpf", SYS_bpf, {0, 0, 0}},
    {"keyctl", SYS_keyctl, {0}},
    {"getdents", SYS_getdents64, {0, 0, 0}},
    {"uname", SYS_uname, {at}},
    {"nanosleep", SYS_nanosleep, {0, 0}},
    {"dup", SYS_dup, {0}},
    {"pipe", SYS_pipe2, {0, 0}},
    {"sigaction", SYS_rt_sigaction, {11, 0, 0, 8}},
};

bool use_memory() {
    for (int i = 0; i < 100; ++i) {
        void* block = std::malloc(400'000);
        if (!block) return false;
        std::memset(block, 1, 400'000);
        block = std::realloc(block, 900'000);
        std::free(block);
    }
    return true;
}

}  // namespace

int main(int count, char** words) {
    if (count != 2) return 2;
    svc::sandbox::lock_down({});
    if (std::strcmp(words[1], "memory") == 0) _exit(use_memory() ? 0 : 1);
    timespec now{};
    if (std::strcmp(words[1], "clock") == 0) _exit(clock_gettime(CLOCK_MONOTONIC, &now));
    for (const Attempt& each : attempts) {
        if (std::strcmp(each.name, words[1]) != 0) continue;
        const long* a = each.arguments;
        syscall(each.number, a[0], a[1], a[2], a[3], a[4], a[5]);
        _exit(0);
    }
    _exit(std::strcmp(words[1], "nothing") == 0 ? 0 : 2);
}
