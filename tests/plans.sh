#!/usr/bin/env bash
# A test program with a filter of which every pattern names a test, as GoogleTest takes one that
# names none for success:  tests/plans.sh PROGRAM FILTER [arguments…]
set -euo pipefail
program="$1"
filter="$2"
shift 2

IFS=':' read -ra patterns <<<"${filter/-/:}"
for pattern in "${patterns[@]}"; do
    listed="$("$program" --gtest_list_tests --gtest_filter="$pattern")"
    if ! grep -q '^  ' <<<"$listed"; then
        echo "$program has no test named $pattern" >&2
        exit 1
    fi
done
exec "$program" --gtest_brief=1 --gtest_filter="$filter" "$@"
