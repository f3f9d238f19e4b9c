#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/lib/file_values.hpp"

namespace svc::boards {

void follow_files(Call& call, const std::vector<Uuid>& cards) {
    if (cards.empty()) return;
    if (auto* files = call.kernel().find<CardFiles>()) files->follow(call.tx(), call.org(), cards);
}

void show(const Kernel& kernel, Card& card) {
    card.url = url_of(kernel, card);
    if (!has_files(card.properties.text)) return;
    auto* files = kernel.find<CardFiles>();
    if (!files) return;
    card.properties.text = with_links(card.properties.text, [&](const Uuid& file) {
        return files->link(card.org_id, file);
    });
}

}  // namespace svc::boards
