#pragma once

#include "modules/mcp/tool_schemas.hpp"
#include "svc/shared_text.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace svc::mcp {

/// One operation as MCP offers it. Its texts are made once.
struct Tool {
    const Declared* declared;
    ToolInput input;
    std::string head;         ///< of its entry in tools/list: name, description and input schema
    std::string annotations;  ///< of that entry; with them it is whole
    std::string since_2025_06_18;  ///< what later clients get besides: title and output schema
    std::set<std::string> opaque;  ///< members of its answer whose values are other people's JSON
    std::string_view name() const { return declared->operation->name; }
};

/// Which members definitions of tools have.
enum class ToolTexts { first, with_output };

/// What a client narrows the catalog to, by headers. An empty narrowing shows everything.
struct Narrowing {
    bool read_only = false;
    bool picky = false;  ///< it named toolsets or tools: only those
    std::vector<std::string_view> toolsets;
    std::vector<std::string_view> tools;

    /// Reads X-MCP-Readonly, X-MCP-Toolsets and X-MCP-Tools. Views into the request.
    static Narrowing of(const http::Request& request);
    bool admits(const Declared& declared) const;
};

/// Every operation marked `tool`, in the order of its declaration. Their texts are made when
/// somebody first asks: no server waits for them when it starts. Any thread.
class Catalog {
public:
    explicit Catalog(Kernel& kernel) : kernel_(kernel) {}

    /// What the request's headers narrow it to. RpcError 400 when they name a toolset or a tool
    /// that there is not.
    Narrowing narrowing(const http::Request& request) const;
    /// Null when there is no such tool, or the narrowing hides it. One that the caller's role does
    /// not reach is found: calling it is refused by the kernel, which keeps a record of that.
    const Tool* find(std::string_view name, const Narrowing& narrowing) const;
    /// What this caller sees: the member `tools`, as JSON text. Callers who see the same get the
    /// same.
    std::shared_ptr<const http::SharedText> list(
        const Caller& caller, const Narrowing& narrowing, ToolTexts texts
    ) const;
    /// The object `mcp_manifest`: everything, for everyone.
    std::string manifest(const std::string& base_url) const;
    std::string instructions() const;

private:
    const std::vector<Tool>& tools() const;
    std::set<std::string_view> toolsets() const;
    static bool shows(const Tool& tool, const Caller& caller, const Narrowing& narrowing);

    std::string written(const std::vector<bool>& shown, ToolTexts texts) const;

    Kernel& kernel_;
    mutable std::once_flag made_;
    mutable std::vector<Tool> tools_;
    // Few differ, for they follow from roles and narrowings; when they do not, it begins again.
    static constexpr std::size_t most_lists = 32;
    using Shown = std::pair<std::vector<bool>, ToolTexts>;
    mutable std::mutex mutex_;
    mutable std::map<Shown, std::shared_ptr<const http::SharedText>> lists_;
};

}  // namespace svc::mcp
