#pragma once

#include "svc/kernel.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace svc::core {

/// One operation in the routing table.
struct Endpoint {
    const Declared* declared;
    std::size_t number;                        ///< its place in the metrics
    std::vector<std::string_view> parameters;  ///< names of the braces, left to right
    const Operation& operation() const { return *declared->operation; }
};

/// Where a path leads. `allow` names the methods there when the asked one is not among them.
struct Match {
    const Endpoint* endpoint = nullptr;
    std::vector<std::string_view> values;  ///< of the parameters, still percent-encoded
    std::vector<std::string_view> allow;
};

/// The compiled table of operations: a tree of path segments in which a literal goes before a
/// parameter, and a `:verb` belongs to its segment (`%3A` counts as a colon). Built once, then
/// read by any thread.
class Routes {
public:
    explicit Routes(const std::vector<Declared>& operations);
    Match find(std::string_view method, std::string_view path) const;
    const std::vector<std::unique_ptr<Endpoint>>& endpoints() const { return endpoints_; }

private:
    using Methods = std::map<std::string_view, const Endpoint*>;
    struct Node {
        std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
        std::unique_ptr<Node> parameter;
        std::map<std::string, Methods, std::less<>>
            verbs;  // of a parameter: "archive" in {id}:archive
        Methods methods;
    };
    static void insert(Node& root, const Endpoint& endpoint);
    static bool walk(
        const Node& node, std::string_view method, std::string_view rest, Match& match
    );
    static bool finish(const Methods& methods, std::string_view method, Match& match);

    std::vector<std::unique_ptr<Endpoint>> endpoints_;
    Node root_;
};

}  // namespace svc::core
