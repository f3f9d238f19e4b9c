#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

/// What secrets are made of, kept as and compared by. Any thread.
namespace svc {

std::string random_bytes(std::size_t count);
/// 256 random bits as 43 characters of base64url: for what is handed out once and kept as its
/// digest.
std::string random_token();

using Sha256 = std::array<std::uint8_t, 32>;

Sha256 sha256(std::string_view bytes);

/// Of bytes that come in pieces. One thread at a time.
class Sha256Sum {
public:
    Sha256Sum();
    ~Sha256Sum();
    Sha256Sum(Sha256Sum&&) noexcept;
    Sha256Sum& operator=(Sha256Sum&&) noexcept;

    void add(std::string_view bytes);
    /// Once, when all have come.
    Sha256 finish();

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Same bytes, in a time that does not depend on where they differ.
bool same_secret(std::string_view a, std::string_view b);

}  // namespace svc
