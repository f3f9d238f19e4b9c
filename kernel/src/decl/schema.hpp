#pragma once

#include "decl/reader.hpp"

#include <boost/json/object.hpp>

#include <functional>

namespace svc::decl {

/// A record's schema with those of its fields (`flatten` ones laid flat) that `includes` lets in.
void object_schema(
    SchemaWriter& writer,
    const Record& record,
    json::object& out,
    const std::function<bool(const Field&)>& includes
);

/// What a field's name says by itself, for fields whose declaration says no more: `created_time`
/// means the same everywhere (contract 3). Empty for names that say nothing by themselves.
std::string_view describe_by_name(std::string_view name);

/// Calls `each(owner, field)` for the record's fields with `flatten` records laid flat, `owner`
/// being the record that declares the field.
template <class Each>
void each_declared(const Record& record, const Each& each) {
    for (const Field& field : record.fields) {
        if (!field.rules.flatten) each(record, field);
        else if (field.codec->record) each_declared(field.codec->record(), each);
    }
}

/// Calls `change` with the text of every `$ref` in the value, to be replaced in place.
void each_ref(json::value& in, const std::function<void(json::value& ref)>& change);

}  // namespace svc::decl
