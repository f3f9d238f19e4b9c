#include "modules/webhooks/lib/target.hpp"

#include <gmock/gmock.h>

namespace svc::test {
namespace {

using webhooks::fault_of_target;
using webhooks::Reach;

/// What must never be sent to, though somebody names it.
std::vector<std::string> forbidden_targets() {
    std::vector<std::string> hosts{
        // This machine, in every way of writing it.
        "127.0.0.1",
        "127.0.0.2",
        "127.0.0.1.",
        "0x7f.1.",
        "127.1",
        "127.0.1",
        "127.255.255.255",
        "0x7f.1",
        "0x7f000001",
        "0x7f.0x0.0x0.0x1",
        "0177.0.0.1",
        "017700000001",
        "2130706433",
        "0",
        "0.0.0.0",
        "0.1.2.3",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[::7f00:1]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "localhost.localdomain",
        "ip6-localhost",
        // Its networks.
        "10.0.0.1",
        "10.255.255.255",
        "10.1",
        "0xa.0.0.1",
        "012.0.0.1",
        "167772161",
        "172.16.0.1",
        "172.31.255.255",
        "172.20.1",
        "192.168.0.1",
        "192.168.1",
        "192.168.255.255",
        "3232235521",
        "0xc0a80001",
        "100.64.0.1",
        "100.127.255.255",
        "169.254.0.1",
        "169.254.169.254",
        "169.254.170.2",
        "2852039166",
        "0xa9fea9fe",
        "0xa9.0xfe.0xa9.0xfe",
        "0251.0376.0251.0376",
        "169.254.43518",
        "[fe80::1]",
        "[fe80::a9fe:a9fe]",
        "[febf::1]",
        "[fc00::1]",
        "[fd00::1]",
        "[fd00:ec2::254]",
        "[fdff:ffff::1]",
        "[fec0::1]",
        "[feff::1]",
        "[::ffff:10.0.0.1]",
        "[::ffff:172.16.0.1]",
        "[::ffff:192.168.0.1]",
        "[::ffff:169.254.169.254]",
        "[::ffff:a9fe:a9fe]",
        "[::ffff:100.64.0.1]",
        "[::ffff:0.0.0.0]",
        "[::10.0.0.1]",
        "[::a9fe:a9fe]",
        // IPv4 within IPv6, of whatever sort.
        "[64:ff9b::7f00:1]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b::10.0.0.1]",
        "[64:ff9b::8.8.8.8]",
        "[64:ff9b:1::1]",
        "[64:ff9b:1:ffff::a9fe:a9fe]",
        "[2002:7f00:1::]",
        "[2002:a9fe:a9fe::1]",
        "[2002:c0a8:1::1]",
        "[2002:808:808::1]",
        "[2001::1]",
        "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
        "[2001:0:a9fe:a9fe::1]",
        "[::ffff:8.8.8.8]",
        "[::ffff:0:127.0.0.1]",
        "[::8.8.8.8]",
        // What is nobody's, or everybody's.
        "192.0.0.1",
        "192.0.0.170",
        "192.0.0.255",
        "192.0.2.1",
        "192.31.196.1",
        "192.52.193.1",
        "192.88.99.1",
        "192.175.48.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "224.0.0.251",
        "233.252.0.1",
        "239.255.255.250",
        "240.0.0.1",
        "254.255.255.255",
        "255.255.255.255",
        "4294967295",
        "0xffffffff",
        "[ff00::1]",
        "[ff02::1]",
        "[ff02::fb]",
        "[ff05::2]",
        "[ff0e::1]",
        "[100::1]",
        "[100:0:0:1::1]",
        "[2001:2::1]",
        "[2001:10::1]",
        "[2001:20::1]",
        "[2001:db8::1]",
        "[2001:db8:ffff::1]",
        "[3fff::1]",
        "[5f00::1]",
        "[4000::1]",
        "[8000::1]",
        "[e000::1]",
        "[1::1]",
        "[200::1]",
        // Names of this network.
        "router",
        "intranet",
        "db",
        "printer.local",
        "nas.LOCAL.",
        "metadata.google.internal",
        "instance-data.ec2.internal",
        "wiki.intranet",
        "fritz.home.arpa",
    };
    return hosts;
}

TEST(WebhookTargets, OverAHundredAndTwentyHostsAreRefused) {
    const auto hosts = forbidden_targets();
    EXPECT_GE(hosts.size(), 120u);
    for (const std::string& host : hosts)
        for (const char* port : {"", ":443", ":8443"}) {
            const std::string url = "https://" + host + port + "/hook";
            EXPECT_NE(fault_of_target(url, Reach::public_only), "") << url;
        }
}

TEST(WebhookTargets, OtherSchemesPortsAndPartsAreRefused) {
    for (const char* url :
         {"http://example.com/",
          "http://example.com:443/",
          "https://example.com:22/",
          "https://example.com:25/",
          "https://example.com:80/",
          "https://example.com:6379/",
          "https://example.com:65535/",
          "https://example.com:65536/",
          "https://user@example.com/",
          "https://user:password@example.com/",
          "https://8.8.8.8:443@127.0.0.1/",
          "https://example.com/#fragment",
          "https://example.com/a b",
          "https://example.com/\r\nX: y",
          "https://exam ple.com/",
          "https://",
          "https:///hook",
          "ftp://example.com/",
          "file:///etc/passwd",
          "gopher://example.com:70/_",
          "unix:///run/docker.sock",
          "javascript:alert(1)",
          "//example.com/",
          "example.com",
          ""})
        EXPECT_NE(fault_of_target(url, Reach::public_only), "") << url;
}

TEST(WebhookTargets, ThePublicInternetIsFineAndSoIsEverythingWhereTheOperatorSaysSo) {
    for (const char* url :
         {"https://example.com/hook",
          "https://example.com:8443/hook?a=b",
          "https://8.8.8.8/",
          "https://[2606:4700::1111]/",
          "https://localhost.example.com/",
          "https://10.example.com/"})
        EXPECT_EQ(fault_of_target(url, Reach::public_only), "") << url;
    for (const char* url :
         {"http://127.0.0.1:8080/", "http://wiki.intranet/", "https://10.0.0.1:9443/"})
        EXPECT_EQ(fault_of_target(url, Reach::anywhere), "") << url;
    EXPECT_NE(fault_of_target("ftp://127.0.0.1/", Reach::anywhere), "");
}

}  // namespace
}  // namespace svc::test
