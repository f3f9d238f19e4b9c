#pragma once

#include "svc/types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace svc::boards {

/// What a share link ends in: `sl_` and 64 characters of base64url, which are the workspace's id
/// and 256 random bits. The id says where to look, and tells nobody anything.
class ShareToken {
public:
    static constexpr std::string_view prefix = "sl_";

    /// A fresh one.
    explicit ShareToken(const Uuid& org);
    /// Nothing when the text is no such token.
    static std::optional<ShareToken> parse(std::string_view text);

    const Uuid& org() const { return org_; }
    const std::string& str() const { return text_; }
    /// SHA-256 in hexadecimal: what is kept of it, and how it is looked up.
    std::string digest() const;

private:
    ShareToken() = default;
    Uuid org_;
    std::string text_;
};

}  // namespace svc::boards
