# SPDX-License-Identifier: LGPL-2.1-or-later
# For those who develop; newcomers use ./demo and ./test.
B = build
all: $(B)/build.ninja
	ninja -C $(B)
$(B)/build.ninja:
	meson setup $(B)
check: all
	meson test -C $(B) --no-suite slow
# Optimised, and in a folder of its own.
bench: $(B)-release/build.ninja
	ninja -C $(B)-release cli/blkalign nbdkit/nbdkit-blkalign-plugin.so bench/raid bench/pread-threads bench/stripes
	bench/all $(B)-release
$(B)-release/build.ninja:
	meson setup $(B)-release --buildtype=release
fuzz:
	tools/fuzz
install: all
	meson install -C $(B)
clean:
	rm -rf $(B) $(B)-release build-asan build-fuzz
.PHONY: all check bench fuzz install clean
