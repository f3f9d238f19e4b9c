#include "core/loader.hpp"

#include "core/library_symbols.hpp"

#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>
#include <boost/preprocessor/stringize.hpp>

#include <algorithm>
#include <system_error>

namespace svc::core {

namespace {

[[noreturn]] void refuse(std::string_view module, std::string_view why) {
    throw std::runtime_error("module " + std::string(module) + ": " + std::string(why));
}

/// Libraries are never unmapped: a thread-local or a static of some library below a module
/// must not outlive the pages its code is on.
void keep_forever(boost::dll::shared_library library) {
    static auto& kept = *new std::vector<boost::dll::shared_library>;
    kept.push_back(std::move(library));
}

const ModuleCard& load(const std::filesystem::path& folder, const std::string& name) {
    const auto path = folder / (name + ".so");
    if (!std::filesystem::exists(path))
        refuse(name, "is enabled in the config, but there is no " + path.string());
    try {
        // Before it is loaded, so that a stale library's initialisers never run.
        if (!exports_symbol(path, BOOST_PP_STRINGIZE(SVC_ABI_SYMBOL)))
            refuse(name, "was built against other kernel headers; build it again");
        boost::dll::shared_library library(path, boost::dll::load_mode::rtld_now);
        const auto& card = library.get<const ModuleCard>("svc_module_card");
        keep_forever(std::move(library));
        if (card.name != name) refuse(name, "the library calls itself " + std::string(card.name));
        return card;
    } catch (const std::system_error& problem) {
        refuse(name, problem.what());
    }
}

std::string circle_or_want(
    const std::vector<const ModuleCard*>& waiting, std::span<const std::string> names
) {
    for (const ModuleCard* card : waiting)
        for (std::string_view need : card->needs)
            if (std::ranges::find(names, need) == names.end())
                return "module " + std::string(card->name) + ": needs the module " +
                       std::string(need) + ", which is not enabled";
    std::string circle;
    for (const ModuleCard* card : waiting)
        circle += (circle.empty() ? "" : ", ") + std::string(card->name);
    return "module " + std::string(waiting.front()->name) +
           ": needs go round in a circle: " + circle;
}

/// Each behind those that it needs, as far as they are among them.
std::vector<const ModuleCard*> in_order(
    std::vector<const ModuleCard*> waiting, std::span<const std::string> names
) {
    std::vector<const ModuleCard*> ordered;
    while (!waiting.empty()) {
        const auto ready = std::ranges::find_if(waiting, [&](const ModuleCard* card) {
            return std::ranges::none_of(card->needs, [&](std::string_view need) {
                return std::ranges::find(waiting, need, &ModuleCard::name) != waiting.end();
            });
        });
        if (ready == waiting.end()) throw std::runtime_error(circle_or_want(waiting, names));
        ordered.push_back(*ready);
        waiting.erase(ready);
    }
    return ordered;
}

}  // namespace

std::vector<const ModuleCard*> load_cards(
    const std::filesystem::path& folder, std::span<const std::string> names
) {
    std::vector<const ModuleCard*> cards;
    for (const std::string& name : names) cards.push_back(&load(folder, name));
    return in_order(std::move(cards), names);
}

std::vector<Loaded> load_modules(
    const std::filesystem::path& folder,
    std::span<const std::string> names,
    std::span<const std::string> drivers
) {
    std::vector<const ModuleCard*> cards;
    for (const std::string& name : names) cards.push_back(&load(folder, name));
    for (const std::string& name : drivers) {
        const ModuleCard& card = load(folder, name);
        const bool wanted = std::ranges::all_of(card.needs, [&](std::string_view need) {
            return std::ranges::find(names, need) != names.end();
        });
        if (wanted) cards.push_back(&card);
    }
    for (const ModuleCard* card : cards)
        for (const std::string_view need : card->needs)
            if (std::ranges::find(cards, need, &ModuleCard::name) == cards.end())
                throw std::runtime_error(circle_or_want(cards, names));
    std::vector<Loaded> loaded;
    for (const ModuleCard* card : in_order(std::move(cards), names)) try {
            loaded.push_back({card, card->make()});
        } catch (const std::exception& problem) {
            refuse(card->name, problem.what());
        }
    return loaded;
}

}  // namespace svc::core
