#include "tests/support/places.hpp"

namespace svc::test {

const std::filesystem::path& source_folder() {
    static const std::filesystem::path folder(SVC_SOURCE);
    return folder;
}

const std::filesystem::path& build_folder() {
    static const std::filesystem::path folder(SVC_BUILD);
    return folder;
}

}  // namespace svc::test
