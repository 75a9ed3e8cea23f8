# SPDX-License-Identifier: LGPL-2.1-or-later
# For those who develop; newcomers use ./demo and ./test.
B = build
all: $(B)/build.ninja
	ninja -C $(B)
$(B)/build.ninja:
	meson setup $(B)
check: all
	meson test -C $(B) --no-suite slow
bench: all
	bench/run $(B)
fuzz:
	tools/fuzz
install: all
	meson install -C $(B)
clean:
	rm -rf $(B) build-asan build-fuzz
.PHONY: all check bench fuzz install clean
