#include "tests/unit/cli/commands.hpp"

namespace svc::test {
namespace {

/// A database as some operators have them, whose locale knows ASCII alone.
class AsciiDatabase {
public:
    AsciiDatabase() : url_(Postgres::shared().empty_database()) {
        const auto begin = url_.find("@/") + 2;
        name_ = url_.substr(begin, url_.find('?') - begin);
        Postgres::shared().run("DROP DATABASE " + name_);
        Postgres::shared().run(
            "CREATE DATABASE " + name_ + " OWNER workboard TEMPLATE template0 LC_CTYPE 'C'"
        );
    }
    const std::string& url() const { return url_; }

private:
    std::string url_, name_;
};

TEST(SearchCheck, WarnsOfADatabaseThatKnowsLettersOfAsciiAlone) {
    const TempFolder folder("workboard-search");
    const std::string warning = "LC_CTYPE knows letters of ASCII alone";
    const std::vector<std::pair<std::string, bool>> cases{
        {AsciiDatabase().url(), true}, {Postgres::shared().empty_database(), false}};
    for (const auto& [url, is_warned] : cases) {
        EXPECT_EQ(workboard({"migrate"}, folder.path() / "var", url).code, 0);
        Postgres::shared().run("ALTER FUNCTION ts_match_vq(tsvector, tsquery) LEAKPROOF", url);
        const auto doctor = workboard({"doctor"}, folder.path() / "var", url);
        EXPECT_EQ(doctor.text.find(warning) != doctor.text.npos, is_warned) << doctor.text;
    }
}

}  // namespace
}  // namespace svc::test
