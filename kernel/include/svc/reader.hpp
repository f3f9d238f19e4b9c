#pragma once

#include "svc/rules.hpp"

#include <boost/json/fwd.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>

/// What codecs read from and write to. Boost.JSON's types are named here but never included: a
/// module that only declares structs does not pay for compiling a JSON library.
namespace svc {

namespace json = boost::json;

struct Record;
struct Field;

/// One value of a database row, in PostgreSQL's text form. Lists and nested records
/// come as json or jsonb columns.
struct Cell {
    const char* data = nullptr;
    std::size_t size = 0;
    bool null = true;
    std::string_view text() const {
        return null ? std::string_view() : std::string_view(data, size);
    }
};

/// Collects the wrong parts of one input, each addressed as the client sent it.
/// Lives on one thread's stack.
class Reader {
public:
    Reader();
    ~Reader();
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    /// Reads `in` into `*out`, unknown members refused; problems are recorded, never thrown.
    void read(const Record& record, const json::value& in, void* out);

    /// Reads one field, which `in` may lack (null pointer). Without a `record` (null pointer)
    /// it is only checked.
    void read_field(const Field& field, const json::value* in, void* record);

    /// Records a problem at the present place. `input` is what the client sent there, `ctx`
    /// a JSON object of details (contract section 2), each when there is one.
    void reject(
        std::string_view type,
        std::string_view message,
        const json::value* input = nullptr,
        std::string_view ctx = {}
    );

    /// A step into a member or an element; the step is taken back on destruction.
    class Step {
    public:
        explicit Step(Reader& reader) : reader_(reader) {}
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;
        ~Step();

    private:
        Reader& reader_;
    };
    [[nodiscard]] Step at(std::string_view name);
    [[nodiscard]] Step at(std::size_t index);

    /// Query, path and header values arrive as text; while loose, "25" is a number.
    bool loose = false;
    /// Our own rows come back as they were stored: bounds are not asked again, `echo` members
    /// count, and unknown members (of a newer version) are passed over.
    bool trusted = false;

    bool clean() const;
    /// The `detail` list of a 422 answer: a JSON array as text. The first 200 problems are in it.
    std::string issues() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Writes schemas and remembers which records they mention.
struct SchemaWriter {
    std::string_view ref_prefix;
    bool for_output = false;  ///< in answers every field that is not `omit_empty` is always present
    /// For tools: what input ignores is not shown, nor null where leaving out says the same.
    bool brief = false;
    bool in_patch = false;  ///< within a Patch, where null clears and so is always shown
    std::map<std::string, const Record*, std::less<>> mentioned{};

    void field(const Record& owner, const Field& field, json::object& out);
    void record(const Record& record, json::object& out);
    void reference(const Record& record, json::object& out);
};

}  // namespace svc
