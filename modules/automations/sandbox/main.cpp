#include "modules/automations/sandbox/box.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

/// workboard-sandbox <bytes of memory> <instructions> <seconds of processor time>
namespace svc::sandbox {

Box& box() {
    static Box the_box;
    return the_box;
}

void send_line() {
    std::string& line = box().line;
    line += '\n';
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t count = write(0, line.data() + sent, line.size() - sent);
        if (count > 0) sent += static_cast<std::size_t>(count);
        else if (errno != EINTR) _exit(2);
    }
}

void receive_line() {
    // The server sends one message and waits for an answer, so nothing follows the line.
    std::string& line = box().line;
    char bytes[16 << 10];
    for (line.clear(); line.empty() || line.back() != '\n';) {
        const ssize_t count = read(0, bytes, sizeof bytes);
        if (count > 0) line.append(bytes, static_cast<std::size_t>(count));
        else if (count == 0 || errno != EINTR) _exit(2);
    }
    line.pop_back();
}

namespace {

void append_member(const char* name, std::int64_t number) {
    append_text(name, std::strlen(name), box().line);
    box().line += ':';
    box().line += std::to_string(number);
    box().line += ',';
}

/// The message handler: notes the line of the script that was running.
int locate(lua_State* state) {
    lua_Debug at;
    for (int level = 1; lua_getstack(state, level, &at); ++level) {
        lua_getinfo(state, "l", &at);
        if (at.currentline <= 0) continue;
        box().last_line = at.currentline;
        break;
    }
    return 1;
}

/// Whatever was thrown, as text; its own __tostring may run, under the same limits.
int describe(lua_State* state) {
    if (!lua_isstring(state, 1) && !luaL_getmetafield(state, 1, "__tostring"))
        lua_pushfstring(state, "(the error is a %s)", luaL_typename(state, 1));
    else luaL_tolstring(state, 1, nullptr);
    return 1;
}

/// With script and line in front, which Lua leaves out when one function of its library called
/// another.
std::string error_text(lua_State* state) {
    lua_pushcfunction(state, describe);
    lua_insert(state, -2);
    const int line = box().last_line;
    lua_pcall(state, 1, 1, 0);
    const char* what = lua_tostring(state, -1);
    std::string text = what ? what : "(an error that cannot be shown)";
    const std::string name = box().name + ":";
    if (!text.starts_with(name) && line > 0) text = name + std::to_string(line) + ": " + text;
    return text.substr(0, longest_error);
}

std::string out_of_memory() {
    std::string text =
        "needed more than " + std::to_string(box().limits.memory) + " bytes of memory";
    if (box().last_line > 0) text += ", near line " + std::to_string(box().last_line);
    return text;
}

std::string field(lua_State* state, const char* name) {
    std::size_t size = 0;
    lua_getfield(state, 1, name);
    const char* text = lua_tolstring(state, -1, &size);
    std::string copy(text ? text : "", size);
    lua_pop(state, 1);
    return copy;
}

int push_job(lua_State* state) {
    push_json(state, box().line.data(), box().line.size());
    return 1;
}

/// Gets the job as its argument.
int work(lua_State* state) {
    lua_getfield(state, 1, "source");
    std::size_t size = 0;
    const char* source = lua_tolstring(state, -1, &size);
    const char* chunk = lua_pushfstring(state, "=%s", box().name.c_str());
    if (luaL_loadbufferx(state, source, size, chunk, "t") != LUA_OK) return lua_error(state);
    lua_call(state, 0, 0);
    box().in_handler = true;
    box().line.clear();
    if (box().mode == Mode::load) return 0;
    lua_settop(state, 1);
    lua_getfield(state, 1, "event");
    call_handlers(state);
    return 0;
}

[[noreturn]] void finish_with(const std::string& parts, const std::string& error) {
    Box& my = box();
    my.line = R"({"done":{)" + parts;
    append_member("instructions", my.instructions);
    append_member("memory_peak_bytes", static_cast<std::int64_t>(my.peak));
    my.line += R"("error":)";
    if (error.empty()) my.line += "null";
    else append_text(error.data(), error.size(), my.line);
    my.line += "}}";
    send_line();
    _exit(0);
}

[[noreturn]] void run() {
    Box& my = box();
    receive_line();
    lua_pushcfunction(my.state, push_job);
    if (lua_pcall(my.state, 0, 1, 0) != LUA_OK) finish("the script and its event do not fit");
    my.name = field(my.state, "name");
    const std::string mode = field(my.state, "mode");
    my.mode = mode == "load" ? Mode::load : mode == "before" ? Mode::before : Mode::after;
    lua_pushcfunction(my.state, locate);
    lua_pushcfunction(my.state, work);
    lua_pushvalue(my.state, 1);
    const int outcome = lua_pcall(my.state, 1, 0, -3);
    if (outcome == LUA_ERRMEM) finish(out_of_memory());
    if (outcome != LUA_OK) finish(error_text(my.state));
    if (my.mode != Mode::load) finish_with(std::string(my.line), "");
    my.line = R"("binds":)";
    append_binds(my.state);
    my.line += ',';
    finish_with(std::string(my.line), "");
}

}  // namespace

void finish(const std::string& error) { finish_with("", error); }

}  // namespace svc::sandbox

int main(int count, char** words) {
    using namespace svc::sandbox;
    if (count != 4) return 2;
    Limits& limits = box().limits;
    limits.memory = std::strtoull(words[1], nullptr, 10);
    limits.instructions = std::strtoll(words[2], nullptr, 10);
    limits.cpu_seconds = static_cast<int>(std::strtol(words[3], nullptr, 10));
    box().state = make_state();
    add_service(box().state);
    lock_down(limits);
    run();
}
