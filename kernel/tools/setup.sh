# What run, test and bench share: the Debian packages, and configuring and building a preset.
# Sourced by them; does nothing by itself.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"

# Every package the project asks of Debian 12, named here only. README.md says what each is for.
build_packages=(
    clang-19 g++ cmake ninja-build ccache mold
    libpoco-dev libboost1.81-dev libboost-json1.81-dev libpq-dev libssl-dev libsodium-dev
    liblua5.4-dev libseccomp-dev libfmt-dev libtomlplusplus-dev libre2-dev zlib1g-dev
    libcmark-gfm-dev libcmark-gfm-extensions-dev libicu-dev
    postgresql-15 ca-certificates curl jq
)
node_packages=(nodejs npm)  # only when there is no other Node
test_packages=(libgtest-dev libgmock-dev nginx caddy haproxy redis-server chromium-headless-shell)
sanitizer_packages=(libclang-rt-19-dev)
bench_packages=(libgtest-dev wrk)

say() { printf '%s\n' "$*" >&2; }
fail() {
    say "$@"
    exit 1
}

# Runs a command as root.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "This needs root, and there is no sudo here. As root, run:  $*"
    fi
}

# Prints those of the named packages that are not installed.
missing_of() {
    local installed
    # dpkg-query fails when it knows nothing of one of them.
    installed="$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)"
    for package in "$@"; do
        grep -qx "installed $package" <<<"$installed" || printf '%s\n' "$package"
    done
}

apt_install() {
    # --no-remove: rather stop than take away something that is in use.
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -q -y --no-install-recommends --no-remove "$@"
}

# A subshell, so that what keeps services from starting is taken away however it ends.
apt_install_without_services() (
    local temporary=(/etc/postgresql-common/createcluster.d/workboard.conf)
    local no_services=/usr/sbin/policy-rc.d
    [ -e "$no_services" ] || temporary+=("$no_services")
    trap 'as_root rm -f "${temporary[@]}"' EXIT
    # The PostgreSQL package makes and starts a cluster of its own, unless told not to. Workboard
    # brings its own and leaves the system's alone.
    as_root mkdir -p "${temporary[0]%/*}"
    echo 'create_main_cluster = false' | as_root tee "${temporary[0]}" >/dev/null
    # Nor is any package to start a service: tests run the programs by themselves.
    if [ ! -e "$no_services" ]; then
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$no_services" >/dev/null
        as_root chmod 755 "$no_services"
    fi
    # Lists that are missing or out of date make the first try fail.
    apt_install "$@" || { as_root apt-get update -q && apt_install "$@"; }
)

# Installs what is missing of the named packages; asks nothing, and is instant when all are there.
install_packages() {
    local missing
    if ! command -v dpkg-query >/dev/null; then
        say "This is not Debian: make sure that you have what these packages hold: $*"
        return
    fi
    mapfile -t missing < <(missing_of "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    say "Installing ${#missing[@]} Debian packages: ${missing[*]}"
    apt_install_without_services "${missing[@]}" ||
        fail "Debian's packages could not be installed; apt-get says why above."
}

# Prints Debian's packages of Node, which builds the web pages, when there is no usable one; any
# from 18 on will do, wherever it came from.
node_if_missing() {
    local version
    version="$(node --version 2>/dev/null || echo v0)"
    version="${version#v}"
    if [ "${version%%.*}" -lt 18 ] || ! command -v npm >/dev/null; then
        printf '%s\n' "${node_packages[@]}"
    fi
}

# build_preset <preset> [target…]: configures it when that was not done before, and builds.
build_preset() {
    local preset="$1"
    shift
    cd "$root"
    [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset"
    with_huge_pages cmake --build --preset "$preset" ${1:+--target "$@"}
}

# Runs a command whose processes take their memory in huge pages: a compiler touches hundreds of
# megabytes once, and under some hypervisors the page faults of that take as long as the compiling.
with_huge_pages() {
    GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864 "$@"
}
