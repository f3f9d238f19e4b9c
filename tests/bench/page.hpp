#pragma once

#include "figure.hpp"
#include "lab.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// The figures as a page that people read.
namespace svc::bench {

struct Section {
    std::string group, about;
};

/// Writes all figures of the report, and what they were measured on and how, as Markdown.
void write_page(
    const std::filesystem::path& file,
    const std::vector<Section>& sections,
    const Report& report,
    const Lab& lab,
    const Plan& plan
);

}  // namespace svc::bench
