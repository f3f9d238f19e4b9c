#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace svc::store_local {

/// The boundary that a Content-Type of multipart/form-data names; nothing when it is another type
/// or the boundary is none.
std::optional<std::string> boundary_of(std::string_view content_type);

/// Reads a form as it comes in, piece by piece. Fields are small and are handed over whole, the
/// part named `file` as it comes; what follows that part is not looked at. What is no form is a
/// Failure.
class FormReader {
public:
    static constexpr std::size_t most_of_fields = 32 << 10;  ///< bytes of them all
    static constexpr std::size_t most_of_head = 4 << 10;     ///< bytes of a part's headers

    class Listener {
    public:
        virtual void field(std::string name, std::string value) = 0;  ///< the name in lower case
        virtual void file_begins() = 0;
        virtual void file_bytes(std::string_view bytes) = 0;
        virtual void file_ends() = 0;

    protected:
        ~Listener() = default;
    };

    FormReader(const std::string& boundary, Listener& listener);
    void take(std::string_view bytes);
    /// The file has come in whole, or the form has ended without one.
    bool done() const { return state_ == State::done; }

private:
    enum class State { start, between, head, field, file, done };
    bool step();
    bool step_start();
    bool step_between();
    bool step_head();
    bool step_content();

    Listener& listener_;
    const std::string delimiter_;  // with the line's end in front
    State state_ = State::start;
    std::string here_;  // what came in and is not used up
    std::string name_, value_;
    std::size_t of_fields_ = 0;
};

}  // namespace svc::store_local
