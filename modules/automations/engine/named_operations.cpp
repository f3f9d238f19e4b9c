#include "modules/automations/engine/named_operations.hpp"

#include <algorithm>

namespace svc::automations {

namespace {

// What `svc` has that is no operation.
constexpr std::string_view own_functions[]{
    "after", "before", "refuse", "log", "call", "list", "null"};

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Walks through a Lua source from one name to the next, past comments and text. What is no Lua
/// does not get here: the sandbox has read the source before.
class Names {
public:
    explicit Names(std::string_view source) : rest_(source) {}

    /// The next name or keyword; empty at the end.
    std::string_view next() {
        while (!rest_.empty()) {
            if (is_word(rest_.front())) return word();
            if (rest_.starts_with("--")) comment();
            else if (const auto size = long_bracket()) take(size);
            else if (rest_.front() == '"' || rest_.front() == '\'') quoted();
            else take(rest_.starts_with("..") ? 2 : 1);
        }
        return {};
    }
    /// The name behind a dot that stands here; empty when there is none.
    std::string_view member() {
        if (rest_.size() < 2 || rest_.front() != '.' || !is_word(rest_[1])) return {};
        take(1);
        return word();
    }
    /// Whether the last name is itself a member of something.
    bool is_member() const { return is_member_; }
    std::int64_t line() const { return line_; }

private:
    void take(std::size_t size) {
        const auto taken = rest_.substr(0, size);
        line_ += std::ranges::count(taken, '\n');
        if (!taken.empty()) after_dot_ = taken == ".";
        rest_.remove_prefix(taken.size());
    }
    std::string_view word() {
        const auto size = std::ranges::find_if_not(rest_, is_word) - rest_.begin();
        const auto found = rest_.substr(0, static_cast<std::size_t>(size));
        is_member_ = after_dot_;
        take(found.size());
        return found;
    }
    void comment() {
        take(2);
        const auto size = long_bracket();
        take(size ? size : std::min(rest_.find('\n'), rest_.size()));
    }
    void quoted() {
        std::size_t end = 1;
        while (end < rest_.size() && rest_[end] != rest_.front()) end += rest_[end] == '\\' ? 2 : 1;
        take(end + 1);
    }
    /// How long what stands in `[[ ]]`, `[=[ ]=]` and so on is that begins here; 0 when none does.
    std::size_t long_bracket() const {
        if (!rest_.starts_with('[')) return 0;
        const auto level = rest_.find_first_not_of('=', 1);
        if (level == rest_.npos || rest_[level] != '[') return 0;
        const std::string close = "]" + std::string(level - 1, '=') + "]";
        const auto end = rest_.find(close, level + 1);
        return end == rest_.npos ? rest_.size() : end + close.size();
    }

    std::string_view rest_;
    std::int64_t line_ = 1;
    bool after_dot_ = false, is_member_ = false;
};

}  // namespace

std::vector<NamedOperation> named_operations(std::string_view source) {
    std::vector<NamedOperation> found;
    Names names(source);
    for (auto name = names.next(); !name.empty(); name = names.next()) {
        if (name != "svc" || names.is_member()) continue;
        const auto operation = names.member();
        if (operation.empty() ||
            std::ranges::find(own_functions, operation) != std::end(own_functions) ||
            std::ranges::find(found, operation, &NamedOperation::name) != found.end())
            continue;
        found.push_back({std::string(operation), names.line()});
    }
    return found;
}

}  // namespace svc::automations
