#!/bin/sh
# Builds the Debian package: the binary, then the manual pages and completions that it writes itself, then the package.
# Needs cargo-deb (cargo install cargo-deb). Prints the path of the package.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
made=packaging/generated
cargo build --profile dist --package howdah >&2
howdah=$target/dist/howdah
rm -rf "$made"
mkdir -p "$made/completions"
"$howdah" man "$made/man"
"$howdah" completions bash > "$made/completions/howdah"
"$howdah" completions zsh > "$made/completions/_howdah"
"$howdah" completions fish > "$made/completions/howdah.fish"
cargo deb --quiet --no-build --profile dist --package howdah
