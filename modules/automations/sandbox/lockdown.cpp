#include "modules/automations/sandbox/box.hpp"

#include <grp.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

namespace svc::sandbox {

namespace {

constexpr unsigned nobody = 65534;
constexpr rlim_t beside_lua = 48 << 20;  // bytes: the program, its stack, messages

void need(bool done) {
    if (!done) finish("the sandbox cannot be closed");
}

void limit(__rlimit_resource what, rlim_t most) {
    const rlimit both{most, most};
    need(setrlimit(what, &both) == 0);
}

/// What is left: to read and write where the server is, to take and give back memory that
/// cannot be executed, to look at the clock, to end. Anything else ends the process.
void filter_system_calls() {
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    need(filter != nullptr);
    const auto allow = [&](int call) {
        need(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) == 0);
    };
    for (const int call :
         {SCMP_SYS(exit_group),
          SCMP_SYS(brk),
          SCMP_SYS(munmap),
          SCMP_SYS(mremap),
          SCMP_SYS(clock_gettime)})
        allow(call);
    for (const int call : {SCMP_SYS(read), SCMP_SYS(write)})
        need(seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A0(SCMP_CMP_EQ, 0)) == 0);
    need(
        seccomp_rule_add(
            filter,
            SCMP_ACT_ALLOW,
            SCMP_SYS(mmap),
            2,
            SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
            SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS)
        ) == 0
    );
    need(seccomp_load(filter) == 0);
    seccomp_release(filter);
}

}  // namespace

void lock_down(const Limits& limits) {
    if (geteuid() == 0) {
        need(setgroups(0, nullptr) == 0);
        need(setresgid(nobody, nobody, nobody) == 0);
        need(setresuid(nobody, nobody, nobody) == 0);
    }
    need(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
    need(prctl(PR_SET_DUMPABLE, 0) == 0);
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    limit(RLIMIT_NPROC, 0);
    limit(RLIMIT_NOFILE, 1);
    limit(RLIMIT_MEMLOCK, 0);
    limit(RLIMIT_STACK, 1 << 20);
    limit(RLIMIT_CPU, static_cast<rlim_t>(limits.cpu_seconds));
    limit(RLIMIT_AS, limits.memory + beside_lua);
    filter_system_calls();
}

}  // namespace svc::sandbox
