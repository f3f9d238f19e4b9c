#pragma once

#include "svc/record.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

/// The operator's settings: config/workboard.toml, then conf.d/*.toml beside it, then
/// WORKBOARD_SECTION__KEY in the environment, then flags; later ones win.
namespace svc::core {

/// Every problem found, one to a line, each naming file, line and key.
class ConfigError : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class Config {
public:
    struct Sources {
        std::filesystem::path file;                              ///< empty: defaults only
        std::vector<std::string> environment;                    ///< NAME=value
        std::vector<std::pair<std::string, std::string>> flags;  ///< "section.key" and its value
    };
    /// The file and those of conf.d beside it, in the order of reading.
    static std::vector<std::filesystem::path> files_of(const std::filesystem::path& file);
    /// Throws ConfigError when a file is missing or is not TOML.
    explicit Config(const Sources& sources);
    Config(Config&&) noexcept;
    ~Config();

    /// Fills `out` from a section ("" is the top of the file) and counts its keys as known.
    /// Problems are kept for check(). Text of a `secret` field may be `file:<path>`.
    void read(std::string_view section, const Record& record, void* out);

    /// Sections that are nobody's but no mistake either: of modules that are not enabled.
    void ignore(std::string_view section);

    /// Throws ConfigError when a value was wrong or a key unknown.
    void check() const;

    /// The keys of a section that was read.
    std::vector<std::string> settings_of(std::string_view section) const;

    /// Every setting that was declared, with its default and what it is for: the text of
    /// config/workboard.toml.
    std::string reference() const;

    /// What was read, by section and key, secrets left out.
    struct InForce {
        std::string value;   ///< as TOML
        std::string source;  ///< of the last that set it; empty: the default
    };
    using Effective = std::map<std::string, std::map<std::string, InForce>>;
    const Effective& effective() const { return effective_; }

    /// The same as TOML, with the sources as comments: for `check-config`.
    std::string describe() const;

private:
    // They hold JSON, which whoever includes this need not compile.
    struct Entry;
    struct Sections;
    using Section = std::map<std::string, Entry, std::less<>>;

    void read_file(const std::filesystem::path& file);
    void apply_environment(std::string_view section, const Record& record, Section& entries);
    void read_field(std::string_view section, const Field& field, const Entry& entry, void* out);
    std::string variable_meant_by(std::string_view name) const;

    std::unique_ptr<Sections> sections_;
    std::map<std::string, std::string, std::less<>> environment_;  // not yet claimed
    std::map<std::string, std::string, std::less<>> flags_;        // not yet claimed
    std::map<std::string, const Record*, std::less<>> known_;
    Effective effective_;
    std::set<std::string, std::less<>> ignored_;
    std::vector<std::string> problems_;
};

}  // namespace svc::core
