#include "modules/automations/sandbox/box.hpp"

#include <cstring>

namespace svc::sandbox {

namespace {

// In the registry: a list of {when, kind, function, line}.
constexpr char binds_key[] = "svc.binds";
constexpr char refusal_mark[] = "svc.refusal";  // the metatable of what svc.refuse returns
constexpr int most_binds = 50;

bool is_name(const char* begin, const char* end) {
    if (begin == end) return false;
    for (; begin < end; ++begin)
        if (!std::strchr("abcdefghijklmnopqrstuvwxyz_0123456789", *begin)) return false;
    return true;
}

/// `noun.verb`, `noun.*` or `*`.
bool is_filter(const char* text, std::size_t size) {
    if (std::strlen(text) != size || size > 100) return false;
    if (std::strcmp(text, "*") == 0) return true;
    const char* dot = std::strchr(text, '.');
    if (!dot || !is_name(text, dot)) return false;
    return std::strcmp(dot, ".*") == 0 || is_name(dot + 1, text + size);
}

bool passes(const char* filter, const char* kind) {
    if (std::strcmp(filter, "*") == 0 || std::strcmp(filter, kind) == 0) return true;
    const std::size_t size = std::strlen(filter);
    return size > 2 && std::strcmp(filter + size - 2, ".*") == 0 &&
           std::strncmp(filter, kind, size - 1) == 0;
}

/// Of the script, where it called the function that runs.
int line_of_caller(lua_State* state) {
    lua_Debug at;
    if (lua_getstack(state, 1, &at) == 0) return 0;
    lua_getinfo(state, "l", &at);
    return at.currentline > 0 ? at.currentline : 0;
}

void append_field(const char* name, const char* text, std::size_t size) {
    std::string& line = box().line;
    if (line.back() != '{') line += ',';
    append_text(name, std::strlen(name), line);
    line += ':';
    append_text(text, size, line);
}

int bind(lua_State* state, const char* when) {
    std::size_t size = 0;
    const char* kind = luaL_checklstring(state, 1, &size);
    luaL_argcheck(state, is_filter(kind, size), 1, "not a kind of event, `noun.*` or `*`");
    luaL_checktype(state, 2, LUA_TFUNCTION);
    if (box().in_handler) return luaL_error(state, "bind at the top level of the script");
    lua_getfield(state, LUA_REGISTRYINDEX, binds_key);
    const auto count = static_cast<lua_Integer>(lua_rawlen(state, -1));
    if (count >= most_binds) return luaL_error(state, "more than %d handlers", most_binds);
    lua_createtable(state, 4, 0);
    lua_pushstring(state, when);
    lua_rawseti(state, -2, 1);
    lua_pushvalue(state, 1);
    lua_rawseti(state, -2, 2);
    lua_pushvalue(state, 2);
    lua_rawseti(state, -2, 3);
    lua_pushinteger(state, line_of_caller(state));
    lua_rawseti(state, -2, 4);
    lua_rawseti(state, -2, count + 1);
    return 0;
}
int after(lua_State* state) { return bind(state, "after"); }
int before(lua_State* state) { return bind(state, "before"); }

/// svc.refuse(code, message): what a before-handler returns to say no.
int refuse(lua_State* state) {
    std::size_t size = 0;
    const char* code = luaL_checklstring(state, 1, &size);
    luaL_checkstring(state, 2);
    luaL_argcheck(
        state, size <= 60 && is_name(code, code + size), 1, "a code is made of a-z, 0-9 and _"
    );
    lua_createtable(state, 0, 2);
    lua_pushvalue(state, 1);
    lua_setfield(state, -2, "code");
    lua_pushvalue(state, 2);
    lua_setfield(state, -2, "message");
    push_mark(state, refusal_mark);
    lua_setmetatable(state, -2);
    return 1;
}

/// svc.log(…): a line of the run's log, as print would write it.
int log(lua_State* state) {
    Box& my = box();
    const int count = lua_gettop(state);
    luaL_Buffer text;
    luaL_buffinit(state, &text);
    for (int i = 1; i <= count; ++i) {
        if (i > 1) luaL_addchar(&text, '\t');
        luaL_tolstring(state, i, nullptr);
        luaL_addvalue(&text);
    }
    luaL_pushresult(&text);
    if (my.logs >= most_logs) return 0;
    ++my.logs;
    std::size_t size = 0;
    const char* written = lua_tolstring(state, -1, &size);
    my.line = R"({"log":)";
    if (size > longest_log) size = longest_log;
    append_text(written, size, my.line);
    my.line += '}';
    send_line();
    return 0;
}

/// Sends the call in box().line and pushes what comes back: the result, true where there is none to
/// show, or nil and the refusal.
int exchange(lua_State* state) {
    Box& my = box();
    if (my.line.size() > longest_message)
        return luaL_error(state, "that is too much for the server");
    send_line();
    receive_line();
    push_json(state, my.line.data(), my.line.size());
    lua_getfield(state, -1, "status");
    const lua_Integer status = lua_tointeger(state, -1);
    lua_getfield(state, -2, "body");
    if (status < 400) {
        if (lua_isnil(state, -1)) lua_pushboolean(state, 1);
        return 1;
    }
    if (!lua_istable(state, -1)) {
        lua_newtable(state);
        lua_replace(state, -2);
    }
    lua_pushinteger(state, status);
    lua_setfield(state, -2, "status");
    lua_pushnil(state);
    lua_insert(state, -2);
    return 2;
}

int call_named(lua_State* state, const char* name, std::size_t size, int arguments) {
    Box& my = box();
    if (!my.in_handler)
        return luaL_error(
            state,
            "svc.%s: operations are called from a handler, and handlers are bound with "
            "svc.after and svc.before",
            size <= 100 && is_name(name, name + size) ? name : "?"
        );
    if (my.mode == Mode::before)
        return luaL_error(
            state,
            "a before-handler cannot call operations: it runs in the midst "
            "of one"
        );
    luaL_argcheck(state, size <= 100 && is_name(name, name + size), 1, "not an operation");
    my.line = R"({"call":)";
    append_text(name, size, my.line);
    my.line += R"(,"arguments":)";
    if (lua_isnoneornil(state, arguments)) {
        my.line += "{}";
    } else {
        luaL_checktype(state, arguments, LUA_TTABLE);
        const auto begin = my.line.size();
        append_json(state, arguments);
        if (my.line[begin] == '[')
            return luaL_error(
                state, "arguments have names, as in svc.get_card{card_id = …}; this is a list"
            );
    }
    my.line += '}';
    return exchange(state);
}

/// svc.call(operation, arguments)
int call(lua_State* state) {
    std::size_t size = 0;
    const char* name = luaL_checklstring(state, 1, &size);
    return call_named(state, name, size, 2);
}

/// svc.operation{arguments}
int call_sugar(lua_State* state) {
    std::size_t size = 0;
    const char* name = lua_tolstring(state, lua_upvalueindex(1), &size);
    return call_named(state, name, size, 1);
}

/// What `svc` does not have is an operation.
int operation(lua_State* state) {
    luaL_checktype(state, 2, LUA_TSTRING);
    lua_pushvalue(state, 2);
    lua_pushcclosure(state, call_sugar, 1);
    return 1;
}

int list(lua_State* state) {
    if (lua_isnoneornil(state, 1)) {
        lua_settop(state, 0);
        lua_newtable(state);
    }
    luaL_checktype(state, 1, LUA_TTABLE);
    lua_settop(state, 1);
    mark_list(state);
    return 1;
}

/// Appends the refusal on top of the stack, if it is one, to the message in the making.
bool refused(lua_State* state) {
    if (!lua_getmetatable(state, -1)) return false;
    luaL_getmetatable(state, refusal_mark);
    const bool is_one = lua_rawequal(state, -1, -2) != 0;
    lua_pop(state, 2);
    if (!is_one) return false;
    std::string& line = box().line;
    line += R"("refusal":{)";
    for (const char* name : {"code", "message"}) {
        std::size_t size = 0;
        lua_pushstring(state, name);
        lua_rawget(state, -2);
        const char* text = lua_tolstring(state, -1, &size);
        append_field(name, text ? text : "", text ? size : 0);
        lua_pop(state, 1);
    }
    line += "},";
    return true;
}

}  // namespace

void add_service(lua_State* state) {
    lua_newtable(state);
    lua_setfield(state, LUA_REGISTRYINDEX, binds_key);
    constexpr luaL_Reg functions[] = {
        {"after", after},
        {"before", before},
        {"refuse", refuse},
        {"log", log},
        {"call", call},
        {"list", list},
        {nullptr, nullptr}};
    luaL_newlib(state, functions);
    lua_pushlightuserdata(state, nullptr);
    lua_setfield(state, -2, "null");
    lua_createtable(state, 0, 2);
    lua_pushcfunction(state, operation);
    lua_setfield(state, -2, "__index");
    lua_pushboolean(state, 0);
    lua_setfield(state, -2, "__metatable");
    lua_setmetatable(state, -2);
    lua_setglobal(state, "svc");
    lua_pushcfunction(state, log);
    lua_setglobal(state, "print");
}

void call_handlers(lua_State* state) {
    const int event = lua_gettop(state);
    const char* when = box().mode == Mode::before ? "before" : "after";
    lua_getfield(state, event, "kind");
    const char* kind = lua_tostring(state, -1);
    if (!kind) finish("the server sent an event without a kind");
    lua_getfield(state, LUA_REGISTRYINDEX, binds_key);
    const int binds = lua_gettop(state);
    const auto count = static_cast<lua_Integer>(lua_rawlen(state, binds));
    for (lua_Integer i = 1; i <= count; ++i) {
        lua_settop(state, binds);
        lua_rawgeti(state, binds, i);
        lua_rawgeti(state, -1, 1);
        lua_rawgeti(state, -2, 2);
        const bool mine = std::strcmp(lua_tostring(state, -2), when) == 0 &&
                          passes(lua_tostring(state, -1), kind);
        if (!mine) continue;
        lua_rawgeti(state, binds + 1, 3);
        lua_pushvalue(state, event);
        lua_call(state, 1, 1);
        if (box().mode != Mode::before) continue;
        box().line = "";
        if (refused(state)) return;
    }
    box().line = "";
}

void append_binds(lua_State* state) {
    std::string& line = box().line;
    line += '[';
    lua_getfield(state, LUA_REGISTRYINDEX, binds_key);
    const auto count = static_cast<lua_Integer>(lua_rawlen(state, -1));
    for (lua_Integer i = 1; i <= count; ++i) {
        if (i > 1) line += ',';
        line += '{';
        lua_rawgeti(state, -1, i);
        for (int part = 1; part <= 2; ++part) {
            std::size_t size = 0;
            lua_rawgeti(state, -1, part);
            const char* text = lua_tolstring(state, -1, &size);
            append_field(part == 1 ? "when" : "event", text, size);
            lua_pop(state, 1);
        }
        lua_rawgeti(state, -1, 4);
        line += ",\"line\":" + std::to_string(lua_tointeger(state, -1)) + '}';
        lua_pop(state, 2);
    }
    lua_pop(state, 1);
    line += ']';
}

}  // namespace svc::sandbox
