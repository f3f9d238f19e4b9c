#include "modules/auth/lib/passwords.hpp"

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <sodium.h>

#include <new>
#include <stdexcept>

namespace svc::auth {

Passwords::Passwords(std::int64_t memory_mib, std::int64_t passes)
    : passes_(static_cast<unsigned long long>(passes)),
      memory_(static_cast<std::size_t>(memory_mib) << 20) {
    if (sodium_init() < 0) throw std::runtime_error("libsodium cannot start");
}

std::string Passwords::hash(std::string_view password) const {
    std::string out(crypto_pwhash_STRBYTES, '\0');
    if (crypto_pwhash_str_alg(
            out.data(),
            password.data(),
            password.size(),
            passes_,
            memory_,
            crypto_pwhash_ALG_ARGON2ID13
        ) != 0)
        throw std::bad_alloc();
    out.resize(out.find('\0'));
    return out;
}

bool Passwords::matches(const std::string& hash, std::string_view password) const {
    return crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
}

bool Passwords::outdated(const std::string& hash) const {
    return crypto_pwhash_str_needs_rehash(hash.c_str(), passes_, memory_) != 0;
}

std::string Passwords::decoy() const {
    return "$argon2id$v=19$m=" + std::to_string(memory_ >> 10) + ",t=" + std::to_string(passes_) +
           ",p=1$" + base64(random_bytes(16), Base64::unpadded) + '$' +
           base64(random_bytes(32), Base64::unpadded);
}

}  // namespace svc::auth
