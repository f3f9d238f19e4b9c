#pragma once

#include <Poco/InflatingStream.h>

#include <iterator>
#include <sstream>
#include <string>

namespace svc::test {

/// What is in the coding gzip; throws when its sum or its size is wrong.
inline std::string unpacked(const std::string& gzip) {
    std::istringstream in(gzip);
    Poco::InflatingInputStream out(in, Poco::InflatingStreamBuf::STREAM_GZIP);
    out.exceptions(std::ios::badbit);
    return {std::istreambuf_iterator<char>(out), {}};
}

}  // namespace svc::test
