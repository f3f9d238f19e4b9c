#include "svc/module.hpp"
#include "notes.hpp"

namespace svc::notes {

class Notes final : public Module {
public:
    void open(Kernel& kernel) override {
        kernel.tag("notes", "Short notes that a workspace keeps.");
        kernel.add(note_created);
        kernel.add(create_note);
        kernel.add(list_notes);
    }
};

}  // namespace svc::notes

SVC_MODULE(svc::notes::Notes, "notes", "orgs");
