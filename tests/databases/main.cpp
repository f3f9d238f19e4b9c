// Databases for tests in other languages. A line on standard input asks for one, and the answer is
// its URL. They go when the input ends.

#include "tests/support/postgres.hpp"

#include <iostream>

int main() try {
    for (std::string line; std::getline(std::cin, line);)
        std::cout << svc::test::Postgres::shared().fresh_database() << std::endl;
    return 0;
} catch (const std::exception& problem) {
    std::cerr << "no database: " << problem.what() << '\n';
    return 1;
}
