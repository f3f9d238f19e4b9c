#include "core/secret.hpp"

#include "db/home.hpp"
#include "svc/encoding.hpp"

#include <openssl/hmac.h>
#include <sodium.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace svc::core {

namespace {

std::string hmac(std::string_view key, std::string_view message) {
    unsigned char out[32];
    unsigned int size = sizeof out;
    HMAC(
        EVP_sha256(),
        key.data(),
        static_cast<int>(key.size()),
        reinterpret_cast<const unsigned char*>(message.data()),
        message.size(),
        out,
        &size
    );
    return {reinterpret_cast<const char*>(out), size};
}

const unsigned char* bytes(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

constexpr std::size_t shortest_key = 32;

/// What the system says of a key file, and whose it is when it is not ours.
[[noreturn]] void fail(const std::filesystem::path& file, const std::string& what) {
    const int why = errno;
    std::string text = file.string() + ": cannot " + what + " the server's key: " + strerror(why);
    const auto owner = db::owner_of(file);
    if ((why == EACCES || why == EPERM) && owner && *owner != geteuid())
        text += "; " + db::belongs_to("it", *owner);
    throw std::runtime_error(text);
}

std::string read_key(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) fail(file, "read");
    std::string key(std::istreambuf_iterator<char>(in), {});
    if (key.size() < shortest_key)
        throw std::runtime_error(
            file.string() + ": is not the server's key (32 bytes or more)" +
            (key.empty() ? "; it is empty: remove it, and the server makes one" : "")
        );
    return key;
}

/// One that we may not look at is there all the same.
bool is_there(const std::filesystem::path& file) {
    return ::access(file.c_str(), F_OK) == 0 || errno == EACCES;
}

/// Another server may be starting beside us: whoever gives the file its name has made the key.
std::string read_or_make(const std::filesystem::path& file) {
    if (is_there(file)) return read_key(file);
    const std::string key = Secret::random_key();
    return NewKey(key, file).put_unless_there() ? key : read_key(file);
}

/// Who reads the key that is there is to read the new one; false when that is not up to us.
bool give_as(const std::filesystem::path& file, int made) {
    struct stat old {};
    if (::stat(file.c_str(), &old) != 0) return true;
    if (::fchown(made, old.st_uid, old.st_gid) == 0) return ::fchmod(made, old.st_mode & 0640) == 0;
    return old.st_uid == geteuid();  // in a group that we are not in
}

/// So that a name that was given is there after a power cut, too.
void sync_folder_of(const std::filesystem::path& file) {
    const int folder = ::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
}

}  // namespace

Secret::Secret(const std::string& configured, const std::filesystem::path& file, Missing missing) {
    if (sodium_init() < 0) throw std::runtime_error("libsodium cannot start");
    if (configured.empty()) {
        if (missing == Missing::make) {
            key_ = read_or_make(file);
        } else if (is_there(file)) {
            key_ = read_key(file);
        } else {
            key_ = random_key();
            lasts_ = false;
        }
        return;
    }
    if (configured.size() < shortest_key)
        throw std::runtime_error("server.secret: has to have at least 32 characters");
    key_ = configured;
}

Secret::Secret(std::string key) : key_(std::move(key)) {
    if (sodium_init() < 0) throw std::runtime_error("libsodium cannot start");
}

std::string Secret::random_key() {
    std::string key(shortest_key, '\0');
    randombytes_buf(key.data(), key.size());
    return key;
}

void Secret::keep(const std::string& key, const std::filesystem::path& file) {
    NewKey(key, file).put();
}

NewKey::NewKey(const std::string& key, std::filesystem::path file)
    : file_(std::move(file)), part_(file_.string() + ".XXXXXX") {
    const int made = ::mkostemp(part_.data(), O_CLOEXEC);  // nobody else can read it
    if (made < 0) fail(file_, "write");
    const bool written = give_as(file_, made) &&
                         ::write(made, key.data(), key.size()) == ssize_t(key.size()) &&
                         ::fsync(made) == 0;
    const int why = errno;
    ::close(made);
    if (written) return;
    ::unlink(part_.c_str());
    errno = why;
    fail(file_, "write");
}

NewKey::~NewKey() {
    if (!part_.empty()) ::unlink(part_.c_str());
}

void NewKey::put() {
    if (::rename(part_.c_str(), file_.c_str()) != 0) fail(file_, "replace");
    part_.clear();
    sync_folder_of(file_);
}

bool NewKey::put_unless_there() {
    if (::link(part_.c_str(), file_.c_str()) == 0) {
        sync_folder_of(file_);
        return true;
    }
    if (errno == EEXIST) return false;
    put();  // a file system without links
    return true;
}

std::string Secret::fingerprint() const { return hex(sign("fingerprint", "").substr(0, 16)); }

std::string Secret::sign(std::string_view purpose, std::string_view message) const {
    return hmac(hmac(key_, purpose), message);
}

std::string Secret::seal(std::string_view purpose, std::string_view context, std::string_view text)
    const {
    const std::string key = sign(purpose, context);
    std::string out(crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES + text.size(), '\0');
    randombytes_buf(out.data(), crypto_secretbox_NONCEBYTES);
    crypto_secretbox_easy(
        bytes(out) + crypto_secretbox_NONCEBYTES, bytes(text), text.size(), bytes(out), bytes(key)
    );
    return out;
}

std::string Secret::unseal(
    std::string_view purpose, std::string_view context, std::string_view sealed
) const {
    constexpr auto overhead = crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES;
    if (sealed.size() < overhead) return {};
    const std::string key = sign(purpose, context);
    std::string out(sealed.size() - overhead, '\0');
    const int failed = crypto_secretbox_open_easy(
        bytes(out),
        bytes(sealed) + crypto_secretbox_NONCEBYTES,
        sealed.size() - crypto_secretbox_NONCEBYTES,
        bytes(sealed),
        bytes(key)
    );
    return failed ? std::string() : out;
}

}  // namespace svc::core
