#include "plugins/idp-oidc/lib/safe_address.hpp"

#include <gtest/gtest.h>

namespace svc::test {

TEST(SafeAddress, IsHttpsOrOnThisMachine) {
    for (const char* url :
         {"http://example.com/", "http://127.0.0.1.example.com/", "http://10.0.0.1/"})
        EXPECT_THROW(idp_oidc::safe_address(url), HttpError) << url;
    for (const char* url :
         {"https://example.com/", "http://localhost:8080", "http://127.0.0.1/", "http://[::1]/"})
        EXPECT_NO_THROW(idp_oidc::safe_address(url)) << url;
}

}  // namespace svc::test
