#include "svc/module.hpp"
#include "checklist.hpp"
#include "svc/poco_handler.hpp"

namespace svc::poco_page {

class PocoPage final : public Module {
public:
    void open(Kernel& kernel) override {
        const auto pages = std::make_shared<ChecklistPages>();
        for (const char* method : {"GET", "POST"})
            kernel.add(poco_route(method, "/checklist", Access::anyone, pages));
    }
};

}  // namespace svc::poco_page

SVC_MODULE(svc::poco_page::PocoPage, "poco-page");
