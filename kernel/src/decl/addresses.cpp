#include "decl/addresses.hpp"

#include <unicode/uidna.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include <stdexcept>

namespace svc::decl {

namespace {

void require(UErrorCode code) {
    if (U_FAILURE(code)) throw std::runtime_error(std::string("ICU: ") + u_errorName(code));
}

/// Of use by any thread; lives as long as the program.
const UIDNA* idna() {
    static const UIDNA* const here = [] {
        UErrorCode code = U_ZERO_ERROR;
        const UIDNA* opened = uidna_openUTS46(
            UIDNA_USE_STD3_RULES | UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ |
                UIDNA_NONTRANSITIONAL_TO_ASCII,
            &code
        );
        require(code);
        return opened;
    }();
    return here;
}

std::u16string utf16(std::string_view text) {
    std::u16string out(text.size(), u'\0');  // never more units than bytes
    std::int32_t size = 0;
    UErrorCode code = U_ZERO_ERROR;
    u_strFromUTF8(
        out.data(),
        static_cast<std::int32_t>(out.size()),
        &size,
        text.data(),
        static_cast<std::int32_t>(text.size()),
        &code
    );
    require(code);
    out.resize(static_cast<std::size_t>(size));
    return out;
}

std::string utf8(const std::u16string& text) {
    std::string out(3 * text.size(), '\0');
    std::int32_t size = 0;
    UErrorCode code = U_ZERO_ERROR;
    u_strToUTF8(
        out.data(),
        static_cast<std::int32_t>(out.size()),
        &size,
        text.data(),
        static_cast<std::int32_t>(text.size()),
        &code
    );
    require(code);
    out.resize(static_cast<std::size_t>(size));
    return out;
}

/// Calls `work(destination, capacity, code)`, which gives the size that it needs, once or twice.
template <class Work>
std::u16string sized(std::size_t guess, Work work) {
    std::u16string out(guess, u'\0');
    for (;;) {
        UErrorCode code = U_ZERO_ERROR;
        const auto size =
            static_cast<std::size_t>(work(out.data(), static_cast<std::int32_t>(out.size()), &code)
            );
        out.resize(size);
        if (code == U_BUFFER_OVERFLOW_ERROR) continue;
        require(code);
        return out;
    }
}

std::u16string normalized(const UNormalizer2* form, const std::u16string& text) {
    return sized(text.size() + 16, [&](char16_t* to, std::int32_t size, UErrorCode* code) {
        return unorm2_normalize(
            form, text.data(), static_cast<std::int32_t>(text.size()), to, size, code
        );
    });
}

std::u16string without_case(const std::u16string& text) {
    return sized(text.size() + 16, [&](char16_t* to, std::int32_t size, UErrorCode* code) {
        return u_strFoldCase(
            to, size, text.data(), static_cast<std::int32_t>(text.size()), U_FOLD_CASE_DEFAULT, code
        );
    });
}

}  // namespace

std::optional<std::string> ascii_domain(std::string_view domain) {
    constexpr std::size_t longest = 254;
    std::string out(longest + 1, '\0');
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode code = U_ZERO_ERROR;
    const auto size = uidna_nameToASCII_UTF8(
        idna(),
        domain.data(),
        static_cast<std::int32_t>(domain.size()),
        out.data(),
        static_cast<std::int32_t>(longest),
        &info,
        &code
    );
    if (U_FAILURE(code) || info.errors != 0) return std::nullopt;
    out.resize(static_cast<std::size_t>(size));
    return out;
}

std::string folded(std::string_view text) {
    UErrorCode code = U_ZERO_ERROR;
    const UNormalizer2* const nfd = unorm2_getNFDInstance(&code);
    const UNormalizer2* const nfc = unorm2_getNFCInstance(&code);
    require(code);
    return utf8(normalized(nfc, without_case(normalized(nfd, utf16(text)))));
}

}  // namespace svc::decl
