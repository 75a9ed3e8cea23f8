#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""sectors.py IMAGE OUT [START:END ...]: keep the sectors of an image that are not zero, as text.

First line `size BYTES`; then one line for each sector, `OFFSET HEX`, trailing zeros left out. With ranges (bytes) only the sectors in them. The image
may be sparse and of any size: holes are skipped.
"""
import os, sys

image, out, ranges = sys.argv[1], sys.argv[2], [tuple(int(n, 0) for n in r.split(":")) for r in sys.argv[3:]]
with open(image, "rb") as f, open(out, "w") as o:
    fd, size, at = f.fileno(), os.fstat(f.fileno()).st_size, 0
    o.write(f"size {size}\n")
    while at < size:
        try:
            at = os.lseek(fd, at, os.SEEK_DATA) // 512 * 512
        except OSError:
            break
        end = os.lseek(fd, at, os.SEEK_HOLE)
        for offset in range(at, end, 512):
            data = os.pread(fd, 512, offset).rstrip(b"\0")
            if data and (not ranges or any(a <= offset < b for a, b in ranges)):
                o.write(f"{offset} {data.hex()}\n")
        at = max(end, at + 512)
