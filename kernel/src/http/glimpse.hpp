#pragma once

#include "svc/http.hpp"

namespace svc::http {

/// What can be made out of a request that was refused before it was one: the method and the path
/// when its first line is here, and the headers whose lines are. Nobody has judged it.
class Glimpse {
public:
    /// `text` begins with the request, and holds what came of it; the views reach into it.
    explicit Glimpse(std::string_view text);
    Glimpse(const Glimpse&) = delete;
    Glimpse& operator=(const Glimpse&) = delete;

    const Request& request() const { return request_; }

private:
    void take_first(std::string_view line);
    void take_header(std::string_view line);

    std::vector<Header> headers_;
    Request request_;
};

}  // namespace svc::http
