#include "svc/failure.hpp"
#include "svc/param_table.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace svc {

namespace {

constexpr std::size_t null_mark = static_cast<std::size_t>(-1);

template <class Number>
void append_number(Number number, std::string& out) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    out.append(text, end);
}

/// Values travel as C strings, so that a NUL would silently cut the rest off; and PostgreSQL
/// stores none.
void refuse_nul(std::string_view text) {
    if (text.find('\0') == text.npos) return;
    throw Failure::invalid_at(R"(["body"])", "value_error", "Text may not hold a NUL character.");
}

/// As an element of an array.
void append_quoted(std::string_view text, std::string& out) {
    out += '"';
    for (const char each : text) {
        if (each == '"' || each == '\\') out += '\\';
        out += each;
    }
    out += '"';
}

}  // namespace

Params::Params() {
    // Room for what most statements take, so that building them does not grow in steps.
    bytes_.reserve(240);
    ends_.reserve(8);
}

void Params::add(std::nullptr_t) { ends_.push_back(null_mark); }

void Params::add(bool flag) { add(std::string_view(flag ? "t" : "f")); }

void Params::add(std::int64_t number) {
    append_number(number, bytes_);
    close();
}

void Params::add(double number) {
    if (std::isfinite(number)) append_number(number, bytes_);
    else bytes_ += std::isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity";
    close();
}

void Params::add(std::string_view text) {
    refuse_nul(text);
    bytes_ += text;
    close();
}

void Params::add(const Uuid& id) {
    id.append_to(bytes_);
    close();
}

void Params::add(const Timestamp& time) {
    time.append_exact_to(bytes_);
    close();
}

void Params::add(std::chrono::seconds interval) {
    append_number(interval.count(), bytes_);
    bytes_ += 's';
    close();
}

void Params::add(std::span<const std::uint8_t> bytes) {
    static constexpr char digits[] = "0123456789abcdef";
    bytes_ += "\\x";
    for (const std::uint8_t each : bytes) bytes_ += {digits[each >> 4], digits[each & 15]};
    close();
}

void Params::add(const std::vector<Uuid>& ids) {
    bytes_ += '{';
    for (const Uuid& id : ids) {
        if (&id != ids.data()) bytes_ += ',';
        id.append_to(bytes_);
    }
    bytes_ += '}';
    close();
}

void Params::add(const std::vector<std::string>& texts) {
    bytes_ += '{';
    for (const std::string& text : texts) {
        refuse_nul(text);
        if (&text != texts.data()) bytes_ += ',';
        append_quoted(text, bytes_);
    }
    bytes_ += '}';
    close();
}

void Params::close() {
    bytes_ += '\0';
    ends_.push_back(bytes_.size());
}

std::span<const char* const> Params::values() const {
    view_.clear();
    view_.reserve(ends_.size());
    std::size_t start = 0;
    for (const std::size_t end : ends_) {
        view_.push_back(end == null_mark ? nullptr : bytes_.data() + start);
        if (end != null_mark) start = end;
    }
    return view_;
}

void ParamTable::append(const Params& row) {
    const auto values = row.values();
    columns_.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        columns_[i] += columns_[i].empty() ? '{' : ',';
        if (values[i]) append_quoted(values[i], columns_[i]);
        else columns_[i] += "NULL";
    }
}

ParamList ParamTable::columns() && {
    ParamList list;
    for (std::string& each : columns_) list.values.emplace_back(std::move(each += '}'));
    return list;
}

}  // namespace svc
