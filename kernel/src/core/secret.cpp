#include "core/secret.hpp"

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

std::string random_key() {
    std::string key(32, '\0');
    randombytes_buf(key.data(), key.size());
    return key;
}

/// Another server may be starting beside us: whoever creates the file has made the key.
std::string read_or_make(const std::filesystem::path& file) {
    const int made = ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (made >= 0) {
        const std::string key = random_key();
        const bool written =
            ::write(made, key.data(), key.size()) == ssize_t(key.size()) && ::fsync(made) == 0;
        ::close(made);
        if (!written) throw std::runtime_error(file.string() + ": cannot write the server's key");
        return key;
    }
    std::ifstream in(file, std::ios::binary);
    std::string key(std::istreambuf_iterator<char>(in), {});
    if (key.size() != 32)
        throw std::runtime_error(file.string() + ": is not the server's key (32 bytes)");
    return key;
}

}  // namespace

Secret::Secret(const std::string& configured, const std::filesystem::path& file) {
    if (sodium_init() < 0) throw std::runtime_error("libsodium cannot start");
    if (configured.empty()) {
        key_ = read_or_make(file);
        return;
    }
    if (configured.size() < 32)
        throw std::runtime_error("server.secret: has to have at least 32 characters");
    key_ = configured;
}

Secret::Secret(std::string key) : key_(std::move(key)) {
    if (sodium_init() < 0) throw std::runtime_error("libsodium cannot start");
}

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
