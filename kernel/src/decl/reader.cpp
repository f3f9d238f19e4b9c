#include "decl/reader.hpp"

#include "decl/json.hpp"
#include "decl/utf8.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>

#include <algorithm>

namespace svc {

namespace {

constexpr std::size_t longest_echo = 200;  // bytes of what the client sent

void write_cut(std::string_view text, std::string& out) {
    std::string cut(decl::utf8::beginning(text, longest_echo));
    if (cut.size() < text.size()) cut += "…";
    write_text(cut, out);
}

// What the client sent, short enough to be sent back.
void write_echo(const json::value& input, std::string& out) {
    if (const auto* text = input.if_string()) return write_cut(*text, out);
    std::string json;
    decl::write_value(input, json);
    if (json.size() <= longest_echo) out += json;
    else write_cut(json, out);
}

/// Somewhere in it, parts and lists of parts included.
bool has_secret(const Record& record, std::vector<const Record*>& seen) {
    if (std::ranges::find(seen, &record) != seen.end()) return false;
    seen.push_back(&record);
    return std::ranges::any_of(record.fields, [&](const Field& field) {
        const Codec& codec = *field.codec;
        return field.rules.secret || (codec.record && has_secret(codec.record(), seen)) ||
               (codec.item && has_secret(codec.item(), seen));
    });
}

bool has_secret(const Record& record) {
    std::vector<const Record*> seen;
    return has_secret(record, seen);
}

}  // namespace

struct Reader::State {
    struct Part {
        std::string_view name;  // no data for an index
        std::size_t index;
    };
    std::vector<Part> path;
    std::string issues;
    std::size_t count = 0;
    bool hidden = false;  // within a secret field
    // What stands in the field that is read, if that takes a list, and of what.
    const json::value* list = nullptr;
    const Codec* list_codec = nullptr;

    /// A list whose items hold secrets is not shown as a whole.
    bool shows(const json::value& input) const {
        return !hidden && (&input != list || !has_secret(list_codec->item()));
    }

    void write_path() {
        issues += '[';
        for (const Part& part : path) {
            if (&part != path.data()) issues += ',';
            if (part.name.data()) write_text(part.name, issues);
            else decl::write_number(std::uint64_t{part.index}, issues);
        }
        issues += ']';
    }
};

Reader::Reader() : state_(std::make_unique<State>()) { state_->path.reserve(8); }
Reader::~Reader() = default;

Reader::Step::~Step() { reader_.state_->path.pop_back(); }

Reader::Step Reader::at(std::string_view name) {
    state_->path.push_back({name.data() ? name : std::string_view(""), 0});
    return Step(*this);
}

Reader::Step Reader::at(std::size_t index) {
    state_->path.push_back({{}, index});
    return Step(*this);
}

bool Reader::clean() const { return state_->count == 0; }

std::string Reader::issues() const { return '[' + state_->issues + ']'; }

void Reader::reject(
    std::string_view type, std::string_view message, const json::value* input, std::string_view ctx
) {
    if (++state_->count > decl::most_issues) return;
    std::string& out = state_->issues;
    if (!out.empty()) out += ',';
    out += R"({"type":)";
    write_text(type, out);
    out += R"(,"loc":)";
    state_->write_path();
    out += R"(,"msg":)";
    decl::write_sentence(message, out);
    if (input && !trusted && state_->shows(*input)) {
        out += R"(,"input":)";
        write_echo(*input, out);
    }
    if (!ctx.empty()) {
        out += R"(,"ctx":)";
        out += ctx;
    }
    out += '}';
}

void Reader::read(const Record& record, const json::value& in, void* out) {
    const auto* object = in.if_object();
    if (!object) return decl::reject_shape(*this, record, in);
    decl::each_field(record, out, [&](const Field& field, void* owner) {
        auto step = at(field.name);
        read_field(field, object->if_contains(field.name), owner);
    });
    if (trusted) return;
    for (const auto& [key, value] : *object) {
        if (record.find(key)) continue;
        auto step = at(std::string_view(key));
        decl::reject_unknown(*this, record, value);
    }
}

void Reader::read_field(const Field& field, const json::value* in, void* record) {
    if (field.codec->constant || (field.rules.read_only && !trusted)) return;
    if (!in) {
        if (field.required()) reject("missing", "This field is required");
        return;
    }
    // What stands where a list of secrets should stand may be one of them.
    const bool no_list = field.codec->item && !in->is_array() && has_secret(field.codec->item());
    const bool outer =
        std::exchange(state_->hidden, state_->hidden || field.rules.secret || no_list);
    const auto* outer_list = std::exchange(state_->list, field.codec->item ? in : nullptr);
    const auto* outer_codec = std::exchange(state_->list_codec, field.codec);
    if (record) field.codec->read(*this, field.rules, *in, field.in(record));
    else field.codec->check(*this, field.rules, *in);
    state_->hidden = outer;
    state_->list = outer_list;
    state_->list_codec = outer_codec;
}

void decl::write_sentence(std::string_view message, std::string& out) {
    std::string text(message);
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
    write_text(text, out);
}

void decl::reject_value(Reader& reader, std::string_view why, const json::value* in) {
    reader.reject("value_error", why, in, ctx_of("error", why));
}

void decl::reject_shape(Reader& reader, const Record& record, const json::value& in) {
    const json::value* shown = has_secret(record) ? nullptr : &in;
    reader.reject("model_attributes_type", "Should be an object with the documented fields", shown);
}

void decl::reject_unknown(Reader& reader, const Record& record, const json::value& in) {
    // A secret under a name mistyped is still a secret.
    const json::value* shown = has_secret(record) ? nullptr : &in;
    reader.reject("extra_forbidden", "There is no such field", shown);
}

const Field* Record::find(std::string_view wanted) const {
    for (const Field& field : fields) {
        if (!field.rules.flatten) {
            if (field.name == wanted) return &field;
        } else if (field.codec->record) {
            if (const Field* within = field.codec->record().find(wanted)) return within;
        }
    }
    return nullptr;
}

}  // namespace svc
