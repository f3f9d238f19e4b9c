#include "modules/content/lib/rich_text.hpp"

#include "modules/content/lib/utf8.hpp"

namespace svc::content {

RichTexts rich_text_of(std::string_view plain) {
    RichTexts texts;
    while (!plain.empty()) {
        const std::string_view part = utf8::first(plain, 2000);
        texts.push_back(text_item(std::string(part)));
        plain.remove_prefix(part.size());
    }
    return texts;
}

}  // namespace svc::content
