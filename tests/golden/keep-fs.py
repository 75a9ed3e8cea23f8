#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""keep-fs.py IMAGE FOLDER OFFSET:LENGTH...: keeps the given ranges of an image, without 512-byte sectors that are all zero.

Each run of sectors becomes a file in FOLDER whose name is its byte offset; `size` holds the size of the image.
"""
import os, pathlib, sys

image, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for old in folder.iterdir():
    old.unlink()
(folder / "size").write_text(f"{os.path.getsize(image)}\n")
with open(image, "rb") as f:
    runs = {}
    for spec in sys.argv[3:]:
        offset, length = map(int, spec.split(":"))
        start = None
        for at in range(offset, offset + length, 512):
            f.seek(at)
            data = f.read(min(512, offset + length - at))
            if not any(data):
                start = None
                continue
            if start is None:
                start = at
                runs[start] = b""
            runs[start] += data
    for start, data in runs.items():
        (folder / str(start)).write_bytes(data)
