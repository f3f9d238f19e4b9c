#pragma once

#include "svc/types.hpp"

namespace svc::store_s3 {

struct Settings {
    std::string bucket;
    std::string endpoint = "https://s3.amazonaws.com";
    std::string public_endpoint;
    std::string region = "us-east-1";
    std::string access_key;
    std::string secret_key;
    bool path_style = false;
    std::string prefix;
    std::string ca_file;
    std::int64_t timeout_seconds = 20;
};

}  // namespace svc::store_s3
