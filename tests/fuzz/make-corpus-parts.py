#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the seeds of mbr, gpt, table, luks and bcache from golden/parts/: small devices with the same structures closer together."""
import pathlib, struct, zlib

tests = pathlib.Path(__file__).resolve().parent.parent


def sectors(name):
    lines = (tests / "golden/parts" / f"{name}.sectors").read_text().splitlines()
    return int(lines[0].split()[1]), {int(a): bytes.fromhex(h).ljust(512, b"\0") for a, h in (l.split() for l in lines[1:])}


def flat(name, begin, end):
    data = bytearray(end - begin)
    for offset, sector in sectors(name)[1].items():
        if begin <= offset < end:
            data[offset - begin:offset - begin + 512] = sector
    return bytes(data)


def write(codec, name, data):
    folder = tests / "fuzz/corpus" / codec
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def entry(kind, start, count):
    return struct.pack("<4xB3xII", kind, start, count)


def record(*entries):
    return b"".join(entries).rjust(446 + 16 * len(entries), b"\0").ljust(510, b"\0") + b"\x55\xaa"


# mbr: the real first sectors, and a chain of three records within 4 KiB (container at sector 1)
for name in "mbr-logical", "mbr-4096", "boot-fat", "boot-ntfs":
    write("mbr", name, flat(name, 0, 512))
write("mbr", "chain", record(entry(0x83, 6, 2), entry(5, 1, 5)) + record(entry(0x83, 1, 1), entry(5, 2, 1)) + bytes(512)
      + record(entry(0x83, 1, 1), entry(5, 1, 1)) + bytes(2048))

# gpt: 4 entries of 128 bytes, primary at 1, backup at 7, entries at 2 and 6
for name in "gpt-512", "gpt-hybrid":
    size, data = sectors(name)
    entries, header = data[1024], bytearray(data[512][:92])

    def head(my, other, at):
        struct.pack_into("<QQQQ", header, 24, my, other, 3, 5)
        struct.pack_into("<QIII", header, 72, at, 4, 128, zlib.crc32(entries))
        struct.pack_into("<I", header, 16, 0)
        struct.pack_into("<I", header, 16, zlib.crc32(header))
        return bytes(header).ljust(512, b"\0")

    write("gpt", name, data[0] + head(1, 7, 2) + entries + bytes(3 * 512) + entries + head(7, 1, 6))
write("gpt", "gpt-4096", flat("gpt-4096", 0, 4096 + 512))

# table: the same devices, and one of 64 KiB with a FAT that only 2048-byte blocks find (entries 16 + 16)
for codec, name in ("mbr", "chain"), ("gpt", "gpt-512"), ("gpt", "gpt-hybrid"):
    write("table", name, (tests / "fuzz/corpus" / codec / name).read_bytes())
write("table", "fat-2048", (record(entry(0x0c, 16, 16)).ljust(32768, b"\0") + flat("mbr-2048", 32768, 32768 + 512)).ljust(65536, b"\0"))

# luks: both copies of a 16 KiB header
write("luks", "luks1", flat("luks1", 0, 1024))
for name in "luks2", "luks2-512", "luks2-detached":
    write("luks", name, flat(name, 0, 32768))

for name in "bcache-backing", "bcache-backing-offset", "bcache-cache":
    write("bcache", name, flat(name, 4096, 8192))
