#include "cli/cli.hpp"

int main(int count, char** words) { return svc::cli::run(count, words); }
