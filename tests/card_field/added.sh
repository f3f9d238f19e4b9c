#!/usr/bin/env bash
# Adds a field to cards in a copy of this tree, as CONTRIBUTING.md does it, builds that and uses the
# field in everything that has cards:  tests/card_field/added.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT

tar -cf - --exclude=./build --exclude=./var --exclude=./.git --exclude=node_modules . | tar -xf - -C "$copy"
cd "$copy"
patch --quiet -p1 <docs/examples/card-field.diff
source kernel/tools/setup.sh
build_preset release >"$copy/build.log" 2>&1 || { tail -n 40 "$copy/build.log"; exit 1; }
WORKBOARD_BUILD="$copy/build/release" node --test tests/card_field/effort.test.mjs
