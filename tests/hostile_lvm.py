# SPDX-License-Identifier: LGPL-2.1-or-later
"""LVM2 volumes that somebody made to hurt, with right checksums: what each is, how it is made, which verb gets it, and what that must say.

The files are sparse and made anew each time; their layout is written from lvm2's and the kernel's headers, not with our types.
"""
import importlib.machinery, importlib.util, os, pathlib, shutil, struct, sys, tempfile, time

root = pathlib.Path(__file__).resolve().parent.parent
KIB, MIB, GIB, TIB, EIB = 1 << 10, 1 << 20, 1 << 30, 1 << 40, 1 << 60
SECTOR, BLOCK = 512, 4096
START = MIB  # of the first extent
ALL = (1 << 64) - 1


def load(path):
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(path.name.replace("-", "_"), str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


vg = load(root / "bench/make-vg")

# --- text ---


def linear(count, *places, start=0):
    """One stripe for each (name, extent)."""
    stripes = "" if len(places) == 1 else "stripe_size = 128\n"
    return start, count, f'type = "striped"\nstripe_count = {len(places)}\n{stripes}\nstripes = [\n' + ",\n".join(f'"{n}", {e}' for n, e in places) + "\n]"


def other(count, kind, **entries):
    """A segment of another type; lists are arrays."""
    def value(v):
        return f'"{v}"' if isinstance(v, str) else "[" + ", ".join(map(value, v)) + "]" if isinstance(v, list) else str(v)
    return 0, count, f'type = "{kind}"\n' + "\n".join(f"{k} = {value(v)}" for k, v in entries.items())


class Group:
    """The text of group vg with PVs of `pe_count` extents each, and volumes that are lists of segments."""

    def __init__(self, pe_count=64, extent_sectors=8, pvs=1, pe_start=START // SECTOR):
        self.size, self.volumes = START + pe_count * extent_sectors * SECTOR, []
        self.head = (f'vg {{\nid = "{vg.hyphens(vg.lvm_id("vg", 1))}"\nseqno = 1\nformat = "lvm2"\nstatus = ["RESIZEABLE", "READ", "WRITE"]\nflags = []\n'
                     f'extent_size = {extent_sectors}\nmax_lv = 0\nmax_pv = 0\nmetadata_copies = 0\n\nphysical_volumes {{\n' + "".join(
                         f'\npv{p} {{\nid = "{vg.hyphens(vg.lvm_id("pv", p))}"\ndevice = "/dev/sd{p}"\n\nstatus = ["ALLOCATABLE"]\nflags = []\n'
                         f'dev_size = {START // SECTOR + pe_count * extent_sectors}\npe_start = {pe_start}\npe_count = {pe_count}\n}}\n' for p in range(pvs)) + "}\n\nlogical_volumes {\n")

    def lv(self, name, *segments, hidden=False, segment_count=None):
        status = '["READ", "WRITE"]' if hidden else '["READ", "WRITE", "VISIBLE"]'
        self.volumes.append(
            f'\n{name} {{\nid = "{vg.hyphens(vg.lvm_id("lv", len(self.volumes)))}"\nstatus = {status}\nflags = []\nsegment_count = {segment_count or len(segments)}\n'
            + "".join(f"\nsegment{i} {{\nstart_extent = {start}\nextent_count = {count}\n\n{body}\n}}\n" for i, (start, count, body) in enumerate(segments, 1)) + "}\n")
        return self

    def text(self):
        return self.head + "".join(self.volumes) + '}\n\n}\ncontents = "Text Format Volume Group"\nversion = 1\n'


def plain(**words):
    """A group with one linear volume."""
    return Group(**words).lv("lv", linear(4, ("pv0", 0)))


# --- images ---


def seal(header):
    return struct.pack("<I", vg.crc(header[4:SECTOR])) + header[4:]


def write_pv(path, text, size=2 * MIB, number=0, parts=(), label=(), header=(), at=SECTOR, area=None):
    """A PV whose text begins at byte `at` of its ring. `parts`: (offset, bytes) of the data; `label` and `header`: (offset, format, value) to be changed there before they are sealed."""
    text = text.encode("utf-8", "surrogateescape") + b"\0" if isinstance(text, str) else text
    area = area or (1 if len(text) < MIB // 2 else len(text) // MIB + 2) * MIB - BLOCK
    sector, head = bytearray(vg.label(vg.lvm_id("pv", number), size, area, BLOCK + area)), bytearray(vg.mda_header(area, text))
    struct.pack_into("<Q", head, 40, at)
    for place, form, value in label:
        struct.pack_into("<" + form, sector, place, value)
    for place, form, value in header:
        struct.pack_into("<" + form, head, place, value)
    struct.pack_into("<I", sector, 16, vg.crc(sector[20:]))
    with open(path, "wb") as f:
        f.truncate(max(size, BLOCK + area))
        os.pwrite(f.fileno(), sector, SECTOR)
        os.pwrite(f.fileno(), seal(bytes(head)), BLOCK)
        first = text[:max(0, area - at)]
        os.pwrite(f.fileno(), first, BLOCK + at)
        os.pwrite(f.fileno(), text[len(first):], BLOCK + SECTOR)
        for offset, data in parts:
            os.pwrite(f.fileno(), data, offset)
    return [path]


# --- metadata of thin pools and caches ---

SALT_NODE, SALT_ARRAY, SALT_THIN, SALT_CACHE = 121107, 595846735, 160774, 9031977
TABLE = [0] * 256
for byte in range(256):
    rest = byte
    for _ in range(8):
        rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
    TABLE[byte] = rest


def checksummed(body, salt):
    """A block of persistent-data whose first 4 bytes are the checksum of `body`, the others."""
    c, body = 0xFFFFFFFF, body.ljust(BLOCK - 4, b"\0")
    for b in body:
        c = TABLE[(c ^ b) & 255] ^ c >> 8
    return struct.pack("<I", c ^ salt) + body


def node(number, leaf, keys, values, value_size=8):
    most = (BLOCK - 32) // (8 + value_size)
    body = struct.pack("<IQIIII", 2 if leaf else 1, number, len(keys), most, value_size, 0) + struct.pack(f"<{len(keys)}Q", *keys).ljust(8 * most, b"\0")
    return checksummed(body + b"".join(v if isinstance(v, bytes) else struct.pack("<Q", v) for v in values), SALT_NODE)


def array_block(number, items):
    return checksummed(struct.pack("<IIIQ", 509, len(items), 8, number) + struct.pack(f"<{len(items)}Q", *items), SALT_ARRAY)


def fields(values, salt):
    """A superblock: {offset: (format, value)}."""
    body = bytearray(BLOCK)
    for at, (form, value) in values.items():
        struct.pack_into("<" + form, body, at, value)
    return checksummed(bytes(body[4:]), salt)


def thin_super(mapping_root, details_root, bitmap_root=0, blocks=100):
    return fields({32: ("Q", 27022010), 40: ("I", 2), 48: ("Q", 1), 64: ("Q", blocks), 80: ("Q", bitmap_root), 320: ("Q", mapping_root), 328: ("Q", details_root),
                   336: ("I", 128), 340: ("I", 8), 344: ("Q", 64)}, SALT_THIN)


def thin_pool(*nodes, root=3, virtual_extents=64, devices=1, bitmap_root=4):
    """Volume thin of a pool whose device 1 has its mappings at `root`; block 4 and following are `nodes`, block 3 the first of them."""
    ids = list(range(1, devices + 1))
    details = struct.pack("<QQII", 4, 0, 0, 0)
    meta = [thin_super(1, 2, bitmap_root), node(1, True, ids, [root] * devices), node(2, True, ids, [details] * devices, 24), *nodes]
    group = Group(4096).lv("pool", other(2048, "thin-pool", metadata="pool_tmeta", pool="pool_tdata", transaction_id=1, chunk_size=128))
    group.lv("pool_tmeta", linear(1024, ("pv0", 0)), hidden=True).lv("pool_tdata", linear(2048, ("pv0", 1024)), hidden=True)
    for i in ids:
        group.lv("thin" if devices == 1 else f"thin{i}", other(virtual_extents, "thin", thin_pool="pool", transaction_id=0, device_id=i))
    return group, [(START, b"".join(meta))]


def cache(blocks, *nodes, clean=1):
    """Volume cached, whose metadata says it has `blocks` blocks of 32 KiB with their array at block 1."""
    meta = [fields({4: ("I", clean), 32: ("Q", 0o6142003), 40: ("I", 1), 192: ("Q", 1), 232: ("I", 64), 236: ("I", 8), 240: ("I", blocks)}, SALT_CACHE), *nodes]
    group = Group(16384).lv("cached", other(1024, "cache", cache_pool="cp", origin="cached_corig")).lv("cached_corig", linear(1024, ("pv0", 0)), hidden=True)
    group.lv("cp", other(8192, "cache-pool", data="cp_cdata", metadata="cp_cmeta", chunk_size=64, cache_mode="writeback", policy="smq"), hidden=True)
    group.lv("cp_cdata", linear(8192, ("pv0", 2048)), hidden=True).lv("cp_cmeta", linear(1024, ("pv0", 1024)), hidden=True)
    return group, [(START + 1024 * BLOCK, b"".join(meta))]


# --- exception stores, raid metadata, mirror logs ---


def snapshot(areas, chunk_sectors=8, origin_extents=64, store_extents=512):
    """Volume snap of volume org; `areas` are (byte of the store, [(origin chunk, store chunk), ...])."""
    group = Group(origin_extents + store_extents).lv("org", linear(origin_extents, ("pv0", 0))).lv("snap", linear(store_extents, ("pv0", origin_extents)))
    group.lv("snapshot0", other(origin_extents, "snapshot", chunk_size=chunk_sectors, origin="org", cow_store="snap"), hidden=True)
    store = START + origin_extents * BLOCK
    return group, [(store, struct.pack("<4I", 0x70416E53, 1, 1, chunk_sectors)), *((store + at, b"".join(struct.pack("<QQ", *e) for e in area)) for at, area in areas)]


def raid_super(slot, images=2, level=1, sectors=512, **changes):
    values = {"magic": 0x64526D44, "compat": 1, "images": images, "slot": slot, "events": 5, "failed": 0, "recovery": ALL, "resync": ALL, "level": level, "layout": 0,
              "chunk": 0 if level == 1 else 128, "flags": 0, "position": ALL, "new_level": level, "new_layout": 0, "new_chunk": 0, "delta": 0, "array": sectors, "offset": 0,
              "new_offset": 0, "used": sectors, "failed1": 0, "failed2": 0, "failed3": 0, "incompat": 0}
    assert changes.keys() <= values.keys()
    return struct.pack("<4I4Q4IQ4I4Q3QI", *(values | changes).values())


def raid1(meta_extents=4, bitmap=None, **changes):
    """Volume mirrored of two images of 64 extents; `bitmap`: (sectors covered, bytes of a chunk)."""
    group = Group(256).lv("mirrored", other(64, "raid1", device_count=2, region_size=4096, raids=["m_rmeta_0", "m_rimage_0", "m_rmeta_1", "m_rimage_1"]))
    parts = []
    for slot in range(2):
        first = slot * 128
        group.lv(f"m_rmeta_{slot}", linear(meta_extents, ("pv0", first)), hidden=True).lv(f"m_rimage_{slot}", linear(64, ("pv0", first + 32)), hidden=True)
        parts.append((START + first * BLOCK, raid_super(slot, **changes)))
        if bitmap:
            parts.append((START + (first + 1) * BLOCK, struct.pack("<II16sQQQIIII", 0x6D746962, 4, b"", 5, 5, bitmap[0], 0, bitmap[1], 5, 0)))
    return group, parts


def mirror(regions, extents=64, version=2, region_sectors=8):
    group = Group(64 + 2 * extents).lv("mir", other(extents, "mirror", mirror_count=2, mirror_log="mir_mlog", region_size=region_sectors, mirrors=["mir_mimage_0", 0, "mir_mimage_1", 0]))
    group.lv("mir_mlog", linear(1, ("pv0", 0)), hidden=True)
    for leg in range(2):
        group.lv(f"mir_mimage_{leg}", linear(extents, ("pv0", 64 + leg * extents)), hidden=True)
    return group, [(START, struct.pack("<IIQ", 0x4D695272, version, regions))]


# --- the list ---

ITEMS = []


# --- the list ---

ITEMS = []
CHECK = "check", "FILES"
COPY = "copy", "--node", "vg/thin", "-o", "OUT", "FILES"


def add(name, words, make, *args, status=0):
    """`words` must be in what `blkalign ARGS` says of the files that `make` puts into a folder, and `status` be its exit status: check's is 1 where nothing is left to be judged."""
    ITEMS.append((name, words, make, args or CHECK, status))


def image(group, parts=()):
    return lambda folder: write_pv(folder / "pv", group.text(), size=group.size, parts=parts)


def pv(**how):
    return lambda folder: write_pv(folder / "pv", plain().text(), **how)


def text(words):
    return lambda folder: write_pv(folder / "pv", words())


def edited(old, new, **words):
    words = plain(**words).text()
    assert old in words
    return lambda folder: write_pv(folder / "pv", words.replace(old, new, 1))


def ring(beyond, **how):
    """The text ends with the ring, or `beyond` it."""
    return pv(at=65536 - len(plain().text()) - 1 + beyond, area=65536, **how)


def chain(count, last, each=lambda below: linear(1, (below, 0)), **words):
    """Volumes v0, v1, ..., each on the next one."""
    def make():
        group = Group(**words)
        for i in range(count):
            group.lv(f"v{i}", each(f"v{i + 1}" if i + 1 < count else last))
        return group
    return lambda folder: image(make())(folder)


def crowd(lvs):
    """A text of so many volumes, each of one extent, in as few characters as there may be."""
    def make(folder):
        volumes = "".join(f'v{i}{{id="{i:032d}" status=["VISIBLE"] segment_count=1 segment1{{start_extent=0 extent_count=1 type="striped" stripe_count=1 stripes=["pv0",{i}]}}}}\n'
                          for i in range(lvs))
        start = len(volumes) // MIB * MIB * 2 + 4 * MIB
        return write_pv(folder / "pv", Group(pe_count=lvs, pe_start=start // SECTOR).head + volumes + '}}contents="Text Format Volume Group" version=1 ', size=start + lvs * BLOCK)
    return make


def segments(count, kind):
    """A volume of so many segments, likewise."""
    def make(folder):
        parts = "".join(f'segment{i}{{start_extent={i} extent_count=1 {kind.format(i)}}}\n' for i in range(count))
        start = len(parts) // MIB * MIB * 2 + 4 * MIB
        head = Group(pe_count=count, pe_start=start // SECTOR).head
        return write_pv(folder / "pv", head + f'lv{{id="{0:032d}" status=["VISIBLE"] segment_count={count} {parts}}}}}}}contents="Text Format Volume Group" version=1 ', size=start + count * BLOCK)
    return make


def two_texts(folder):
    words = plain(pvs=2).text()
    return [*write_pv(folder / "pv0", words), *write_pv(folder / "pv1", words.replace("extent_count = 4", "extent_count = 5"), number=1)]


def foreign(folder):
    """A disk that is none of the group's PVs has a text of it, of a higher number."""
    words = plain().text()
    return [*write_pv(folder / "pv0", words), *write_pv(folder / "pv1", words.replace("seqno = 1", "seqno = 9").replace("extent_count = 4", "extent_count = 5"), number=7)]


def two_labels(folder):
    files = write_pv(folder / "pv", plain().text())
    with open(files[0], "r+b") as f:
        sector = bytearray(os.pread(f.fileno(), SECTOR, SECTOR))
        sector[8:16], sector[32:64] = struct.pack("<Q", 3), b"z" * 32
        sector[16:20] = struct.pack("<I", vg.crc(sector[20:]))
        os.pwrite(f.fileno(), sector, 3 * SECTOR)
    return files


def one_id(folder):
    words = plain(pvs=2).text()
    return write_pv(folder / "pv", words.replace(vg.hyphens(vg.lvm_id("pv", 1)), vg.hyphens(vg.lvm_id("pv", 0))))


def on_plain(name, *segment):
    """Beside volume lv of four extents."""
    return text(lambda: plain(pe_count=128).lv(name, *segment).text())


STRIPES = 'type = "striped"\nstripe_count = 1\n\nstripes = [\n"pv0", 0\n]'
LADDER = chain(16, "pv0", lambda below: linear(128 * 16, *[(below, 16 * i) for i in range(128)]), pe_count=2048)
STORES = chain(16, "pv0", lambda below: linear(4, (below, 0)) if below == "pv0" else other(4, "snapshot", chunk_size=8, origin=below, cow_store=below))
SHARED = [node(3 + i, i == 15, list(range(252)), [4 + i if i < 15 else j << 24 for j in range(252)]) for i in range(16)]
LOST = dict(root=60, virtual_extents=1 << 31)

add("label: its header begins behind its sector", "LVM2 label: the label puts the physical volume header at byte 473, outside of its sector", pv(label=[(20, "I", 473)]))
add("label: its header begins in the label", "LVM2 label: the label puts the physical volume header at byte 0, outside of its sector", pv(label=[(20, "I", 0)]))
add("label: its header begins at 2^32 - 1", "LVM2 label: the label puts the physical volume header at byte 4294967295, outside of its sector", pv(label=[(20, "I", (1 << 32) - 1)]))
add("label: says that it is in another sector", "LVM2 label: the label says that it is in sector 2, and is in sector 1", pv(label=[(8, "Q", 2)]), status=1)
add("label: an id of no alphabet", "LVM2 label: the physical volume's id holds characters that no id has", pv(label=[(40, "I", 0x20FFFF00)]))
add("label: a list of areas that does not end", "LVM2 label: more than 16 data areas", pv(label=[(72 + i, "Q", MIB) for i in range(0, 432, 8)]))
add("label: two that differ", "holds a second LVM2 label that says something else; the first counts", two_labels)
add("area: no bytes", "a metadata area of 0 bytes: expected 4 KiB to 1 GiB that lie on the device", pv(header=[(32, "Q", 0)]))
add("area: larger than the device", "a metadata area of 1073741824 bytes: expected 4 KiB to 1 GiB that lie on the device", pv(header=[(32, "Q", GIB)]))
add("area: text behind it", "a metadata text of 670 bytes at 4194304 does not lie in the ring of its area of 1044480 bytes", pv(header=[(40, "Q", 4 * MIB)]))
add("area: text in its header", "a metadata text of 670 bytes at 256 does not lie in the ring of its area of 1044480 bytes", pv(header=[(40, "Q", 256)]))
add("area: text of 2^32 bytes", "a metadata text of 4294967296 bytes at 512 does not lie in the ring of its area of 1044480 bytes", pv(header=[(48, "Q", 1 << 32)]))
add("area: offset and size of the text wrap 2^64", "a metadata text of 1024 bytes at 18446744073709551104 does not lie in the ring of its area of 1044480 bytes", pv(header=[(40, "Q", ALL - 511), (48, "Q", 1024)]))
add("ring: the text ends with it", "", ring(0))
add("ring: the text goes on behind the header", "", ring(1))
add("ring: the text goes on over the header and itself", "a metadata text of 65025 bytes at 64867 does not lie in the ring of its area of 65536 bytes", ring(1, header=[(48, "Q", 65536 - 511)]))
add("texts: two of one number that differ", "volume group vg: different texts bear the sequence number 1; the one on pv0 is used", two_texts)
add("texts: a higher number on a foreign disk", "carries a text of volume group vg that does not list it as a physical volume: not believed", foreign)
add("text: ends in a string", "the text ends where a value is expected", text(lambda: plain().text()[:70]))
add("text: sections, 100,000 deep", "sections are nested deeper than 16", text(lambda: "a{" * 100000))
add("text: arrays, 100,000 deep", "expected a number or a string", text(lambda: "a=" + "[" * 100000))
add("text: a number of 10,000 digits", "\"seqno\" is not a number from 0 to 4294967295", edited("seqno = 1", "seqno = " + "1" * 10000))
add("text: the number 2^64", "\"seqno\" is not a number from 0 to 4294967295", edited("seqno = 1", f"seqno = {1 << 64}"))
add("text: a negative number", "\"seqno\" is not a number from 0 to 4294967295", edited("seqno = 1", "seqno = -1"))
add("text: a number with leading zeros", "a number with a leading zero, which some read as octal", edited("seqno = 1", "seqno = 01"))
add("text: a key twice", "\"seqno\" comes twice in its section", edited("seqno = 1", "seqno = 1 seqno = 2"))
add("text: a name with ESC", "a name that lvm2 does not allow: \"l\\x5cx1b[2Jv\"", edited("\nlv {", '\n"l\033[2Jv" {'))
add("text: a name with a line feed", "a name that lvm2 does not allow: \"l\\x5cx0av\"", edited("\nlv {", '\n"l\nv" {'))
add("text: a name with a slash", "a name that lvm2 does not allow: \"l/v\"", edited("\nlv {", "\nl/v {"))
add("text: the name ..", "a name that lvm2 does not allow: \"..\"", edited("\nlv {", "\n.. {"))
add("text: a name of 4 KiB", "the name of an entry is longer than 511 characters", edited("\nlv {", "\n" + "n" * 4096 + " {"))
add("text: four million entries", "more than 929647 entries in a text of 8000005 bytes", text(lambda: "a=[" + "1," * 4000000 + "1]"), status=1)
add("sizes: extents of no bytes", "the extent size of this volume group is 0", edited("extent_size = 8", "extent_size = 0"))
add("sizes: extents of 2 TiB less a sector", "the extents of volume group vg end at byte 140737489371136, behind the device's end at byte 2097152", edited("extent_size = 8", "extent_size = 4294967295"))
add("sizes: extents of three sectors", "", edited("extent_size = 8", "extent_size = 3"))
add("sizes: a PV of 2^32 extents", "\"pe_count\" is not a number from 0 to 4294967295", edited("pe_count = 64", "pe_count = 4294967296"))
add("sizes: a PV that ends beyond 2^64", "the extents of this physical volume reach beyond 2^64 bytes", edited("pe_start = 2048", "pe_start = 36028797018963967"))
add("sizes: a segment of 2^32 - 1 extents", "volume vg/lv takes 4294967295 extents from extent 0 of pv0, which has 64", edited("extent_count = 4", "extent_count = 4294967295"))
add("sizes: 2^32 - 1 extents of zeros", "", on_plain("zero", other((1 << 32) - 1, "zero")))
add("sizes: start and count wrap", "\"start_extent\" is not a number from 0 to 4294967295", edited("start_extent = 0", "start_extent = 18446744073709551615"))
add("sizes: an area behind the PV", "volume vg/lv takes 4 extents from extent 4294967295 of pv0, which has 64", edited('"pv0", 0', '"pv0", 4294967295'))
add("sizes: an area before the PV", "expected an extent number behind this name", edited('"pv0", 0', '"pv0", -1'))
add("sizes: no stripes", "a segment with 0 areas, expected 1 to 128", edited("stripe_count = 1", "stripe_count = 0"))
add("sizes: 2^32 - 1 stripes", "a segment with 4294967295 areas, expected 1 to 128", edited("stripe_count = 1", "stripe_count = 4294967295"))
add("sizes: 2^32 - 1 segments", "\"segment_count\" is not a number from 0 to 131072", edited("segment_count = 1", "segment_count = 4294967295"))
add("sizes: raid6 of one image", "a segment of type raid6 with 1 images: too few to hold data", edited(STRIPES, 'type = "raid6" device_count = 1 stripe_size = 128 raids = ["lv"]'))
add("sizes: raid1 of no images", "a segment with 0 areas, expected 1 to 128", edited(STRIPES, 'type = "raid1" device_count = 0 raids = []'))
add("loops: a volume on itself", "volume vg/v0 lies on itself, directly or through others", chain(1, "v0"))
add("loops: two volumes on each other", "volume vg/v0 lies on itself, directly or through others", chain(2, "v0"))
add("loops: a thousand volumes in a ring", "volume vg/v0 lies on itself, directly or through others", chain(1000, "v0"))
add("loops: a snapshot of itself", "volume vg/s lies on itself, directly or through others", on_plain("s", other(4, "snapshot", chunk_size=8, origin="s", cow_store="lv")))
add("loops: a thin volume that is its own pool", "volume vg/t lies on itself, directly or through others", on_plain("t", other(4, "thin", thin_pool="t", device_id=1, transaction_id=0)))
add("depth: a thousand volumes on each other", "volume vg/v0 is made of volumes more than 16 deep", chain(1000, "pv0"))
add("overlap: two volumes on one extent", "volumes vg/lv and vg/lw both claim extent 3 of pv0", on_plain("lw", linear(2, ("pv0", 3))))
add("overlap: 128 stripes on one extent of a volume", "volumes vg/lw and vg/lw both claim extent 0 of lv", image(Group(64).lv("lv", linear(16, ("pv0", 0))).lv("lw", linear(2048, *[("lv", 0)] * 128))))
add("overlap: a volume in the metadata area", "the first extent at byte 4096 lies in the metadata area, which ends at byte 1048576", edited("pe_start = 2048", "pe_start = 8"))
add("overlap: a pool whose data and metadata are one volume", "volumes vg/pool and vg/pool both claim extent 0 of lv", on_plain("pool", other(4, "thin-pool", metadata="lv", pool="lv", transaction_id=0, chunk_size=128)))
add("overlap: sixteen snapshots, each with its origin as its store", "a snapshot whose store is its origin", STORES)
add("walks: sixteen volumes of 128 stripes each, check", "", LADDER)
add("walks: sixteen volumes of 128 stripes each, show", "", LADDER, "show", "FILES")
add("walks: sixteen volumes of 128 stripes each, copy", "", LADDER, "copy", "--node", "vg/v0", "-o", "OUT", "FILES")
add("walks: sixteen volumes of 128 stripes each, map", "", LADDER, "map", "FILES", "vg/v0", "0+8M")
add("walks: sixteen volumes of 128 stripes each, map upwards", "", LADDER, "map", "--reverse", "FILES", "pv", "1M")
add("names: a PV that is not there", "no volume is named \"pv9\"", edited('"pv0", 0', '"pv9", 0'))
add("names: two PVs of one id", "the id of physical volume \"pv1\" is listed twice", one_id)
add("names: a mirror log on a PV", "no volume is named \"pv0\"", on_plain("m", other(1, "mirror", mirror_count=1, mirror_log="pv0", region_size=8, mirrors=["lv", 0])))
add("names: a cache pool that is a plain volume", "the cache's metadata cannot be read, which tells what the origin lacks", text(lambda: plain().lv("o", linear(4, ("pv0", 8))).lv("c", other(4, "cache", cache_pool="lv", origin="o")).text()))
add("names: a pool whose data is a number", "expected the name of a volume", on_plain("pool", other(4, "thin-pool", metadata="lv", pool=7, transaction_id=0, chunk_size=128)))
add("crowds: 32,768 volumes", "", crowd(32768))
add("crowds: 65,536 volumes", "more than 826024 entries in a text of 11315948 bytes", crowd(65536))
add("crowds: a million volumes", "a metadata text of 174778225 bytes is larger than the 33554432 bytes that are read", crowd(10**6))
add("crowds: 131,072 segments", "", segments(131072, 'type="zero"'))
add("crowds: 131,073 segments", "\"segment_count\" is not a number from 0 to 131072", segments(131073, 'type="zero"'))
add("crowds: a million segments", "a metadata text of 61778308 bytes is larger than the 33554432 bytes that are read", segments(10**6, 'type="zero"'))
add("raid metadata: something else", "its raid metadata holds something else: not used", image(*raid1(magic=1)))
add("raid metadata: 2^32 - 1 images", "raid metadata: a number of images that is not possible (4294967295)", image(*raid1(images=(1 << 32) - 1)))
add("raid metadata: data behind the image", "its raid metadata tells of another end of its data than the volume group does for this volume: not used", image(*raid1(offset=1 << 40)))
add("raid metadata: sizes that wrap 2^64", "raid metadata: an offset or size does not fit 64 bits of bytes; events (5)", image(*raid1(used=1 << 63)))
add("raid metadata: a bitmap larger than its volume", "was not stopped cleanly: 262144 bytes of each member wait for a resync", image(*raid1(bitmap=(1 << 40, 512))))
add("raid metadata: a bitmap of 2^50 bits", "was not stopped cleanly: 262144 bytes of each member wait for a resync", image(*raid1(bitmap=((1 << 55) - 1, 4096))))
add("raid metadata: bits for no bytes", "was not stopped cleanly: 262144 bytes of each member wait for a resync", image(*raid1(bitmap=(512, 0))))
add("raid metadata: bits for 2 GiB each", "", image(*raid1(bitmap=(512, 1 << 31))))
add("mirror log: 2^64 - 1 regions", "", image(*mirror(ALL)))
add("mirror log: shorter than its bits", "its log cannot be used: mirror log of 4096 bytes: too short for 32768 regions: only its first leg counts", image(*mirror(1 << 15, extents=4096, region_sectors=1)))
add("mirror log: of another version", "its log cannot be used: mirror log: version 7, expected 2: only its first leg counts", image(*mirror(64, version=7)))
add("store: an area that tells of itself", "snapshot store: a copy in a chunk that is none for data (1)", image(*snapshot([(BLOCK, [(0, 1)])])))
add("store: an area that tells of the next one", "snapshot store: a copy in a chunk that is none for data (258)", image(*snapshot([(BLOCK, [(0, 258)])])))
add("store: two chunks in one place", "snapshot store: two chunks are said to be copied to chunk (2)", image(*snapshot([(BLOCK, [(0, 2), (1, 2)])])))
add("store: one chunk in two places", "snapshot store: two copies of one chunk of the origin (0)", image(*snapshot([(BLOCK, [(0, 2), (0, 3)])])))
add("store: a place at chunk 2^60", "snapshot store: a copy in a chunk that is none for data (1152921504606846976)", image(*snapshot([(BLOCK, [(0, 1 << 60)])])))
add("store: chunk 2^60 of the origin", "snapshot store: a copy of a chunk that the origin does not have (1152921504606846976)", image(*snapshot([(BLOCK, [(1 << 60, 2)])])))
add("store: chunks larger than it", "", image(*snapshot([], chunk_sectors=GIB // SECTOR)))
add("store: chunks of 2^31 sectors", "snapshot store: chunks of an impossible number of sectors (2147483648)", image(*snapshot([], chunk_sectors=1 << 31)))
add("store: an area of 32 MiB that repeats itself", "snapshot store: more copies than the store has chunks (5)",
    lambda folder: image(*snapshot([(32 * MIB, [(0, 2)] * (2 << 20))], chunk_sectors=32 * MIB // SECTOR, store_extents=32768, origin_extents=16384))(folder))
add("thin: a node that leads to itself", "tree node at metadata block 3: is deeper than any tree can be", image(*thin_pool(node(3, False, [0], [3]))), *COPY, status=1)
add("thin: two nodes that lead to each other", "tree node at metadata block 3: is deeper than any tree can be", image(*thin_pool(node(3, False, [0], [4]), node(4, False, [0], [3]))), *COPY, status=1)
add("thin: nodes that share all below them, copy", "tree node at metadata block 4: has keys that belong elsewhere in the tree", image(*thin_pool(*SHARED)), *COPY, status=1)
add("thin: nodes that share all below them, map", "tree node at metadata block 4: has keys that belong elsewhere in the tree", image(*thin_pool(*SHARED)), "map", "FILES", "vg/thin", "0+256k")
add("thin: nodes that share all below them, map upwards", "tree node at metadata block 4: has keys that belong elsewhere in the tree", image(*thin_pool(*SHARED)), "map", "--reverse", "FILES", "pv", "6M")
add("thin: eight TiB behind a root that cannot be read, copy", "tree node at metadata block 60: checksum is 0x00000000, expected 0x58cc7e82", image(*thin_pool(**LOST)), *COPY, status=1)
add("thin: eight TiB behind a root that cannot be read, map", "tree node at metadata block 60: checksum is 0x00000000, expected 0x58cc7e82", image(*thin_pool(**LOST)), "map", "FILES", "vg/thin", "0+7T")
add("thin: eight TiB behind a root that cannot be read, map upwards", "tree node at metadata block 60: checksum is 0x00000000, expected 0x58cc7e82", image(*thin_pool(**LOST)), "map", "--reverse", "FILES", "pv", "6M")
add("thin: 126 volumes of one tree that loops", "tree node at metadata block 3: is deeper than any tree can be", image(*thin_pool(node(3, False, [0], [3]), devices=126)))
add("thin: a map of used blocks that leads to itself", "the map of used blocks cannot be read: tree node at metadata block 4: is deeper than any tree can be", image(*thin_pool(node(3, True, [], []), node(4, False, [0], [4]))))
add("cache: 2^32 - 1 blocks", "cache metadata: more blocks than the cache has room for (4294967295)", image(*cache((1 << 32) - 1)))
add("cache: an array that leads to itself", "tree node at metadata block 1: is deeper than any tree can be", image(*cache(64, node(1, False, [0], [1]))))
add("cache: one block of the array under all numbers", "array block at metadata block 2: is said to be two parts of the array", image(*cache(1018, node(1, True, [0, 1], [2, 2]), array_block(2, [i << 16 | (i < 64) for i in range(509)]))))
add("cache: a copy of block 2^47", "cache metadata: a copy of a block that the origin does not have (140737488355328)", image(*cache(4, node(1, True, [0], [2]), array_block(2, [1 << 63 | 1, 0, 0, 0]))))
add("cache: two copies of one block", "cache metadata: two copies of one block of the origin (0)", image(*cache(4, node(1, True, [0], [2]), array_block(2, [1, 1, 0, 0]))))


# --- what blkalign makes of them ---


def run(blkalign, item):
    """(exit status, all that was said as one line, seconds, KiB at most); the files are made by another process, whose memory does not count."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="blkalign-hostile-"))
    try:
        pid = os.fork()
        if not pid:
            (folder / "made").write_text("\n".join(map(str, item[2](folder))))
            os._exit(0)
        if os.waitpid(pid, 0)[1]:
            sys.exit(f"{item[0]}: the files could not be made")
        files, argv = (folder / "made").read_text().split("\n"), [str(blkalign)]
        for argument in item[3]:
            argv += files if argument == "FILES" else [str(folder / "out")] if argument == "OUT" else [argument]
        said, begin = os.open(folder / "said", os.O_RDWR | os.O_CREAT, 0o600), time.perf_counter()
        environment = {k: v for k, v in os.environ.items() if k != "MALLOC_PERTURB_"}  # which touches what is asked for
        pid = os.posix_spawn(argv[0], argv, environment, file_actions=[(os.POSIX_SPAWN_DUP2, said, 1), (os.POSIX_SPAWN_DUP2, said, 2)])
        _, status, usage = os.wait4(pid, 0)
        seconds = time.perf_counter() - begin
        os.close(said)
        return os.waitstatus_to_exitcode(status), " ".join((folder / "said").read_text(errors="replace").split()), seconds, usage.ru_maxrss
    finally:
        shutil.rmtree(folder)
