#include "core/secret.hpp"

#include "svc/encoding.hpp"

#include <openssl/hmac.h>
#include <sodium.h>

#include <fcntl.h>
#include <unistd.h>

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

void write_and_close(int to, std::string_view key, const std::filesystem::path& file) {
    const bool written =
        ::write(to, key.data(), key.size()) == ssize_t(key.size()) && ::fsync(to) == 0;
    ::close(to);
    if (!written) throw std::runtime_error(file.string() + ": cannot write the server's key");
}

std::string read_key(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error(file.string() + ": cannot read the server's key");
    std::string key(std::istreambuf_iterator<char>(in), {});
    if (key.size() < shortest_key)
        throw std::runtime_error(file.string() + ": is not the server's key (32 bytes or more)");
    return key;
}

/// Another server may be starting beside us: whoever creates the file has made the key.
std::string read_or_make(const std::filesystem::path& file) {
    const int made = ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (made < 0) return read_key(file);
    const std::string key = Secret::random_key();
    write_and_close(made, key, file);
    return key;
}

}  // namespace

Secret::Secret(const std::string& configured, const std::filesystem::path& file, Missing missing) {
    if (sodium_init() < 0) throw std::runtime_error("libsodium cannot start");
    if (configured.empty()) {
        if (missing == Missing::make) {
            key_ = read_or_make(file);
        } else if (std::filesystem::exists(file)) {
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
    // Under another name until it is whole, so that a key is never half of one.
    auto part = file;
    part += ".part";
    std::filesystem::remove(part);
    const int made = ::open(part.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (made < 0) throw std::runtime_error(part.string() + ": cannot write the server's key");
    write_and_close(made, key, part);
    std::filesystem::rename(part, file);
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
