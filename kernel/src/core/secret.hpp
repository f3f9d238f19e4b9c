#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace svc::core {

/// The server's secret and what is derived from it. Servers that share a database share the
/// secret. Immutable; any thread.
class Secret {
public:
    /// What to do where there is no key yet: make one, readable by its owner alone, or go on with
    /// one that is gone with the process.
    enum class Missing { make, go_without };
    /// At least 32 characters from the config, or a key kept in `file`. Throws std::runtime_error
    /// naming the place.
    Secret(
        const std::string& configured,
        const std::filesystem::path& file,
        Missing missing = Missing::make
    );
    /// For tests and commands that sign nothing that lasts.
    explicit Secret(std::string key);

    /// False for a key that is nowhere but in this process.
    bool lasts() const { return lasts_; }
    /// For a backup, which is as secret as it is.
    const std::string& key() const { return key_; }
    /// What tells two keys apart and does not tell what they are: 32 hexadecimal digits.
    std::string fingerprint() const;
    /// Writes a key where the constructor finds it, in place of what is there and for its owner.
    static void keep(const std::string& key, const std::filesystem::path& file);
    static std::string random_key();

    /// HMAC-SHA256 of `message` under a key of this purpose: 32 bytes.
    std::string sign(std::string_view purpose, std::string_view message) const;

    /// Encrypts under a key of this purpose and `context` (XSalsa20-Poly1305, random nonce).
    std::string seal(std::string_view purpose, std::string_view context, std::string_view text)
        const;
    /// What was sealed; empty when the text was made under another key or altered.
    std::string unseal(std::string_view purpose, std::string_view context, std::string_view sealed)
        const;

private:
    std::string key_;
    bool lasts_ = true;
};

/// A key that is on the disk, and has its name once it is put there; else it is gone with the
/// object. Throws std::runtime_error naming the place; what is there stays then.
class NewKey {
public:
    /// Its owner is that of the file that it may replace.
    NewKey(const std::string& key, std::filesystem::path file);
    ~NewKey();
    NewKey(const NewKey&) = delete;
    NewKey& operator=(const NewKey&) = delete;

    /// In place of what is there.
    void put();
    /// False when there is a key by now.
    bool put_unless_there();

private:
    const std::filesystem::path file_;
    std::string part_;  // empty once it has its name
};

}  // namespace svc::core
