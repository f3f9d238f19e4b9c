#pragma once

#include "tests/rules/source.hpp"

#include <optional>
#include <regex>

/// Parts of statements that a header defines as macros of literals, such as SVC_BOARD_ROLE.
namespace svc::test {

/// `#define NAME(parameters) literals and parameters`
struct TextMacro {
    std::vector<std::string> parameters;
    std::string body;
};

/// Those of all headers of modules that take parameters, by name.
inline std::map<std::string, TextMacro> read_text_macros() {
    static const std::regex definition(R"(#define (SVC_\w+)\(([^)]*)\)((?:[^\n\\]|\\\n|\\.)*))");
    std::map<std::string, TextMacro> out;
    for (const auto& file : sources()) {
        if (!file.is(".hpp") || !file.in("modules")) continue;
        for (std::sregex_iterator each(file.text.begin(), file.text.end(), definition), none;
             each != none;
             ++each) {
            TextMacro macro{{}, std::regex_replace((*each)[3].str(), std::regex(R"(\\\n)"), " ")};
            const std::string names = (*each)[2];
            static const std::regex name(R"(\w+)");
            for (std::sregex_iterator one(names.begin(), names.end(), name); one != none; ++one)
                macro.parameters.push_back(one->str());
            // What the preprocessor puts together of a list (a card's fields) is left out.
            if (macro.body.find("BOOST_PP_") != std::string::npos) macro.body.clear();
            out[(*each)[1]] = std::move(macro);
        }
    }
    return out;
}

/// The arguments of the call whose bracket is at `at`, and where it ends.
inline std::vector<std::string> arguments_at(const std::string& text, std::size_t& at) {
    std::vector<std::string> out(1);
    bool quoted = false;
    for (++at; at < text.size(); ++at) {
        if (text[at] == '"') quoted = !quoted;
        if (!quoted && text[at] == ')') break;
        if (!quoted && text[at] == ',') out.emplace_back();
        else out.back() += text[at];
    }
    ++at;
    return out;
}

/// The source with what such macros stand for in their places.
inline std::string expand_text_macros(std::string text) {
    static const auto macros = read_text_macros();
    const auto in_word = [&](std::size_t at) {
        return at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (std::size_t from = 0; (from = text.find("SVC_", from)) != text.npos;) {
        const std::size_t begin = from;
        std::size_t at = begin;
        while (in_word(at)) ++at;
        from = at;
        if (at == text.size() || text[at] != '(' || (begin > 0 && in_word(begin - 1))) continue;
        const auto macro = macros.find(text.substr(begin, at - begin));
        const bool defines = begin >= 8 && text.compare(begin - 8, 8, "#define ") == 0;
        if (macro == macros.end() || defines) continue;
        const auto arguments = arguments_at(text, at);
        std::string body;
        for (const auto& piece : pieces(macro->second.body)) {
            if (piece.kind == Piece::Kind::text) body += '"' + piece.text + '"';
            if (piece.kind != Piece::Kind::code) continue;
            std::string code = piece.text;
            for (std::size_t i = 0; i < macro->second.parameters.size(); ++i)
                code = std::regex_replace(
                    code, std::regex("\\b" + macro->second.parameters[i] + "\\b"), arguments.at(i)
                );
            body += code;
        }
        text.replace(begin, at - begin, body);
        from = begin;  // what it stands for may name another
    }
    return text;
}

}  // namespace svc::test
