#include "modules/files/lib/sniff.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace svc::files {

namespace {

using namespace std::string_view_literals;

struct Magic {
    std::string_view type;
    std::size_t at;
    std::string_view bytes;
};

constexpr std::array<Magic, 31> magics{{
    {"image/png", 0, "\x89PNG\r\n\x1A\n"sv},
    {"image/jpeg", 0, "\xFF\xD8\xFF"sv},
    {"image/gif", 0, "GIF87a"sv},
    {"image/gif", 0, "GIF89a"sv},
    {"image/webp", 8, "WEBP"sv},
    {"audio/wav", 8, "WAVE"sv},
    {"video/x-msvideo", 8, "AVI "sv},
    {"image/tiff", 0, "II*\0"sv},
    {"image/tiff", 0, "MM\0*"sv},
    {"image/avif", 4, "ftypavif"sv},
    {"image/heic", 4, "ftyphei"sv},
    {"video/quicktime", 4, "ftypqt  "sv},
    {"audio/mp4", 4, "ftypM4A"sv},
    {"video/mp4", 4, "ftyp"sv},
    {"video/webm", 0, "\x1A\x45\xDF\xA3"sv},
    {"audio/ogg", 0, "OggS"sv},
    {"audio/flac", 0, "fLaC"sv},
    {"audio/mpeg", 0, "ID3"sv},
    {"audio/mpeg", 0, "\xFF\xFB"sv},
    {"audio/mpeg", 0, "\xFF\xF3"sv},
    {"application/pdf", 0, "%PDF-"sv},
    {"application/zip", 0, "PK\x03\x04"sv},
    {"application/zip", 0, "PK\x05\x06"sv},
    {"application/gzip", 0, "\x1F\x8B\x08"sv},
    {"application/x-bzip2", 0, "BZh"sv},
    {"application/x-xz",
     0,
     "\xFD"
     "7zXZ\0"sv},
    {"application/zstd", 0, "\x28\xB5\x2F\xFD"sv},
    {"application/x-7z-compressed", 0, "7z\xBC\xAF\x27\x1C"sv},
    {"application/x-executable",
     0,
     "\x7F"
     "ELF"sv},
    {"application/x-msdownload", 0, "MZ\x90\0"sv},
    {"application/x-ole-storage", 0, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv},
}};

/// Families whose members begin alike: by what they are declared as, what they are found to be.
constexpr std::array<std::pair<std::string_view, std::string_view>, 27> alike{{
    {"image/heif", "image/heic"},
    {"video/mp4", "video/quicktime"},
    {"video/quicktime", "video/mp4"},
    {"video/x-m4v", "video/mp4"},
    {"video/3gpp", "video/mp4"},
    {"audio/mp4", "video/mp4"},
    {"audio/x-m4a", "audio/mp4"},
    {"audio/webm", "video/webm"},
    {"video/x-matroska", "video/webm"},
    {"video/ogg", "audio/ogg"},
    {"application/ogg", "audio/ogg"},
    {"audio/opus", "audio/ogg"},
    {"audio/x-wav", "audio/wav"},
    {"audio/wave", "audio/wav"},
    {"audio/vnd.wave", "audio/wav"},
    {"audio/mp3", "audio/mpeg"},
    {"audio/x-flac", "audio/flac"},
    {"application/x-zip-compressed", "application/zip"},
    {"application/java-archive", "application/zip"},
    {"application/epub+zip", "application/zip"},
    {"application/x-gzip", "application/gzip"},
    {"application/x-tgz", "application/gzip"},
    {"application/msword", "application/x-ole-storage"},
    {"application/vnd.ms-excel", "application/x-ole-storage"},
    {"application/vnd.ms-powerpoint", "application/x-ole-storage"},
    {"application/vnd.ms-outlook", "application/x-ole-storage"},
    {"application/x-elf", "application/x-executable"},
}};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins(std::string_view text, std::string_view with) {
    return text.size() >= with.size() &&
           std::ranges::equal(text.substr(0, with.size()), with, {}, lower, lower);
}

/// So short a beginning that words have it too.
constexpr bool is_weak(std::string_view magic) { return magic == "ID3" || magic == "BZh"; }

/// Text as browsers and editors take it: no control characters but white space. UTF-16 says so in
/// front.
bool is_text(std::string_view bytes) {
    if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;
    return std::ranges::none_of(bytes, [](char each) {
        const auto byte = static_cast<unsigned char>(each);
        return byte == 0x7F || (byte < 0x20 && !(byte >= 9 && byte <= 13) && byte != 0x1B);
    });
}

std::string_view without_blank(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    const auto first = text.find_first_not_of(" \t\r\n\f");
    return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

std::string_view sniff_text(std::string_view bytes) {
    const auto text = without_blank(bytes);
    for (const auto tag :
         {"<!doctype html",
          "<html",
          "<head",
          "<script",
          "<iframe",
          "<body",
          "<style",
          "<title",
          "<meta",
          "<link",
          "<object",
          "<embed",
          "<form",
          "<img"})
        if (begins(text, tag)) return "text/html";
    if (begins(text, "<svg")) return "image/svg+xml";
    if (!begins(text, "<?xml") && !begins(text, "<!--") && !begins(text, "<!doctype svg"))
        return "text/plain";
    const auto holds = [&](std::string_view tag) {
        return !std::ranges::search(text, tag, {}, lower, lower).empty();
    };
    if (holds("<svg")) return "image/svg+xml";
    if (holds("<html") || holds("<script")) return "text/html";
    return "text/xml";
}

bool is_textual(std::string_view type) {
    return type.starts_with("text/") || type.ends_with("+xml") || type.ends_with("+json") ||
           type == "application/json" || type == "application/xml" ||
           type == "application/javascript" || type == "application/yaml" ||
           type == "application/x-yaml" || type == "application/x-ndjson" ||
           type == "application/sql" || type == "application/x-sh" || type == "application/toml";
}

/// Declared types whose beginning is known, so that it has to be there.
bool is_known(std::string_view type) {
    return type.starts_with("image/") ||
           std::ranges::any_of(magics, [&](const Magic& each) { return each.type == type; });
}

bool is_zipped_document(std::string_view type) {
    return type.starts_with("application/vnd.openxmlformats-officedocument.") ||
           type.starts_with("application/vnd.oasis.opendocument.") || type.ends_with("+zip");
}

}  // namespace

std::string_view sniff(std::string_view bytes) {
    for (const Magic& each : magics) {
        if (bytes.size() < each.at || !bytes.substr(each.at).starts_with(each.bytes)) continue;
        if (each.at == 8 && !bytes.starts_with("RIFF")) continue;
        if (is_weak(each.bytes) && is_text(bytes)) continue;
        return each.type;
    }
    return is_text(bytes) ? sniff_text(bytes) : std::string_view();
}

std::optional<std::string> mismatch(std::string_view declared, std::string_view bytes) {
    const auto found = sniff(bytes);
    const auto related = std::ranges::find(alike, std::pair(declared, found));
    const bool is_text_found = found.starts_with("text/") || found == "image/svg+xml";
    bool right = found == declared || related != alike.end();
    if (!right && is_zipped_document(declared)) right = found == "application/zip";
    else if (!right && is_textual(declared) && declared != "image/svg+xml") right = is_text_found;
    else if (!right && declared == "application/octet-stream") right = true;
    else if (!right) {
        const bool expected =
            is_known(declared) ||
            std::ranges::any_of(alike, [&](const auto& each) { return each.first == declared; });
        right = !expected && (found.empty() || found == "text/plain");
    }
    if (right) return std::nullopt;
    return "it was declared as " + std::string(declared) + " and is " +
           (found.empty() ? "something else" : std::string(found));
}

}  // namespace svc::files
