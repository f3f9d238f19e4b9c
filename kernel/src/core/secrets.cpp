#include "svc/secrets.hpp"

#include "svc/encoding.hpp"

#include <openssl/evp.h>
#include <sodium.h>

#include <stdexcept>

namespace svc {

std::string random_bytes(std::size_t count) {
    std::string out(count, '\0');
    randombytes_buf(out.data(), out.size());
    return out;
}

std::string random_token() { return base64(random_bytes(32)); }

namespace {

void require(int done) {
    if (done != 1) throw std::runtime_error("SHA-256 failed");
}

/// Looked up once: it takes longer than a token's digest, under a lock of all threads.
const EVP_MD* algorithm() {
    static EVP_MD* const found = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    return found;
}

}  // namespace

Sha256 sha256(std::string_view bytes) {
    Sha256 digest;
    require(EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, algorithm(), nullptr));
    return digest;
}

struct Sha256Sum::State {
    EVP_MD_CTX* context = EVP_MD_CTX_new();

    State() = default;
    ~State() { EVP_MD_CTX_free(context); }
    State(const State&) = delete;
    State& operator=(const State&) = delete;
};

Sha256Sum::Sha256Sum() : state_(std::make_unique<State>()) {
    require(EVP_DigestInit_ex(state_->context, algorithm(), nullptr));
}

Sha256Sum::~Sha256Sum() = default;
Sha256Sum::Sha256Sum(Sha256Sum&&) noexcept = default;
Sha256Sum& Sha256Sum::operator=(Sha256Sum&&) noexcept = default;

void Sha256Sum::add(std::string_view bytes) {
    require(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()));
}

Sha256 Sha256Sum::finish() {
    Sha256 digest;
    require(EVP_DigestFinal_ex(state_->context, digest.data(), nullptr));
    return digest;
}

bool same_secret(std::string_view a, std::string_view b) {
    return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace svc
