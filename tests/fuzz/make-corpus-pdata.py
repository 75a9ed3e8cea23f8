#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Seeds of the targets thin and dmcache by thin_restore and cache_restore, of dmsnap and dmlog by hand. Usage: make-corpus-pdata.py [CORPUS-FOLDER]"""
import pathlib, struct, subprocess, sys, tempfile

corpus = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent / "corpus"
BLOCK = 4096


def write(target, name, data):
    (corpus / target).mkdir(exist_ok=True)
    (corpus / target / name).write_bytes(data)


def restore(command, xml):
    """What the tool writes for `xml`, as far as it is used."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = pathlib.Path(folder, "xml"), pathlib.Path(folder, "meta")
        source.write_text(xml)
        result.write_bytes(bytes(4 << 20))
        subprocess.run([*command, "-i", source, "-o", result], check=True, stdout=subprocess.DEVNULL)
        data = result.read_bytes()
    return data[:len(data.rstrip(b"\0")) // BLOCK * BLOCK + BLOCK]


def short(data):
    """The beginnings of the blocks, as the targets take them: entries of nodes moved together."""
    blocks = []
    for at in range(0, len(data), BLOCK):
        block = bytearray(data[at:at + BLOCK])
        count, most, size = struct.unpack_from("<III", block, 16)
        room = (384 - 32) // (8 + size)
        if at and struct.unpack_from("<I", block, 4)[0] in (1, 2) and count <= room:
            values = block[32 + 8 * most:32 + 8 * most + size * count]
            struct.pack_into("<I", block, 20, room)
            block[32 + 8 * room:32 + 8 * room + len(values)] = values
        blocks.append(block[:384])
    blocks[0][0] = 0x5A
    return b"".join(blocks)


def pool(devices, blocks):
    """devices: {id: [(origin block, data block, length), ...]}"""
    xml = f'<superblock uuid="" time="2" transaction="7" flags="0" version="2" data_block_size="128" nr_data_blocks="{blocks}">'
    for number, maps in devices.items():
        xml += f'<device dev_id="{number}" mapped_blocks="{sum(m[2] for m in maps)}" transaction="1" creation_time="0" snap_time="1">'
        xml += "".join(f'<range_mapping origin_begin="{o}" data_begin="{d}" length="{n}" time="1"/>' for o, d, n in maps) + "</device>"
    return xml + "</superblock>"


def cache(blocks):
    xml = f'<superblock uuid="" block_size="128" nr_cache_blocks="{blocks}" policy="smq" hint_width="4"><mappings>'
    xml += "".join(f'<mapping cache_block="{i}" origin_block="{i * 7919 % 16000}" dirty="{"true" if i % 2 else "false"}"/>' for i in range(blocks) if i % 3)
    return xml + "</mappings><hints></hints></superblock>"


def store(chunk_sectors, count, chunks, valid=1):
    """An exception store with `count` exceptions."""
    chunk = chunk_sectors * 512
    entries = chunk // 16
    data = bytearray(chunks * chunk)
    struct.pack_into("<4I", data, 0, 0x70416E53, valid, 1, chunk_sectors)
    at = 2
    for i in range(count):
        at += (at - 1) % (entries + 1) == 0
        struct.pack_into("<2Q", data, (1 + i // entries * (entries + 1)) * chunk + i % entries * 16, (i * 7 + 3) % 200, at)
        at += 1
    return bytes(data)


write("thin", "two-devices", restore(["thin_restore"], pool({1: [(0, 0, 10), (20, 10, 5), (40, 20, 1)], 2: [(0, 0, 10), (500, 30, 3)]}, 100)))
write("thin", "short", short(restore(["thin_restore"], pool({1: [(0, 0, 10), (20, 10, 5), (40, 20, 1)], 2: [(0, 0, 10), (500, 30, 3)]}, 100))))
write("thin", "two-levels", restore(["thin_restore"], pool({1: [(i * 2, i, 1) for i in range(600)], 3: [(0, 700, 1)]}, 2000)))
for version, blocks in (1, 20), (2, 1100):
    meta = bytearray(restore(["cache_restore", "--metadata-version", str(version)], cache(blocks)))
    meta[4] = 1  # shut down cleanly; the target makes the checksum right
    write("dmcache", f"format-{version}", bytes(meta))
    meta[240:244] = struct.pack("<I", 20)
    write("dmcache", f"format-{version}-short", short(meta))
write("dmsnap", "one-sector-two-areas", store(1, 40, 68))
write("dmsnap", "four-kib", store(8, 20, 2))
write("dmsnap", "invalid", store(1, 0, 1, valid=0))
write("dmlog", "twenty-regions", struct.pack("<QIIQ", 20, 0x4D695272, 2, 20) + bytes(1008) + b"\x7f\xff\x0f" + bytes(509))
