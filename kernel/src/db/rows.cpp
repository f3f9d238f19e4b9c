#include "db/rows.hpp"

#include <stdexcept>

namespace svc::db {

namespace {

/// Columns are counted by hand: PQfnumber folds case and copies the name.
int column_named(const PGresult* result, std::string_view name) {
    const int count = PQnfields(result);
    for (int i = 0; i < count; ++i)
        if (PQfname(result, i) == name) return i;
    return -1;
}

[[noreturn]] void misfit(
    std::string_view statement, const Record& record, const Field& field, std::string_view why
) {
    std::string text(statement);
    (text += ": ") += record.name;
    (text += '.') += field.name;
    (text += ": ") += why;
    throw std::logic_error(text);
}

std::ptrdiff_t offset_of(const Field& field, const Record& record) {
    const void* blank = record.blank();
    return static_cast<const char*>(field.in_const(blank)) - static_cast<const char*>(blank);
}

}  // namespace

Binding::Binding(const Record& record, const PGresult* result, std::string_view statement)
    : record_(&record) {
    bind(record, 0, result, statement);
}

void Binding::bind(
    const Record& record, std::ptrdiff_t at, const PGresult* result, std::string_view statement
) {
    for (const Field& field : record.fields) {
        if (field.codec->constant) continue;
        const std::ptrdiff_t offset = at + offset_of(field, record);
        if (field.rules.flatten) {
            if (!field.codec->record)
                misfit(statement, record, field, "only a record can be flattened");
            bind(field.codec->record(), offset, result, statement);
            continue;
        }
        const int column = column_named(result, field.name);
        if (column < 0) misfit(statement, record, field, "the statement gives no such column");
        targets_.push_back({column, offset, &field});
    }
}

void Binding::read(const PGresult* result, int row, void* out, std::string_view statement) const {
    for (const Target& target : targets_) {
        const bool null = PQgetisnull(result, row, target.column) != 0;
        const Cell cell{
            PQgetvalue(result, row, target.column),
            static_cast<std::size_t>(PQgetlength(result, row, target.column)),
            null};
        try {
            target.field->codec->from_db(cell, static_cast<char*>(out) + target.offset);
        } catch (const std::logic_error& wrong) {
            misfit(statement, *record_, *target.field, wrong.what());
        }
    }
}

const Binding& Bindings::of(
    const Record& record, const PGresult* result, std::string_view statement
) {
    for (const Binding& binding : list_)
        if (&binding.record() == &record) return binding;
    return list_.emplace_back(record, result, statement);
}

}  // namespace svc::db
