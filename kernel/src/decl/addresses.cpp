#include "decl/addresses.hpp"

#include <unicode/bytestream.h>
#include <unicode/idna.h>
#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <memory>
#include <stdexcept>

namespace svc::decl {

namespace {

void require(UErrorCode code) {
    if (U_FAILURE(code)) throw std::runtime_error(std::string("ICU: ") + u_errorName(code));
}

/// Of use by any thread.
const icu::IDNA& idna() {
    static const std::unique_ptr<const icu::IDNA> here = [] {
        UErrorCode code = U_ZERO_ERROR;
        std::unique_ptr<const icu::IDNA> made(icu::IDNA::createUTS46Instance(
            UIDNA_USE_STD3_RULES | UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ |
                UIDNA_NONTRANSITIONAL_TO_ASCII,
            code
        ));
        require(code);
        return made;
    }();
    return *here;
}

icu::StringPiece piece(std::string_view text) {
    return {text.data(), static_cast<std::int32_t>(text.size())};
}

}  // namespace

std::optional<std::string> ascii_domain(std::string_view domain) {
    std::string out;
    icu::StringByteSink<std::string> sink(&out);
    icu::IDNAInfo info;
    UErrorCode code = U_ZERO_ERROR;
    idna().nameToASCII_UTF8(piece(domain), sink, info, code);
    require(code);
    if (info.hasErrors()) return std::nullopt;
    return out;
}

std::string folded(std::string_view text) {
    UErrorCode code = U_ZERO_ERROR;
    const icu::Normalizer2* const nfd = icu::Normalizer2::getNFDInstance(code);
    const icu::Normalizer2* const nfc = icu::Normalizer2::getNFCInstance(code);
    require(code);
    auto apart = nfd->normalize(icu::UnicodeString::fromUTF8(piece(text)), code);
    const auto whole = nfc->normalize(apart.foldCase(), code);
    require(code);
    std::string out;
    whole.toUTF8String(out);
    return out;
}

}  // namespace svc::decl
