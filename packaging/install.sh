#!/bin/sh
# Usage: ./install.sh [PREFIX]
# Copies dlm to PREFIX (default: ~/.local): the program, manual pages, completions, and units for systemd.
# dlm needs glibc 2.31 or later, libcurl 7.74 or later, SQLite and OpenSSL 3. In Debian these are libcurl4, libsqlite3-0 and libssl3.
set -eu
prefix=${1:-$HOME/.local}
cd "$(dirname "$0")"
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
cp -R tree/. "$prefix/"
for unit in dlm.service dlm.socket; do
    sed "s|@PREFIX@|$prefix|g" "tree/lib/systemd/user/$unit" >"$prefix/lib/systemd/user/$unit"
done
"$prefix/bin/dlm" --version
