#include "decl/from_db.hpp"

#include "decl/json.hpp"
#include "decl/timestamp.hpp"
#include "decl/utf8.hpp"

#include <boost/json/monotonic_resource.hpp>

namespace svc {

std::string_view decl::present(Cell cell) {
    if (cell.null) throw std::logic_error("NULL where the record has a value");
    return cell.text();
}

void decl::misfit(Cell cell, std::string_view expected) {
    throw std::logic_error(
        "'" + std::string(utf8::beginning(cell.text(), 60)) + "' where the record has " +
        std::string(expected)
    );
}

void Json<std::string>::from_db(Cell cell, std::string& out) { out.assign(decl::present(cell)); }

void Json<Uuid>::from_db(Cell cell, Uuid& out) {
    const auto id = Uuid::parse(decl::present(cell));
    if (!id) decl::misfit(cell, "a UUID");
    out = *id;
}

void Json<Timestamp>::from_db(Cell cell, Timestamp& out) {
    if (decl::parse_time(decl::present(cell), out) != decl::TimeProblem::none)
        decl::misfit(cell, "an instant");
}

void Json<JsonText>::from_db(Cell cell, JsonText& out) {
    if (cell.null) out.text = "null";
    else out.text.assign(cell.text());
}

std::size_t detail::enum_from_db(std::span<const std::string_view> names, Cell cell) {
    const std::string_view text = decl::present(cell);
    for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == text) return i;
    std::string expected = "one of";
    for (std::string_view name : names) expected.append(" ").append(name);
    decl::misfit(cell, expected);
}

void detail::read_json_cell(Cell cell, const Codec& codec, void* out) {
    const std::string_view text = decl::present(cell);
    // Our own writing: of any size, but no deeper than what was let in.
    const decl::JsonLimits limits{.depth = 128, .tokens = std::numeric_limits<std::size_t>::max()};
    unsigned char buffer[4096];
    json::monotonic_resource memory(static_cast<unsigned char*>(buffer), sizeof(buffer));
    const auto parsed = decl::parse_strictly(text, limits, &memory);
    if (parsed.problem) decl::misfit(cell, "JSON (" + parsed.problem->error + ")");
    Reader reader;
    reader.trusted = true;
    codec.read(reader, {}, parsed.value, out);
    if (!reader.clean()) decl::misfit(cell, "another shape: " + reader.issues());
}

}  // namespace svc
