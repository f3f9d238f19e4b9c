#pragma once

extern "C" {
#include <lua5.4/lauxlib.h>
#include <lua5.4/lua.h>
#include <lua5.4/lualib.h>
}

#include <cstddef>
#include <cstdint>
#include <string>

/// The program that runs one script, once, and ends. What it may use of the machine is settled
/// before it reads the script: memory, time, and reading and writing file descriptor 0, where
/// the server is. docs/automations.md has the messages.
///
/// Lua's errors jump over C++ frames without unwinding them, so functions that Lua calls own
/// nothing: text is gathered in the Box.
namespace svc::sandbox {

struct Limits {
    std::size_t memory = 16 << 20;  ///< bytes that Lua may hold
    std::int64_t instructions = 10'000'000;
    int cpu_seconds = 3;
};

inline constexpr std::size_t longest_message = 1 << 20;  ///< bytes, to the server
inline constexpr std::size_t longest_log = 1'000, longest_error = 2'000;  ///< bytes
inline constexpr int most_logs = 200;
inline constexpr std::size_t longest_subject = 256 << 10, longest_pattern = 256;

enum class Mode { load, before, after };

/// The one run of this process.
struct Box {
    Limits limits;
    lua_State* state = nullptr;
    std::string name;  ///< of the script
    Mode mode = Mode::load;
    bool in_handler = false;  ///< the script's body has run; operations may be called
    int logs = 0;
    std::size_t used = 0, peak = 0;
    std::int64_t instructions = 0;
    int last_line = 0;  ///< where the script failed, or was a moment ago; 0: not known
    std::string line;   ///< the message that is being read or written
};
Box& box();

// ---- main.cpp: messages ----
/// Sends box().line, to which it adds the end of line.
void send_line();
/// Reads a message into box().line. Ends the process when the server is gone.
void receive_line();
/// Reports how the run ended and ends the process; `error` empty when all is well. Never returns.
[[noreturn]] void finish(const std::string& error);

// ---- json.cpp ----
/// Pushes the value that `text` holds. Null is nil in an object and svc.null in a list.
void push_json(lua_State* state, const char* text, std::size_t size);
/// Appends the value at `index` to box().line; a Lua error when JSON has no form for it.
void append_json(lua_State* state, int index);
/// Appends a JSON string; what is not UTF-8, and zero bytes, become U+FFFD.
void append_text(const char* text, std::size_t size, std::string& out);
/// Marks the table on top of the stack as a list, even when it is empty; a Lua error when it has a
/// metatable of its own.
void mark_list(lua_State* state);
/// Pushes the metatable by which tables of this sort are known. Scripts cannot get at it: with
/// `__gc` in it they would have code that runs where no instruction is counted.
void push_mark(lua_State* state, const char* name);

// ---- library.cpp ----
/// Makes the state with what scripts may use of Lua's own library.
lua_State* make_state();

// ---- service.cpp ----
/// Adds the global `svc`.
void add_service(lua_State* state);
/// Calls the handlers that are bound to this kind, with the event on top of the stack.
/// Appends a refusal to box().line when one refuses.
void call_handlers(lua_State* state);
/// Appends what the script is bound to, as a JSON list.
void append_binds(lua_State* state);

// ---- lockdown.cpp ----
/// Gives up everything that a script does not need. Ends the process when it cannot.
void lock_down(const Limits& limits);

}  // namespace svc::sandbox
