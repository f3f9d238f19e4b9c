#pragma once

#include "decl/input.hpp"
#include "decl/schema.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

/// The parts of the OpenAPI document.
namespace svc::decl {

/// The schemas that operations mention. While the paths are written their `$ref`s name the side
/// they are of (`#in/Card`, `#out/Card`); finish() gives them their final names: a record that
/// looks different as input is `Card-Input` there.
class Components {
public:
    SchemaWriter input{.ref_prefix = "#in/"};
    SchemaWriter output{.ref_prefix = "#out/", .for_output = true};

    /// A reference to the body of an operation: those fields of its input that travel there.
    json::object body(const Operation& operation);
    /// A reference to the page of such records.
    json::object page(const Record& item);
    /// Puts final names into `paths` and gives the schemas, sorted by name.
    json::object finish(json::value& paths);

private:
    using Schemas = std::map<std::string, json::value>;
    struct Body {
        std::string record;
        json::value schema;
    };

    static void complete(SchemaWriter& writer, Schemas& schemas);
    void name_bodies();
    void find_differing();
    std::string name_of(std::string_view reference) const;
    json::value named(json::value schema) const;

    Schemas inputs_, outputs_;
    std::map<std::string, Body> bodies_;             // by operation
    std::map<std::string, std::string> body_names_;  // likewise
    std::set<std::string> differing_;                // names that mean two things
};

/// The schemas of errors: the same for every operation.
void add_error_schemas(json::object& schemas);
/// `components.responses`, `.parameters`, `.headers` and `.securitySchemes`.
void add_shared_parts(json::object& components);

/// The headers that answers have in common; those to a caller tell of its budgets.
json::object answer_headers(bool to_caller);

/// What the document says of a status, for `responses`.
json::object refusal(int status);

/// Gives each request body in the finished `paths` an example that fits its schema: what was sent
/// once, or else what the schema says; and parameters and answers what was sent and answered.
void add_examples(json::value& paths, const json::object& schemas, const std::string& recorded);

/// Names with each operation the codes and reasons with which it has refused, and shows the bodies
/// as examples of `components`, which has the shared parts already.
void add_refusals(json::value& paths, json::object& components, const std::string& recorded);

/// The path items, in the order in which their first operation was registered.
json::object write_paths(const OpenApiInput& in, Components& components);

}  // namespace svc::decl
