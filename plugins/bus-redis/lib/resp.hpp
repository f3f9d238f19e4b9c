#pragma once

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/// What Redis and its relatives speak (RESP2).
namespace svc::bus_redis {

/// A command as it is sent.
std::string command_of(std::initializer_list<std::string_view> words);

/// What the server says: an answer to a command, or a message.
struct Reply {
    enum class Kind { status, error, integer, bulk, array };
    Kind kind = Kind::status;
    /// One of a plain answer, the elements of an array.
    std::vector<std::string> words;
};

/// Takes replies apart that come in pieces of any size. A text that is longer than `longest` is
/// passed over, and empty in the reply. Throws std::runtime_error when what comes is nothing that
/// is answered to our commands; nothing is to be read any more then.
class ReplyReader {
public:
    explicit ReplyReader(std::size_t longest) : longest_(longest) {}

    void feed(std::string_view bytes) {
        bytes_.erase(0, read_to_);
        read_to_ = 0;
        bytes_ += bytes;
    }
    /// The next reply, once it is complete.
    std::optional<Reply> next();

private:
    std::string_view unread() const { return std::string_view(bytes_).substr(read_to_); }
    bool step();
    bool read_bulk();
    std::optional<std::string> line();
    void begin_element(char type, const std::string& text);
    void add(Reply::Kind kind, std::string word);

    const std::size_t longest_;
    std::string bytes_;
    std::size_t read_to_ = 0;  // in bytes_
    Reply reply_;
    bool has_begun_ = false;
    std::size_t elements_left_ = 0;         // of the reply that has begun
    std::optional<std::size_t> bulk_left_;  // of the text that is being read, with its line end
    bool is_kept_ = false;                  // that text; a longer one is passed over
    std::string bulk_;
};

}  // namespace svc::bus_redis
