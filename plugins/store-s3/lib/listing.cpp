#include "plugins/store-s3/lib/listing.hpp"

namespace svc::store_s3 {

namespace {

/// The text between the next `<tag>` and its end, which `xml` then begins behind.
std::optional<std::string_view> take(std::string_view& xml, const std::string& tag) {
    const auto open = '<' + tag + '>', close = "</" + tag + '>';
    const auto begin = xml.find(open);
    if (begin == xml.npos) return std::nullopt;
    const auto from = begin + open.size();
    const auto end = xml.find(close, from);
    if (end == xml.npos) return std::nullopt;
    const auto text = xml.substr(from, end - from);
    xml.remove_prefix(end + close.size());
    return text;
}

/// Tokens may have what XML escapes.
std::string plain(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        bool found = false;
        for (const auto& [name, sign] :
             {std::pair<std::string_view, char>{"&amp;", '&'},
              {"&lt;", '<'},
              {"&gt;", '>'},
              {"&quot;", '"'},
              {"&#39;", '\''}})
            if (!found && text.starts_with(name)) {
                out += sign;
                text.remove_prefix(name.size());
                found = true;
            }
        if (found) continue;
        out += text.front();
        text.remove_prefix(1);
    }
    return out;
}

}  // namespace

std::optional<Listing> parse_listing(std::string_view xml) {
    if (xml.find("<ListBucketResult") == xml.npos) return std::nullopt;
    Listing listing;
    auto rest = xml;
    while (auto contents = take(rest, "Contents")) {
        const auto key = take(*contents, "Key");
        if (!key) return std::nullopt;
        listing.keys.emplace_back(*key);
    }
    rest = xml;
    if (take(rest, "IsTruncated") != "true") return listing;
    rest = xml;
    const auto next = take(rest, "NextContinuationToken");
    if (!next) return std::nullopt;
    listing.next = plain(*next);
    return listing;
}

std::string error_code(std::string_view xml) {
    auto error = take(xml, "Error");
    const auto code = error ? take(*error, "Code") : std::nullopt;
    return std::string(code.value_or(""));
}

}  // namespace svc::store_s3
