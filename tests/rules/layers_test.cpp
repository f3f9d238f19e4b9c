#include "tests/rules/source.hpp"

#include <gtest/gtest.h>

#include <functional>

/// Who may know whom. Data flows down through `api.hpp` or the headers in `api/`, upward only
/// through events.
namespace svc::test {

namespace {

/// What several modules are made of: a library, no module.
bool is_library(std::string_view path) { return path.starts_with("modules/lib/"); }

/// "modules/boards" for "modules/boards/cards.cpp"; empty when it is in neither folder.
std::string module_folder(std::string_view path) {
    if (is_library(path)) return {};
    for (const std::string_view kind : {"modules/", "plugins/"}) {
        if (!path.starts_with(kind)) continue;
        const auto slash = path.find('/', kind.size());
        if (slash != std::string_view::npos) return std::string(path.substr(0, slash));
    }
    return {};
}

const DeclaredModule* find_module(
    const std::vector<DeclaredModule>& modules, std::string_view name
) {
    const auto found = std::ranges::find(modules, name, &DeclaredModule::name);
    return found == modules.end() ? nullptr : &*found;
}

bool needs_in_turn(
    const std::vector<DeclaredModule>& modules, std::string_view who, std::string_view whom
) {
    const auto* module = find_module(modules, who);
    return module && std::ranges::any_of(module->needs, [&](const std::string& need) {
               return need == whom || needs_in_turn(modules, need, whom);
           });
}

}  // namespace

TEST(Layers, EveryModuleIsNamedAfterItsFolder) {
    const auto modules = declared_modules();
    ASSERT_FALSE(modules.empty());
    for (const auto& module : modules)
        EXPECT_EQ(module.name, fs::path(module.folder).filename().string()) << module.folder;
}

TEST(Layers, EveryFolderOfModulesDeclaresExactlyOne) {
    std::map<std::string, int> declared;
    for (const auto& file : sources())
        if (const auto folder = module_folder(file.path); !folder.empty()) declared[folder] += 0;
    for (const auto& module : declared_modules()) ++declared[module.folder];
    for (const auto& [folder, count] : declared) EXPECT_EQ(count, 1) << folder;
}

TEST(Layers, WhatAModuleNeedsExists) {
    const auto modules = declared_modules();
    for (const auto& module : modules)
        for (const auto& need : module.needs)
            EXPECT_NE(find_module(modules, need), nullptr)
                << module.name << " needs " << need << ", which is nowhere";
}

TEST(Layers, NeedsFormNoCircle) {
    const auto modules = declared_modules();
    std::set<std::string> done;
    std::vector<std::string> path;
    const std::function<void(const DeclaredModule&)> visit = [&](const DeclaredModule& module) {
        ASSERT_EQ(std::ranges::count(path, module.name), 0)
            << module.name << " needs itself, by way of " << path.back();
        if (!done.insert(module.name).second) return;
        path.push_back(module.name);
        for (const auto& need : module.needs)
            if (const auto* next = find_module(modules, need)) visit(*next);
        path.pop_back();
    };
    for (const auto& module : modules) visit(module);
}

TEST(Layers, ModulesMeetOnlyThroughTheApiOfWhatTheyNeed) {
    const auto modules = declared_modules();
    for (const auto& file : sources()) {
        const auto home = module_folder(file.path);
        if (home.empty() || !file.is_cpp()) continue;
        const auto owner = std::ranges::find(modules, home, &DeclaredModule::folder);
        ASSERT_NE(owner, modules.end()) << file.path;
        for (const auto& include : includes(file)) {
            const auto other = module_folder(include);
            if (other.empty() || other == home) continue;
            EXPECT_TRUE(include == other + "/api.hpp" || include.starts_with(other + "/api/"))
                << file.path << " includes " << include;
            const std::string name = fs::path(other).filename().string();
            if (std::ranges::count(owner->needs, name) == 1) continue;
            // Whoever can do without finds what may not be there, and is not what that needs.
            EXPECT_FALSE(needs_in_turn(modules, name, owner->name))
                << file.path << " includes " << include << ", which needs it";
            EXPECT_EQ(file.text.find("use<" + name + "::"), std::string::npos)
                << file.path << " uses what " << name << " offers, which is not in its needs";
        }
    }
}

TEST(Layers, ModulesSeeOnlyTheKernelsPublicHeaders) {
    for (const auto& file : sources()) {
        const bool outside = module_folder(file.path).empty() && !is_library(file.path);
        if (outside || !file.is_cpp()) continue;
        for (const auto& include : includes(file)) {
            for (const std::string_view inner :
                 {"bus/", "core/", "db/", "decl/", "events/", "http/", "jobs/"})
                EXPECT_FALSE(include.starts_with(inner)) << file.path << ": " << include;
            EXPECT_FALSE(include.starts_with("kernel/")) << file.path << ": " << include;
            EXPECT_EQ(include.find(".."), std::string::npos) << file.path << ": " << include;
        }
    }
}

TEST(Layers, LibrariesOfModulesKnowNoModule) {
    int seen = 0;
    for (const auto& file : sources()) {
        if (!is_library(file.path) || !file.is_cpp()) continue;
        ++seen;
        for (const auto& include : includes(file))
            EXPECT_TRUE(module_folder(include).empty()) << file.path << ": " << include;
    }
    EXPECT_GT(seen, 0);
}

TEST(Layers, TheKernelKnowsNoModule) {
    for (const auto& file : sources()) {
        if (!file.in("kernel") || !file.is_cpp()) continue;
        for (const auto& include : includes(file))
            EXPECT_TRUE(module_folder(include).empty()) << file.path << ": " << include;
    }
}

// Each of these costs every file of every module a second or more.
TEST(Layers, PublicHeadersAreCheapToInclude) {
    for (const auto& file : sources()) {
        if (!file.in("kernel/include")) continue;
        for (const auto& include : includes(file)) {
            if (include.starts_with("boost/json")) {
                EXPECT_EQ(include, "boost/json/fwd.hpp") << file.path;
            }
            for (const std::string_view dear :
                 {"Poco/Net", "Poco/Data", "boost/beast", "boost/dll"})
                EXPECT_FALSE(include.starts_with(dear)) << file.path << ": " << include;
        }
    }
}

TEST(Layers, OnlyTheDatabaseFolderKnowsLibpq) {
    for (const auto& file : sources()) {
        if (!file.is_cpp() || file.in("kernel/src/db") || file.in("tests")) continue;
        for (const auto& part : pieces(file.text)) {
            if (part.kind == Piece::Kind::comment) continue;
            for (const std::string_view word : {"libpq", "PGconn", "PGresult", "PQexec"})
                EXPECT_EQ(part.text.find(word), std::string::npos) << file.path << ": " << word;
        }
    }
}

}  // namespace svc::test
