#include "modules/automations/sandbox/box.hpp"

#include <charconv>
#include <cmath>
#include <cstring>

namespace svc::sandbox {

namespace {

constexpr int deepest = 100;
constexpr char list_mark[] = "svc.list";

/// Reads what the server wrote, which is JSON; anything else ends the process.
class Parser {
public:
    Parser(lua_State* state, const char* text, std::size_t size)
        : state_(state), at_(text), end_(text + size) {}

    void value(int depth) {
        if (depth > deepest) wrong();
        luaL_checkstack(state_, 4, "JSON");
        switch (peek()) {
            case '{': return object(depth);
            case '[': return list(depth);
            case '"': return text();
            case 't': return word("true"), lua_pushboolean(state_, 1);
            case 'f': return word("false"), lua_pushboolean(state_, 0);
            case 'n': return word("null"), lua_pushlightuserdata(state_, nullptr);
            default: return number();
        }
    }
    void end() {
        space();
        if (at_ != end_) wrong();
    }

private:
    [[noreturn]] static void wrong() { finish("the server sent something that is not JSON"); }

    void space() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
    }
    char peek() {
        space();
        return at_ < end_ ? *at_ : '\0';
    }
    void take(char expected) {
        if (peek() != expected) wrong();
        ++at_;
    }
    bool took(char wanted) {
        if (peek() != wanted) return false;
        ++at_;
        return true;
    }
    void word(const char* expected) {
        const std::size_t size = std::strlen(expected);
        if (static_cast<std::size_t>(end_ - at_) < size || std::memcmp(at_, expected, size) != 0)
            wrong();
        at_ += size;
    }

    void object(int depth) {
        take('{');
        lua_newtable(state_);
        if (took('}')) return;
        do {
            if (peek() != '"') wrong();
            text();
            take(':');
            value(depth + 1);
            if (lua_islightuserdata(state_, -1)) lua_pop(state_, 2);  // null: the member is absent
            else lua_rawset(state_, -3);
        } while (took(','));
        take('}');
    }

    void list(int depth) {
        take('[');
        lua_newtable(state_);
        mark_list(state_);
        if (took(']')) return;
        lua_Integer index = 0;
        do {
            value(depth + 1);
            lua_rawseti(state_, -2, ++index);
        } while (took(','));
        take(']');
    }

    void number() {
        const char* first = at_;
        while (at_ < end_ && *at_ != '\0' && std::strchr("+-.0123456789eE", *at_)) ++at_;
        lua_Integer whole = 0;
        const auto [end, error] = std::from_chars(first, at_, whole);
        if (error == std::errc{} && end == at_ && first != at_)
            return lua_pushinteger(state_, whole);
        double fraction = 0;
        const auto [fraction_end, problem] = std::from_chars(first, at_, fraction);
        if (problem != std::errc{} || fraction_end != at_ || first == at_) wrong();
        lua_pushnumber(state_, fraction);
    }

    unsigned hex4() {
        unsigned code = 0;
        if (end_ - at_ < 4) wrong();
        const auto [end, error] = std::from_chars(at_, at_ + 4, code, 16);
        if (error != std::errc{} || end != at_ + 4) wrong();
        at_ += 4;
        return code;
    }

    void escape(luaL_Buffer& out) {
        if (at_ == end_) wrong();
        const char letter = *at_++;
        constexpr char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        if (const char* found = std::strchr(letters, letter); found && letter != '\0') {
            luaL_addchar(&out, meanings[found - letters]);
            return;
        }
        if (letter != 'u') wrong();
        unsigned code = hex4();
        if (code >= 0xD800 && code < 0xDC00) {
            if (end_ - at_ < 2 || at_[0] != '\\' || at_[1] != 'u') wrong();
            at_ += 2;
            code = 0x10000 + ((code - 0xD800) << 10) + (hex4() - 0xDC00);
        }
        lua_pushfstring(state_, "%U", static_cast<long>(code));
        luaL_addvalue(&out);
    }

    void text() {
        take('"');
        luaL_Buffer out;
        luaL_buffinit(state_, &out);
        for (;;) {
            const char* plain = at_;
            while (at_ < end_ && *at_ != '"' && *at_ != '\\') ++at_;
            luaL_addlstring(&out, plain, static_cast<std::size_t>(at_ - plain));
            if (at_ == end_) wrong();
            if (*at_++ == '"') break;
            escape(out);
        }
        luaL_pushresult(&out);
    }

    lua_State* state_;
    const char *at_, *end_;
};

/// The length of the UTF-8 character at `text`, or 0 when there is none.
std::size_t character(const char* text, std::size_t size) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const auto follows = [&](std::size_t at) { return at < size && (byte(at) & 0xC0) == 0x80; };
    if (byte(0) < 0x80) return 1;
    if (byte(0) < 0xC2 || byte(0) > 0xF4 || !follows(1)) return 0;
    if (byte(0) < 0xE0) return 2;
    if (!follows(2)) return 0;
    if (byte(0) < 0xF0) {
        const bool overlong = byte(0) == 0xE0 && byte(1) < 0xA0;
        const bool surrogate = byte(0) == 0xED && byte(1) >= 0xA0;
        return overlong || surrogate ? 0 : 3;
    }
    const bool overlong = byte(0) == 0xF0 && byte(1) < 0x90;
    const bool too_high = byte(0) == 0xF4 && byte(1) >= 0x90;
    return follows(3) && !overlong && !too_high ? 4 : 0;
}

void check_text(lua_State* state, const char* text, std::size_t size) {
    for (std::size_t at = 0; at < size;) {
        const std::size_t length = character(text + at, size - at);
        if (length == 0 || text[at] == '\0')
            luaL_error(state, "text for the server must be UTF-8 without zero bytes");
        at += length;
    }
}

bool is_marked(lua_State* state, int index) {
    if (!lua_getmetatable(state, index)) return false;
    luaL_getmetatable(state, list_mark);
    const bool marked = lua_rawequal(state, -1, -2) != 0;
    lua_pop(state, 2);
    return marked;
}

bool is_list(lua_State* state, int index) {
    return lua_rawlen(state, index) > 0 || is_marked(state, index);
}

int refuse_mixed(lua_State* state) {
    return luaL_error(state, "a table for the server has either a list's keys or names");
}

/// What the table holds beside the list would get lost on the way.
void check_list(lua_State* state, int index, lua_Integer size) {
    for (lua_pushnil(state); lua_next(state, index) != 0; lua_pop(state, 1)) {
        const lua_Integer place = lua_isinteger(state, -2) ? lua_tointeger(state, -2) : 0;
        if (place < 1 || place > size) refuse_mixed(state);
    }
}

void append_value(lua_State* state, int index, int depth);

void append_list(lua_State* state, int index, int depth) {
    std::string& out = box().line;
    out += '[';
    const auto size = static_cast<lua_Integer>(lua_rawlen(state, index));
    check_list(state, index, size);
    for (lua_Integer i = 1; i <= size; ++i) {
        if (i > 1) out += ',';
        lua_rawgeti(state, index, i);
        append_value(state, lua_gettop(state), depth + 1);
        lua_pop(state, 1);
    }
    out += ']';
}

void append_object(lua_State* state, int index, int depth) {
    std::string& out = box().line;
    out += '{';
    bool first = true;
    for (lua_pushnil(state); lua_next(state, index) != 0; lua_pop(state, 1)) {
        if (lua_type(state, -2) != LUA_TSTRING) refuse_mixed(state);
        if (!first) out += ',';
        first = false;
        const int top = lua_gettop(state);
        append_value(state, top - 1, depth + 1);
        out += ':';
        append_value(state, top, depth + 1);
    }
    out += '}';
}

void append_number(lua_State* state, int index) {
    char digits[40];
    if (lua_isinteger(state, index)) {
        const auto end = std::to_chars(digits, digits + sizeof digits, lua_tointeger(state, index));
        box().line.append(digits, end.ptr);
        return;
    }
    const double number = lua_tonumber(state, index);
    if (!std::isfinite(number)) luaL_error(state, "the server takes no infinite numbers");
    const auto end = std::to_chars(digits, digits + sizeof digits, number);
    box().line.append(digits, end.ptr);
}

void append_value(lua_State* state, int index, int depth) {
    if (depth > deepest) luaL_error(state, "a table for the server is nested too deep");
    if (box().line.size() > longest_message) luaL_error(state, "that is too much for the server");
    luaL_checkstack(state, 4, "JSON");
    switch (lua_type(state, index)) {
        case LUA_TNIL: box().line += "null"; return;
        case LUA_TBOOLEAN: box().line += lua_toboolean(state, index) ? "true" : "false"; return;
        case LUA_TNUMBER: return append_number(state, index);
        case LUA_TSTRING: {
            std::size_t size = 0;
            const char* text = lua_tolstring(state, index, &size);
            check_text(state, text, size);
            return append_text(text, size, box().line);
        }
        case LUA_TTABLE:
            if (is_list(state, index)) return append_list(state, index, depth);
            return append_object(state, index, depth);
        case LUA_TLIGHTUSERDATA:
            if (!lua_touserdata(state, index)) {
                box().line += "null";
                return;
            }
            [[fallthrough]];
        default: luaL_error(state, "the server takes no %s", luaL_typename(state, index));
    }
}

}  // namespace

void push_json(lua_State* state, const char* text, std::size_t size) {
    Parser parser(state, text, size);
    parser.value(0);
    parser.end();
}

void append_json(lua_State* state, int index) {
    append_value(state, lua_absindex(state, index), 0);
}

void append_text(const char* text, std::size_t size, std::string& out) {
    constexpr char digits[] = "0123456789abcdef";
    constexpr char replacement[] = "\xEF\xBF\xBD";
    out += '"';
    for (std::size_t at = 0; at < size;) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const std::size_t length = byte == 0 ? 0 : character(text + at, size - at);
        if (length == 0) {
            out += replacement;
        } else if (byte == '"' || byte == '\\') {
            out += '\\';
            out += text[at];
        } else if (byte < 0x20 || byte == 0x7F) {
            out += "\\u00";
            out += digits[byte >> 4];
            out += digits[byte & 15];
        } else {
            out.append(text + at, length);
        }
        at += length ? length : 1;
    }
    out += '"';
}

void mark_list(lua_State* state) {
    if (is_marked(state, -1)) return;
    if (lua_getmetatable(state, -1))
        luaL_error(state, "a table with a metatable of its own cannot be marked as a list");
    push_mark(state, list_mark);
    lua_setmetatable(state, -2);
}

void push_mark(lua_State* state, const char* name) {
    if (luaL_newmetatable(state, name) == 0) return;
    lua_pushboolean(state, 0);
    lua_setfield(state, -2, "__metatable");
}

}  // namespace svc::sandbox
