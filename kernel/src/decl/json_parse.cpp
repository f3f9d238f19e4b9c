#include "decl/json.hpp"
#include "decl/utf8.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value_stack.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <unordered_set>

namespace svc::decl {

namespace {

// Tells the names of an object's members apart, by hash: two names that share one by chance,
// in one object of a hundred members out of 10^15, are answered as if they were the same.
class Names {
public:
    void open() { objects_.push_back({hashes_.size(), nullptr}); }
    void close() {
        hashes_.resize(objects_.back().start);
        objects_.pop_back();
    }
    // False when the innermost object has that name already.
    bool add(std::string_view name) {
        const std::uint64_t hash = std::hash<std::string_view>{}(name)*salt();
        Object& object = objects_.back();
        const auto begin = hashes_.begin() + static_cast<std::ptrdiff_t>(object.start);
        if (object.many) return object.many->insert(hash).second;
        if (std::find(begin, hashes_.end(), hash) != hashes_.end()) return false;
        hashes_.push_back(hash);
        if (hashes_.size() - object.start > 24)
            object.many = std::make_unique<std::unordered_set<std::uint64_t>>(
                hashes_.begin() + static_cast<std::ptrdiff_t>(object.start), hashes_.end()
            );
        return true;
    }

private:
    struct Object {
        std::size_t start;
        std::unique_ptr<std::unordered_set<std::uint64_t>> many;
    };
    // Nobody outside can choose names that meet in one bucket.
    static std::uint64_t salt() {
        static const std::uint64_t odd = std::random_device{}() | std::uint64_t{1} << 63 | 1;
        return odd;
    }
    std::vector<std::uint64_t> hashes_;
    std::vector<Object> objects_;
};

// What Boost's parser calls; builds the value and refuses what Boost lets through.
struct Builder {
    static constexpr std::size_t max_object_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_array_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_key_size = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t max_string_size = std::numeric_limits<std::size_t>::max();
    using Error = json::error_code;

    json::value_stack stack;
    Names names;
    std::string name;    // what came of a member's name in parts
    std::string number;  // likewise of a number
    std::size_t tokens, tokens_left;
    bool is_limit = false;
    std::string problem{};  // says more than Boost's code when set

    Builder(JsonLimits limits, json::storage_ptr storage, unsigned char* buffer, std::size_t size)
        : stack({}, buffer, size), tokens(limits.tokens), tokens_left(limits.tokens) {
        stack.reset(std::move(storage));
    }

    bool refuse(Error& error, std::string why) {
        problem = std::move(why);
        error = json::error::exception;
        return false;
    }
    bool count(Error& error) {
        if (tokens_left-- > 0) return true;
        is_limit = true;
        return refuse(error, "more than " + std::to_string(tokens) + " values and names");
    }
    bool no_nul(std::string_view text, Error& error) {
        if (text.find('\0') == text.npos) return true;
        return refuse(error, "text must not contain NUL");
    }

    bool on_document_begin(Error&) { return true; }
    bool on_document_end(Error&) { return true; }
    bool on_object_begin(Error& error) {
        names.open();
        return count(error);
    }
    bool on_object_end(std::size_t members, Error&) {
        names.close();
        stack.push_object(members);
        return true;
    }
    bool on_array_begin(Error& error) { return count(error); }
    bool on_array_end(std::size_t elements, Error&) {
        stack.push_array(elements);
        return true;
    }
    bool on_key_part(json::string_view part, std::size_t, Error&) {
        name.append(part.data(), part.size());
        stack.push_chars(part);
        return true;
    }
    bool on_key(json::string_view part, std::size_t size, Error& error) {
        std::string_view whole = part;
        if (part.size() != size) whole = name.append(part.data(), part.size());
        if (!count(error) || !no_nul(whole, error)) return false;
        if (!names.add(whole))
            return refuse(
                error, "duplicate member \"" + std::string(utf8::beginning(whole, 80)) + "\""
            );
        name.clear();
        stack.push_key(part);
        return true;
    }
    bool on_string_part(json::string_view part, std::size_t, Error& error) {
        if (!no_nul(part, error)) return false;
        stack.push_chars(part);
        return true;
    }
    bool on_string(json::string_view part, std::size_t, Error& error) {
        if (!count(error) || !no_nul(part, error)) return false;
        stack.push_string(part);
        return true;
    }
    bool on_number_part(json::string_view part, Error&) {
        number.append(part.data(), part.size());
        return true;
    }
    bool on_int64(std::int64_t value, json::string_view, Error& error) {
        number.clear();
        stack.push_int64(value);
        return count(error);
    }
    bool on_uint64(std::uint64_t value, json::string_view, Error& error) {
        number.clear();
        stack.push_uint64(value);
        return count(error);
    }
    // Boost's own reading may be off in the last digit, so the text is read again.
    bool on_double(double, json::string_view part, Error& error) {
        number.append(part.data(), part.size());
        double exact = 0;
        const auto read = std::from_chars(number.data(), number.data() + number.size(), exact);
        if (read.ec != std::errc{}) exact = std::strtod(number.c_str(), nullptr);  // 0 or infinite
        number.clear();
        if (!std::isfinite(exact)) return refuse(error, "number out of range");
        stack.push_double(exact);
        return count(error);
    }
    bool on_bool(bool value, Error& error) {
        stack.push_bool(value);
        return count(error);
    }
    bool on_null(Error& error) {
        stack.push_null();
        return count(error);
    }
    bool on_comment_part(json::string_view, Error&) { return true; }
    bool on_comment(json::string_view, Error&) { return true; }
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

JsonProblem problem_at(std::string_view text, std::size_t offset, std::string error) {
    return {utf8::length(text.substr(0, offset)), std::move(error)};
}

}  // namespace

ParsedJson parse_strictly(std::string_view text, JsonLimits limits, json::storage_ptr storage) {
    if (text.starts_with("\xEF\xBB\xBF"))
        return {nullptr, JsonProblem{0, "a byte order mark is not JSON"}};
    unsigned char buffer[1024];
    json::parse_options options;
    options.max_depth = limits.depth;
    json::basic_parser<Builder> parser(
        options, limits, std::move(storage), static_cast<unsigned char*>(buffer), sizeof(buffer)
    );
    json::error_code error;
    const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
    Builder& builder = parser.handler();
    if (error) {
        if (builder.problem.empty()) builder.problem = error.message();
        auto problem = problem_at(text, read, std::move(builder.problem));
        problem.is_limit = builder.is_limit;
        return {nullptr, std::move(problem)};
    }
    if (!is_blank(text.substr(read)))
        return {nullptr, problem_at(text, read, "something follows the value")};
    return {builder.stack.release(), std::nullopt};
}

void reject_json(Reader& reader, const JsonProblem& problem) {
    auto step = reader.at(problem.offset);
    std::string ctx = R"({"error":)";
    write_text(problem.error, ctx);
    ctx += '}';
    const json::value nothing = json::object();
    const char* what = problem.is_limit ? "This JSON is too large: " : "This is not JSON: ";
    reader.reject("json_invalid", what + problem.error, &nothing, ctx);
}

json::value parse_json(std::string_view text, std::string_view place, JsonLimits limits) {
    auto parsed = parse_strictly(
        text, limits, json::make_shared_resource<json::monotonic_resource>(text.size() + 1024)
    );
    if (!parsed.problem) return std::move(parsed.value);
    Reader reader;
    auto step = reader.at(place);
    reject_json(reader, *parsed.problem);
    throw Failure::invalid_input(reader.issues());
}

}  // namespace svc::decl
