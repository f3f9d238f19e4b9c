#include "core/routes.hpp"

#include <algorithm>
#include <stdexcept>

namespace svc::core {

namespace {

/// Takes the first segment off a path that begins with '/'.
std::string_view take_segment(std::string_view& rest) {
    rest.remove_prefix(1);
    const auto end = std::min(rest.find('/'), rest.size());
    const auto segment = rest.substr(0, end);
    rest.remove_prefix(end);
    return segment;
}

struct Split {
    std::string_view before, verb;
};

/// Splits a segment at its last colon, which may be written `%3A`; no verb when there is none.
Split split_verb(std::string_view segment) {
    for (std::size_t at = segment.size(); at-- > 0;) {
        if (segment[at] == ':') return {segment.substr(0, at), segment.substr(at + 1)};
        if (segment[at] == '%' && at + 2 < segment.size() && segment[at + 1] == '3' &&
            (segment[at + 2] | 0x20) == 'a')
            return {segment.substr(0, at), segment.substr(at + 3)};
    }
    return {segment, {}};
}

}  // namespace

Routes::Routes(const std::vector<Declared>& operations) {
    for (const Declared& each : operations) {
        endpoints_.push_back(std::make_unique<Endpoint>(Endpoint{&each, endpoints_.size(), {}}));
        Endpoint& endpoint = *endpoints_.back();
        const std::string_view path = each.operation->path();
        for (std::size_t open = path.find('{'); open != path.npos; open = path.find('{', open + 1))
            endpoint.parameters.push_back(path.substr(open + 1, path.find('}', open) - open - 1));
        insert(root_, endpoint);
    }
}

void Routes::insert(Node& root, const Endpoint& endpoint) {
    Node* node = &root;
    Methods* methods = nullptr;
    for (std::string_view rest = endpoint.operation().path(); !rest.empty();) {
        const auto segment = take_segment(rest);
        if (!segment.starts_with('{')) {
            auto& next = node->literals[std::string(segment)];
            if (!next) next = std::make_unique<Node>();
            node = next.get();
            methods = &node->methods;
            continue;
        }
        if (!node->parameter) node->parameter = std::make_unique<Node>();
        node = node->parameter.get();
        const auto verb = split_verb(segment).verb;
        methods = verb.empty() ? &node->methods : &node->verbs[std::string(verb)];
    }
    if (!methods || !methods->emplace(endpoint.operation().method(), &endpoint).second)
        throw std::logic_error("route declared twice: " + std::string(endpoint.operation().route));
}

bool Routes::finish(const Methods& methods, std::string_view method, Match& match) {
    const auto found = methods.find(method == "HEAD" ? "GET" : method);
    if (found != methods.end()) return match.endpoint = found->second, true;
    for (const auto& [name, endpoint] : methods) match.allow.push_back(name);
    return false;
}

bool Routes::walk(const Node& node, std::string_view method, std::string_view rest, Match& match) {
    if (rest.empty()) return finish(node.methods, method, match);
    if (rest.front() != '/') return false;
    const auto segment = take_segment(rest);
    if (segment.empty()) return false;
    if (const auto literal = node.literals.find(segment); literal != node.literals.end())
        if (walk(*literal->second, method, rest, match)) return true;
    const auto [before, verb] = split_verb(segment);
    if (!verb.empty()) {
        // A verb on a collection, sent with an escaped colon: /v1/cards%3Abatch.
        if (before.size() + verb.size() + 1 != segment.size()) {
            const auto literal = node.literals.find(std::string(before) + ":" + std::string(verb));
            if (literal != node.literals.end() && walk(*literal->second, method, rest, match))
                return true;
        }
        if (!node.parameter || !rest.empty() || before.empty()) return false;
        const auto found = node.parameter->verbs.find(verb);
        if (found == node.parameter->verbs.end()) return false;
        match.values.push_back(before);
        if (finish(found->second, method, match)) return true;
        return match.values.pop_back(), false;
    }
    if (!node.parameter) return false;
    match.values.push_back(segment);
    if (walk(*node.parameter, method, rest, match)) return true;
    return match.values.pop_back(), false;
}

Match Routes::find(std::string_view method, std::string_view path) const {
    Match match;
    walk(root_, method, path, match);
    return match;
}

}  // namespace svc::core
