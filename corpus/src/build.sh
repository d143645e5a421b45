#!/bin/sh
# Builds the programs that the corpus records. Run it at /srv/demo, with these sources in src/: then the paths in the
# recordings are the same wherever they were made.
set -eu
mkdir -p bin
# Without optimisation, one line is one place; with it, code is inlined across files and lines interleave.
gcc -O0 -g -static -o bin/mill src/mill.c src/stone.c src/sieve.c
gcc -O2 -g -static -fno-ipa-icf -fno-optimize-sibling-calls -o bin/mill-fast src/mill.c src/stone.c src/sieve.c
gcc -O0 -g -o bin/mill-dynamic src/mill.c src/stone.c src/sieve.c
gcc -O1 -g -static -pthread -o bin/crew src/crew.c src/stone.c
gcc -O0 -g -o bin/leak src/leak.c
g++ -std=c++17 -O1 -g -static -o bin/names src/names.cc
# Without a C library it is small enough to keep, as src/chute.elf: tests read its machine code.
gcc -O2 -g -static -nostdlib -ffreestanding -fno-stack-protector -fno-ipa-icf -fno-optimize-sibling-calls \
    -Wl,--build-id=none -Wl,-z,noseparate-code -o bin/chute src/chute.c src/stone.c src/sieve.c
