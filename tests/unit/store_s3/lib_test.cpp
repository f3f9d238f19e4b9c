#include "plugins/store-s3/lib/listing.hpp"
#include "plugins/store-s3/lib/signing.hpp"

#include <gtest/gtest.h>

/// What can be said without a service; clients.store_s3 compares with what others sign.
namespace svc::store_s3 {
namespace {

// The account of the examples in Amazon's documentation.
const Account example{
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"};
const Timestamp then = *Timestamp::parse("2013-05-24T00:00:00Z");

Place example_bucket() {
    return Place::of("https://s3.amazonaws.com", "examplebucket", Place::Style::virtual_host);
}

std::string signature_in(const Pairs& headers) {
    const auto& text = headers.at("authorization");
    return text.substr(text.rfind('=') + 1);
}

TEST(Signing, AGetIsSignedAsInAmazonsExample) {
    const auto headers = signed_headers(
        example, example_bucket(), "GET", "/test.txt", {}, {{"range", "bytes=0-9"}}, then
    );
    EXPECT_EQ(
        headers.at("authorization"),
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    );
}

TEST(Signing, AListIsSignedAsInAmazonsExample) {
    const auto headers = signed_headers(
        example, example_bucket(), "GET", "/", {{"max-keys", "2"}, {"prefix", "J"}}, {}, then
    );
    EXPECT_EQ(
        signature_in(headers), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
    );
}

TEST(Signing, ALinkIsSignedAsAmazonsSdkForJavaScriptDoesIt) {
    EXPECT_EQ(
        signed_link(
            example,
            example_bucket(),
            "a/b",
            {{"response-content-disposition", "attachment; filename=\"a b.txt\""},
             {"response-content-type", "text/plain"}},
            then,
            600
        ),
        "https://examplebucket.s3.amazonaws.com/a/b?X-Amz-Algorithm=AWS4-HMAC-SHA256"
        "&X-Amz-Content-Sha256=UNSIGNED-PAYLOAD"
        "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
        "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=600&X-Amz-SignedHeaders=host"
        "&response-content-disposition=attachment%3B%20filename%3D%22a%20b.txt%22"
        "&response-content-type=text%2Fplain"
        "&X-Amz-Signature=63dad13c1905e7ce21a2ba932312eefc2aadc15a75f8e8ba449fe94ae9c6394a"
    );
}

TEST(Places, AreReadFromTheirAddress) {
    const auto path = Place::of("http://minio.example:9000/", "b", Place::Style::path);
    EXPECT_EQ(path.origin(), "http://minio.example:9000");
    EXPECT_EQ(path.path_of("k"), "/b/k");
    EXPECT_EQ(example_bucket().origin(), "https://examplebucket.s3.amazonaws.com");
    EXPECT_EQ(example_bucket().path_of("k"), "/k");
    EXPECT_EQ(Place::of("https://x.example:443", "b", Place::Style::path).authority(), "x.example");
    for (const char* bad :
         {"x.example",
          "ftp://x",
          "https://",
          "https://x/y",
          "https://x:0",
          "https://x:99999",
          "https://a@x",
          "https://x?y",
          "https://x y"})
        EXPECT_THROW(Place::of(bad, "b", Place::Style::path), std::runtime_error) << bad;
}

TEST(Listings, AreReadFromTheirXml) {
    const auto one = parse_listing(
        "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"x\"><IsTruncated>true</IsTruncated>"
        "<Contents><Key>a/b</Key><Size>1</Size></Contents><Contents><Key>a/c</Key></Contents>"
        "<NextContinuationToken>1&amp;2&lt;</NextContinuationToken></ListBucketResult>"
    );
    ASSERT_TRUE(one);
    EXPECT_EQ(one->keys, (std::vector<std::string>{"a/b", "a/c"}));
    EXPECT_EQ(one->next, "1&2<");
    const auto none =
        parse_listing("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->keys.empty());
    EXPECT_FALSE(none->next);
    for (const char* bad :
         {"",
          "<html>",
          "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
          "<ListBucketResult><Contents></Contents></ListBucketResult>"})
        EXPECT_FALSE(parse_listing(bad)) << bad;
}

TEST(Errors, NameTheirCode) {
    EXPECT_EQ(error_code("<Error><Code>NoSuchKey</Code></Error>"), "NoSuchKey");
    EXPECT_EQ(error_code("<html><Code>x</Code></html>"), "");
}

}  // namespace
}  // namespace svc::store_s3
