#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

/// The project's own pages, as tests look at them.
namespace svc::test {

struct CodeBlock {
    std::string language;  ///< what stands behind the opening fence
    std::string comment;   ///< the text of an HTML comment on the line above, if there is one
    std::string text;      ///< lines, each with its end
};

/// The part of a page under the heading that reads so, up to the next one of its level or above;
/// empty when there is none.
inline std::string section(const std::string& page, const std::string& heading) {
    const auto start = ("\n" + page).find("\n" + heading + "\n");
    if (start == std::string::npos) return {};
    auto end = page.find("\n## ", start + heading.size());
    return page.substr(start, end == std::string::npos ? end : end - start);
}

inline std::vector<CodeBlock> code_blocks(const std::string& page) {
    std::vector<CodeBlock> out;
    std::string above;
    bool inside = false;
    for (std::size_t at = 0; at < page.size();) {
        const auto end = std::min(page.find('\n', at), page.size());
        const std::string line = page.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("```")) {
            if (!inside) out.push_back({line.substr(3), above, ""});
            inside = !inside;
        } else if (inside) {
            out.back().text += line + "\n";
        }
        const bool comment = line.starts_with("<!-- ") && line.ends_with(" -->");
        above = comment ? line.substr(5, line.size() - 9) : "";
    }
    return out;
}

}  // namespace svc::test
