#include "modules/content/shapes.hpp"

namespace svc {

void Json<content::BlocksText>::schema(SchemaWriter& writer, const Rules&, json::object& out) {
    Json<content::Block>::schema(writer, {}, detail::list_schema({}, out));
}

void Json<content::BlocksText>::
    read(Reader& reader, const Rules&, const json::value&, content::BlocksText&) {
    reader.reject("extra_forbidden", "There is no such field");
}

void Json<content::BlocksText>::from_db(Cell, content::BlocksText&) {
    throw std::logic_error("a list of blocks is for answers only");
}

}  // namespace svc
