#include "svc/operation.hpp"

#include "decl/reader.hpp"

namespace svc {

namespace {

bool is_in_braces(std::string_view path, std::string_view name) {
    for (std::size_t at = path.find('{'); at != path.npos; at = path.find('{', at + 1))
        if (path.substr(at + 1).starts_with(name) &&
            path.substr(at + 1 + name.size()).starts_with('}'))
            return true;
    return false;
}

std::string snake_case(std::string_view name) {
    std::string out;
    for (const char c : name) {
        const bool capital = c >= 'A' && c <= 'Z';
        if (capital && !out.empty()) out += '_';
        out += capital ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return out;
}

}  // namespace

// The text of its Object<…> discriminator, as JSON.
std::string decl::object_name(const Record& record) {
    std::string name;
    for (const Field& field : record.fields)
        if (field.codec->constant && field.name == "object")
            field.codec->write(field.in_const(record.blank()), name);
    if (name.empty()) write_text(snake_case(record.name), name);
    return name;
}

Operation::Place Operation::place(const Field& field) const {
    if (is_in_braces(path(), field.name)) return Place::path;
    if (!field.rules.header.empty()) return Place::header;
    // A body of a DELETE has no meaning (RFC 9110), and proxies drop it.
    if (field.rules.in_query || method() == "GET" || method() == "DELETE") return Place::query;
    return Place::body;
}

void detail::write_page_head(const Record& item, std::string& out) {
    const std::string type = decl::object_name(item);
    out += R"({"object":"list","type":)";
    out += type;
    out += ',';
    out += type;
    out += R"(:{},"results":)";
}

void detail::write_page_tail(
    const Record&,
    const std::optional<std::string>& next_cursor,
    std::string_view request_id,
    std::string& out
) {
    out += R"(,"next_cursor":)";
    Json<std::optional<std::string>>::write(next_cursor, out);
    out += next_cursor ? R"(,"has_more":true,"request_id":)" : R"(,"has_more":false,"request_id":)";
    write_text(request_id, out);
    out += '}';
}

PrincipalRef ref_of(const Caller& caller) { return {{}, caller.id, caller.type, caller.name}; }

}  // namespace svc
