#include "modules/mcp/json_rpc.hpp"

#include <boost/json/value.hpp>

namespace svc::mcp {

namespace {

RpcError invalid_request(const std::string& message) {
    return RpcError(Code::invalid_request, message, 400);
}

std::string read_id(const json::value& id) {
    if (const auto* text = id.if_string()) {
        std::string out;
        write_text(*text, out);
        return out;
    }
    if (const auto* number = id.if_int64()) return std::to_string(*number);
    if (const auto* number = id.if_uint64()) return std::to_string(*number);
    throw invalid_request("The id of a request is text or a whole number.");
}

}  // namespace

const json::value* Message::find(std::string_view name) const {
    return params ? params->if_contains(name) : nullptr;
}

std::string_view Message::text(std::string_view name) const {
    const json::value* value = find(name);
    if (const auto* text = value ? value->if_string() : nullptr) return *text;
    throw RpcError(
        Code::invalid_params, method + " needs the parameter `" + std::string(name) + "`, a text."
    );
}

Message read_message(const json::value& value, std::string& id) {
    const auto* object = value.if_object();
    if (!object) throw invalid_request("A JSON-RPC message is an object.");
    Message message;
    message.whole = object;
    if (const auto* sent = object->if_contains("id")) id = message.id = read_id(*sent);
    else message.kind = Message::Kind::notification;

    const auto* version = object->if_contains("jsonrpc");
    if (!version || *version != "2.0") throw invalid_request("`jsonrpc` has to be \"2.0\".");

    const auto* method = object->if_contains("method");
    if (!method && (object->contains("result") || object->contains("error"))) {
        message.kind = Message::Kind::response;
        return message;
    }
    if (!method || !method->is_string()) throw invalid_request("`method` has to be a text.");
    message.method = method->get_string();

    if (const auto* params = object->if_contains("params")) {
        message.params = params->if_object();
        if (params->is_array())
            throw RpcError(Code::invalid_params, "Parameters go by name here: an object.");
        if (!message.params) throw invalid_request("`params` has to be an object.");
    }
    return message;
}

std::string result_head(std::string_view id) {
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"result":)";
}

std::string result_text(std::string_view id, std::initializer_list<std::string_view> result) {
    std::string out = result_head(id);
    std::size_t size = out.size() + 1;
    for (const std::string_view piece : result) size += piece.size();
    out.reserve(size);
    for (const std::string_view piece : result) out += piece;
    out += '}';
    return out;
}

std::string error_answer(std::string_view id, const RpcError& error) {
    std::string out = R"({"jsonrpc":"2.0","id":)";
    out += id;
    out += R"(,"error":{"code":)" + std::to_string(static_cast<int>(error.code()));
    out += R"(,"message":)";
    write_text(error.what(), out);
    if (!error.data().empty()) out += R"(,"data":)" + error.data();
    out += "}}";
    return out;
}

}  // namespace svc::mcp
