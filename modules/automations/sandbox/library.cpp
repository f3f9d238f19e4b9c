#include "modules/automations/sandbox/box.hpp"

#include <cstdlib>
#include <cstring>

namespace svc::sandbox {

namespace {

constexpr int hook_every = 100, note_every = 1'000;  // instructions of Lua's

/// The allocator of the state: refuses to grow beyond the limit.
void* allocate(void*, void* block, std::size_t old_size, std::size_t new_size) {
    const std::size_t without = box().used - (block ? old_size : 0);
    if (new_size == 0) {
        std::free(block);
        box().used = without;
        return nullptr;
    }
    if (new_size > box().limits.memory || without + new_size > box().limits.memory) return nullptr;
    void* grown = std::realloc(block, new_size);
    if (!grown) return nullptr;
    box().used = without + new_size;
    if (box().used > box().peak) box().peak = box().used;
    return grown;
}

/// Ends the process rather than the script: no pcall sees this.
void count(lua_State* state, lua_Debug* at) {
    Box& my = box();
    my.instructions += hook_every;
    const bool over = my.instructions >= my.limits.instructions;
    if (!over && my.instructions % note_every != 0) return;
    lua_getinfo(state, "Sl", at);
    my.last_line = at->currentline;
    if (over)
        finish(
            std::string(at->short_src) + ":" + std::to_string(at->currentline) +
            ": ran for more than " + std::to_string(my.limits.instructions) + " instructions"
        );
}

/// Goes on as the function in the first upvalue, in this very frame: its errors name the line
/// that called us.
int pass_on(lua_State* state) { return lua_tocfunction(state, lua_upvalueindex(1))(state); }

/// find, match, gmatch, gsub: a pattern may take time that grows with a high power of the
/// lengths, and no hook runs meanwhile.
int match(lua_State* state) {
    std::size_t subject = 0, pattern = 0;
    luaL_checklstring(state, 1, &subject);
    luaL_checklstring(state, 2, &pattern);
    luaL_argcheck(state, subject <= longest_subject, 1, "the text is too long to be searched");
    luaL_argcheck(state, pattern <= longest_pattern, 2, "the pattern is too long");
    return pass_on(state);
}

int repeat(lua_State* state) {
    std::size_t size = 0, separator = 0;
    luaL_checklstring(state, 1, &size);
    const lua_Integer times = luaL_checkinteger(state, 2);
    luaL_optlstring(state, 3, "", &separator);
    const auto most = static_cast<lua_Integer>(box().limits.memory / (size + separator + 1));
    luaL_argcheck(state, times <= most, 2, "the text would be too long");
    return pass_on(state);
}

/// Finalisers run where no hook looks.
int set_metatable(lua_State* state) {
    if (lua_istable(state, 2))
        for (const char* unsafe : {"__gc", "__close", "__mode"}) {
            lua_pushstring(state, unsafe);
            if (lua_rawget(state, 2) != LUA_TNIL)
                return luaL_error(state, "a metatable cannot have %s here", unsafe);
            lua_pop(state, 1);
        }
    return pass_on(state);
}

void wrap(lua_State* state, const char* name, lua_CFunction wrapper) {
    lua_getfield(state, -1, name);
    lua_pushcclosure(state, wrapper, 1);
    lua_setfield(state, -2, name);
}

void remove(lua_State* state, const char* name) {
    lua_pushnil(state);
    lua_setfield(state, -2, name);
}

}  // namespace

lua_State* make_state() {
    lua_State* state = lua_newstate(&allocate, nullptr);
    if (!state) std::abort();
    struct Library {
        const char* name;
        lua_CFunction open;
    };
    for (const Library& library :
         {Library{LUA_GNAME, luaopen_base},
          {LUA_STRLIBNAME, luaopen_string},
          {LUA_TABLIBNAME, luaopen_table},
          {LUA_MATHLIBNAME, luaopen_math},
          {LUA_UTF8LIBNAME, luaopen_utf8},
          {LUA_COLIBNAME, luaopen_coroutine}}) {
        luaL_requiref(state, library.name, library.open, 1);
        lua_pop(state, 1);
    }
    lua_pushglobaltable(state);
    for (const char* name : {"dofile", "loadfile", "load", "collectgarbage", "warn"})
        remove(state, name);
    wrap(state, "setmetatable", set_metatable);
    lua_getfield(state, -1, LUA_STRLIBNAME);
    remove(state, "dump");
    for (const char* name : {"find", "match", "gmatch", "gsub"}) wrap(state, name, match);
    wrap(state, "rep", repeat);
    lua_pop(state, 2);

    lua_pushliteral(state, "");  // all text shares one metatable: it stays as it is
    lua_getmetatable(state, -1);
    lua_pushboolean(state, 0);
    lua_setfield(state, -2, "__metatable");
    lua_pop(state, 2);

    lua_sethook(state, count, LUA_MASKCOUNT, hook_every);
    return state;
}

}  // namespace svc::sandbox
