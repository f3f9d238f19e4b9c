#pragma once

#include "svc/record.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

/// JSON-RPC 2.0 as MCP narrows it: ids are text or whole numbers, never null, and parameters
/// are named.
namespace svc::mcp {

/// The codes that JSON-RPC and MCP define; nobody else's are sent.
enum class Code {
    parse_error = -32700,
    invalid_request = -32600,
    method_not_found = -32601,
    invalid_params = -32602,
    resource_not_found = -32002,
    header_mismatch = -32020,
    unsupported_version = -32022,
};

/// Ends a message with an error answer. `status` is the HTTP status it travels under when the
/// message is alone in its request.
class RpcError : public std::runtime_error {
public:
    RpcError(Code code, const std::string& message, int status = 200)
        : std::runtime_error(message), code_(code), status_(status) {}

    /// Adds `data`, as JSON text.
    RpcError&& with_data(std::string data) && {
        data_ = std::move(data);
        return std::move(*this);
    }
    Code code() const { return code_; }
    int status() const { return status_; }
    const std::string& data() const { return data_; }

private:
    Code code_;
    int status_;
    std::string data_;
};

struct Message {
    enum class Kind { request, notification, response };
    Kind kind = Kind::request;
    std::string id;  ///< as JSON text; `null` when there is none
    std::string method;
    // Inside the value that it was read from:
    const json::object* whole = nullptr;
    const json::object* params = nullptr;  ///< null when there are none

    /// A parameter; null when it is not there.
    const json::value* find(std::string_view name) const;
    /// A parameter that has to be text; RpcError invalid_params otherwise.
    std::string_view text(std::string_view name) const;
};

/// Throws RpcError when `value` is no message; `id` is set before, as far as there is one.
Message read_message(const json::value& value, std::string& id);

/// What stands in front of a result. Behind it there is a brace.
std::string result_head(std::string_view id);
/// Whole answers. `result` is JSON text, in pieces.
std::string result_text(std::string_view id, std::initializer_list<std::string_view> result);
std::string error_answer(std::string_view id, const RpcError& error);

}  // namespace svc::mcp
