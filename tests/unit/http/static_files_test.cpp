#include "http/static_files.hpp"
#include "http/content_coding.hpp"
#include "http/file_names.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

/// Files from a folder.
namespace svc::http::test {

namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
protected:
    void SetUp() override {
        base_ = fs::temp_directory_path() / ("svc-files-" + std::to_string(std::random_device{}()));
        write("www/index.html", "<p>home</p>");
        write("www/docs/index.html", "<p>docs</p>");
        write("www/app.js", "plain");
        write("www/app.js.br", "brotli");
        write("www/app.js.gz", "gzip");
        write("www/assets/index-Dx3kQ9_z.js", "hashed");
        write("www/.secret", "hidden");
        write("www/.git/config", "hidden");
        write("www/empty.txt", "");
        write("www-other/file.txt", "beside");
        write("outside.txt", "outside");
        fs::create_symlink(base_ / "outside.txt", base_ / "www/link.txt");
        fs::create_symlink(base_ / "www/app.js", base_ / "www/inner.js");
        fs::create_directory_symlink(base_ / "www-other", base_ / "www/linked");
    }
    void TearDown() override { fs::remove_all(base_); }

    void write(const fs::path& name, std::string_view text) {
        fs::create_directories((base_ / name).parent_path());
        std::ofstream(base_ / name) << text;
    }
    static std::optional<Answer> find(
        const StaticFiles& files,
        std::string_view path,
        std::vector<Header> headers = {},
        std::string_view method = "GET"
    ) {
        Request request;
        request.method = method;
        request.headers = headers;
        return files.find(request, path);
    }
    static std::string header(const Answer& answer, std::string_view name) {
        for (const auto& [each, value] : answer.headers)
            if (each == name) return value;
        return "";
    }
    fs::path www() const { return base_ / "www"; }

private:
    fs::path base_;
};

}  // namespace

TEST_F(Folder, AFileIsServedWithItsType) {
    const StaticFiles files(www());
    const auto answer = find(files, "app.js");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(*answer->shared_body, "plain");
    EXPECT_EQ(answer->content_type, "text/javascript; charset=utf-8");
    EXPECT_EQ(header(*answer, "X-Content-Type-Options"), "nosniff");
    EXPECT_TRUE(find(files, "/app.js"));
    EXPECT_EQ(*find(files, "empty.txt")->shared_body, "");
}

TEST_F(Folder, AFolderMeansItsIndex) {
    const StaticFiles files(www());
    EXPECT_EQ(*find(files, "")->shared_body, "<p>home</p>");
    EXPECT_EQ(*find(files, "/")->shared_body, "<p>home</p>");
    EXPECT_EQ(*find(files, "docs")->shared_body, "<p>docs</p>");
    EXPECT_EQ(*find(files, "docs/")->shared_body, "<p>docs</p>");
    EXPECT_FALSE(find(files, "assets"));
}

TEST_F(Folder, APageOfEachAnswersForWhatHasNoFileAndForNothingDeeper) {
    write("www/boards/each.html", "each");
    write("www/boards/own.html", "own");
    const StaticFiles files(www());
    EXPECT_EQ(*find(files, "boards/0b1e")->shared_body, "each");
    EXPECT_EQ(*find(files, "boards/own.html")->shared_body, "own");
    for (const std::string path :
         {"boards", "boards/", "boards/a/b", "boards/a.js", "docs/a", "/boards/../a", "boards/.."})
        EXPECT_FALSE(find(files, path)) << path;
}

TEST_F(Folder, APageHasTheSectionsOfWhatIsServed) {
    write(
        "www/page.html", "a\n<!-- if x -->\nb\n<!-- end -->\nc\n<!-- if y -->\nd\n<!-- end -->\n"
    );
    write("www/page.html.gz", "packed whole");
    write("www/x.html", "<!-- only if x -->\nX");
    write("www/y.html", "<!-- only if y -->\nY");
    write("www/torn.html", "a\n<!-- if y -->\nb");
    const StaticFiles files(www(), [](std::string_view name) { return name == "x"; });
    EXPECT_EQ(*find(files, "page.html", {{"Accept-Encoding", "gzip"}})->shared_body, "a\nb\nc\n");
    EXPECT_EQ(*find(files, "x.html")->shared_body, "X");
    EXPECT_FALSE(find(files, "y.html"));
    EXPECT_EQ(*find(files, "torn.html")->shared_body, "a\n<!-- if y -->\nb");
    EXPECT_EQ(*find(StaticFiles(www()), "page.html")->shared_body, "a\nc\n");
}

TEST_F(Folder, PagesReachNothingButTheServerAndWhereFilesAreKept) {
    const auto policy = [&](const StaticFiles& files) {
        return header(*find(files, "index.html"), "Content-Security-Policy") + ";";
    };
    const auto own = policy(StaticFiles(www()));
    EXPECT_NE(own.find("default-src 'self';"), own.npos);
    EXPECT_NE(own.find("connect-src 'self';"), own.npos);
    const auto other = policy(StaticFiles(www(), {}, [] { return "https://s3.example"; }));
    EXPECT_NE(other.find("connect-src 'self' https://s3.example;"), other.npos);
    EXPECT_NE(other.find("img-src 'self' data: blob: https://s3.example;"), other.npos);
    EXPECT_NE(other.find("default-src 'self';"), other.npos);
}

TEST_F(Folder, WhatIsMissingHasAPageWhenTheFolderHasOne) {
    EXPECT_FALSE(StaticFiles(www()).missing_page());
    write("www/404.html", "nowhere");
    const auto answer = StaticFiles(www()).missing_page();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, 404);
    EXPECT_EQ(*answer->shared_body, "nowhere");
    EXPECT_NE(header(*answer, "Content-Security-Policy"), "");
}

TEST_F(Folder, NothingOutsideOrHiddenIsServed) {
    const StaticFiles files(www());
    for (const std::string path :
         {"../outside.txt",
          "docs/../../outside.txt",
          "./app.js",
          "docs/../app.js",
          "//app.js",
          "docs//index.html",
          "..",
          ".",
          ".secret",
          ".git/config",
          "link.txt",
          "linked/file.txt",
          "../www-other/file.txt",
          "..\\outside.txt",
          "/etc/passwd",
          "absent",
          "app.js/",
          "app.js/x"})
        EXPECT_FALSE(find(files, path)) << path;
    EXPECT_FALSE(find(files, std::string("app.js\0.txt", 11)));
    EXPECT_TRUE(find(files, "inner.js")) << "a link that stays inside is a file like any other";
}

TEST_F(Folder, TheSmallestAcceptedVariantIsChosen) {
    const StaticFiles files(www());
    const auto coding = [&](std::string_view accepted) {
        const auto answer = find(files, "app.js", {{"Accept-Encoding", accepted}});
        EXPECT_EQ(header(*answer, "Vary"), "Accept-Encoding");
        EXPECT_EQ(answer->content_type, "text/javascript; charset=utf-8");
        return header(*answer, "Content-Encoding") + ":" + *answer->shared_body;
    };
    EXPECT_EQ(coding("gzip, deflate, br"), "br:brotli");
    EXPECT_EQ(coding("gzip"), "gzip:gzip");
    EXPECT_EQ(coding("br;q=0, gzip;q=0.5"), "gzip:gzip");
    EXPECT_EQ(coding("br;q=0.0, *;q=0"), ":plain");
    EXPECT_EQ(coding("br;Q=0, gzip"), "gzip:gzip");
    EXPECT_EQ(coding("br;q=0;level=5, gzip;seq=0"), "gzip:gzip");
    EXPECT_EQ(coding("*"), "br:brotli");
    EXPECT_EQ(coding("BR"), "br:brotli");
    EXPECT_EQ(coding("identity"), ":plain");
    EXPECT_EQ(coding("brotli"), ":plain");
    EXPECT_EQ(header(*find(files, "app.js"), "Content-Encoding"), "");
    EXPECT_EQ(header(*find(files, "docs"), "Vary"), "");
}

TEST_F(Folder, AKnownVersionIsNotSentAgain) {
    const StaticFiles files(www());
    const auto first = find(files, "app.js");
    const auto tag = header(*first, "ETag");
    EXPECT_TRUE(tag.starts_with('"') && tag.ends_with('"'));
    for (const std::string& known : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
        const auto again = find(files, "app.js", {{"If-None-Match", known}});
        EXPECT_EQ(again->status, 304) << known;
        EXPECT_FALSE(again->shared_body);
        EXPECT_EQ(header(*again, "ETag"), tag);
    }
    EXPECT_EQ(find(files, "app.js", {{"If-None-Match", "\"other\""}})->status, 200);
    const auto packed = find(files, "app.js", {{"If-None-Match", tag}, {"Accept-Encoding", "br"}});
    EXPECT_EQ(packed->status, 200) << "another variant is another version";
    EXPECT_NE(header(*packed, "ETag"), tag);
}

TEST_F(Folder, OnlyNamesWithADigestAreKeptForAYear) {
    const StaticFiles files(www());
    EXPECT_EQ(
        header(*find(files, "assets/index-Dx3kQ9_z.js"), "Cache-Control"),
        "public, max-age=31536000, immutable"
    );
    EXPECT_EQ(header(*find(files, "app.js"), "Cache-Control"), "no-cache");
}

TEST_F(Folder, OnlyReadingIsOffered) {
    const StaticFiles files(www());
    EXPECT_TRUE(find(files, "app.js", {}, "HEAD"));
    EXPECT_FALSE(find(files, "app.js", {}, "POST"));
    EXPECT_FALSE(find(files, "app.js", {}, "DELETE"));
}

TEST_F(Folder, ManyThreadsShareOneCopy) {
    const StaticFiles files(www());
    std::vector<std::thread> readers;
    std::atomic<int> good{0};
    for (int each = 0; each < 4; ++each)
        readers.emplace_back([&] {
            for (int turn = 0; turn < 200; ++turn)
                good += *find(files, "app.js")->shared_body == "plain";
        });
    for (auto& each : readers) each.join();
    EXPECT_EQ(good, 800);
    EXPECT_EQ(find(files, "app.js")->shared_body, find(files, "app.js")->shared_body);
}

TEST(MissingFolder, HasNoFiles) {
    const StaticFiles files("/nowhere/at/all");
    Request request;
    request.method = "GET";
    EXPECT_FALSE(files.find(request, ""));
    EXPECT_FALSE(files.find(request, "etc/passwd"));
}

TEST(FileNames, DigestsAreToldFromWords) {
    for (const std::string_view name :
         {"index-Dx3kQ9_z.js",
          "a/b/app.3f2c9a1e.css",
          "vendor-a1b2c3d4e5f60718.js",
          "x-BqK2x-9z.js"})
        EXPECT_TRUE(carries_digest(name)) << name;
    for (const std::string_view name :
         {"index.html",
          "swagger-ui-bundle.js",
          "swagger-ui-standalone-preset.js",
          "my-component.js",
          "report-20240101.pdf",
          "jquery-3.7.1.min.js",
          "README-Overview.md",
          "a.b.c",
          "chapter-version2.html",
          "favicon-32x32.png"})
        EXPECT_FALSE(carries_digest(name)) << name;
}

TEST(FileNames, TypesComeFromTheEnding) {
    EXPECT_EQ(media_type("a.HTML"), "text/html; charset=utf-8");
    EXPECT_EQ(media_type("a.b.svg"), "image/svg+xml");
    EXPECT_EQ(media_type("a"), "application/octet-stream");
    EXPECT_EQ(media_type("a.unheard-of"), "application/octet-stream");
}

}  // namespace svc::http::test
