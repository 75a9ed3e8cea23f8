#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes golden/parts/: tables and headers as the real tools write them, on sparse images, of which sectors.py keeps the
# sectors in use. Next to each CASE.sectors lies CASE.txt with what the tools themselves say of it.
#
# Debian 12: util-linux 2.38.1, gdisk 1.0.9, cryptsetup 2.6.1, bcache-tools 1.0.8, e2fsprogs 1.47.0, dosfstools 4.2. No root needed.
set -eu
export PATH=$PATH:/usr/sbin:/sbin LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
out=$here/parts
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
cd "$work"

new() { rm -f "$1.img"; truncate -s "$2" "$1.img"; }
keep() { local name=$1; shift; python3 "$here/sectors.py" "$name.img" "$out/$name.sectors" "$@"; }
# What sfdisk or fdisk reads back; -b of fdisk gives the unit.
say() { fdisk -b "$2" -l -o Device,Start,End,Sectors,Type "$1.img" >"$out/$1.txt"; }

# --- MBR ---
new mbr-logical 64M
sfdisk -q mbr-logical.img <<-EOF
	label: dos
	label-id: 0x1badf00d
	start=2048, size=16384, type=83, bootable
	start=18432, size=8192, type=82
	start=26624, size=102400, type=5
	start=28672, size=20480, type=83
	start=51200, size=20480, type=8e
	start=73728, size=20480, type=fd
EOF
keep mbr-logical; say mbr-logical 512

# The logical partition in the gap is made last, so the chain runs backwards.
new mbr-backward 64M
sfdisk -q mbr-backward.img <<-EOF
	label: dos
	label-id: 0x1badf00e
	start=2048, size=126976, type=f
	start=4096, size=16384, type=83
	start=61440, size=16384, type=83
EOF
printf 'n\nl\n30720\n+16384\nw\n' | fdisk -w never mbr-backward.img >/dev/null
keep mbr-backward; say mbr-backward 512

# A camera card: 2048-byte blocks, FAT32 that counts in them.
new mbr-2048 32044482560
printf 'o\nx\ni\n0x00000396\nr\nn\np\n1\n16\n15646719\nt\nc\nw\n' | fdisk -c=dos -S 16 -b 2048 -w never mbr-2048.img >/dev/null
mkfs.vfat -F 32 -S 2048 --offset 16 -i 00000396 mbr-2048.img 15646000 >/dev/null
keep mbr-2048 0:512 32768:34816; say mbr-2048 2048

# A disk filled through a bridge with 4096-byte blocks and read without it.
new mbr-4096 4000787030016
printf 'o\nx\ni\n0x00000043\nr\nn\np\n1\n256\n76805\nn\np\n2\n76806\n244250367\nn\np\n3\n244250368\n610461183\nn\np\n4\n610461184\n976754431\nw\n' |
	fdisk -b 4096 -w never mbr-4096.img >/dev/null
mke2fs -q -F -t ext4 -b 4096 -U 00000000-0000-0000-0000-000000000043 -E offset=1000449507328,lazy_itable_init=1,lazy_journal_init=1 -O ^has_journal \
	mbr-4096.img 1024 2>/dev/null
keep mbr-4096 0:512 1000449507328:1000449511424; say mbr-4096 4096

# The reverse: a table of 512-byte blocks on a device with 4096-byte ones; only the end proves it.
new mbr-512-on-4096 10G
printf 'o\nx\ni\n0x00000256\nr\nn\np\n1\n2048\n20971519\nw\n' | fdisk -b 512 -w never mbr-512-on-4096.img >/dev/null
keep mbr-512-on-4096; say mbr-512-on-4096 512

# The boot sector of a file system on a whole disk: it ends in 55 aa and is no MBR.
new boot-fat 64M; mkfs.vfat -F 32 -i 12345678 boot-fat.img >/dev/null; keep boot-fat 0:1024
new boot-ntfs 64M; mkfs.ntfs -q -F -p 0 -H 16 -S 63 boot-ntfs.img >/dev/null 2>&1; keep boot-ntfs 0:1024

# --- GPT ---
guid() { echo "00000000-0000-4000-8000-00000000000$1"; }
new gpt-512 64M
sgdisk -a 1 -U "$(guid 0)" -n 1:34:2047 -t 1:ef02 -u 1:"$(guid 1)" -n 2:2048:18431 -t 2:ef00 -u 2:"$(guid 2)" -n 3:18432:34815 -t 3:0c01 -u 3:"$(guid 3)" \
	-n 5:34816:100000 -t 5:fd00 -u 5:"$(guid 5)" -c 5:'Dätä 🖴' gpt-512.img >/dev/null
keep gpt-512; sgdisk -p gpt-512.img >"$out/gpt-512.txt"

new gpt-4096 64M
printf 'g\nn\n1\n256\n8191\nn\n2\n8192\n16000\nx\ni\n%s\nu\n1\n%s\nu\n2\n%s\nr\nw\n' "$(guid 0)" "$(guid 1)" "$(guid 2)" |
	fdisk -b 4096 -w never gpt-4096.img >/dev/null
keep gpt-4096; say gpt-4096 4096

new gpt-hybrid 64M
sgdisk -U "$(guid 0)" -n 1:2048:34815 -u 1:"$(guid 1)" -n 2:34816:100000 -u 2:"$(guid 2)" -h 2 gpt-hybrid.img >/dev/null
keep gpt-hybrid; sgdisk -p gpt-hybrid.img >"$out/gpt-hybrid.txt"

# Made where all 7814037168 sectors were visible; the test then takes the last one away.
new gpt-4tb 4000787030016
sgdisk -U "$(guid 0)" -a 1 -n 1:34:262177 -t 1:0c01 -u 1:"$(guid 1)" -a 2048 -n 2:264192:7814035455 -t 2:0700 -u 2:"$(guid 2)" gpt-4tb.img >/dev/null
keep gpt-4tb; sgdisk -p gpt-4tb.img >"$out/gpt-4tb.txt"

# --- LUKS: headers only, the key slots' material is left out ---
luks() {
	local name=$1
	shift
	new "$name" 32M
	echo -n secret | cryptsetup -q luksFormat --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file - "$@" "$name.img"
	cryptsetup luksDump "$name.img" >"$out/$name.txt"
	keep "$name" "${LUKS_KEEP:-0:32768}"
}
LUKS_KEEP=0:4096 luks luks1 --type luks1 --uuid "$(guid 1)"
sed -i '/^Key Slot/,$d; /MK/d' "$out/luks1.txt"
luks luks2 --type luks2 --uuid "$(guid 2)" --label 'My data'
luks luks2-512 --type luks2 --uuid "$(guid 3)" --sector-size 512 --offset 8192
truncate -s 64M detached-data.img
truncate -s 16M luks2-detached.img
echo -n secret | cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --key-file - --uuid "$(guid 4)" \
	--header luks2-detached.img detached-data.img
cryptsetup luksDump luks2-detached.img >"$out/luks2-detached.txt"
keep luks2-detached 0:32768

# --- bcache ---
new bcache-backing 64M; make-bcache -B bcache-backing.img --cset-uuid "$(guid 1)" >"$out/bcache-backing.txt" 2>&1; keep bcache-backing
new bcache-backing-offset 64M; make-bcache -B bcache-backing-offset.img --data-offset 2048 --cset-uuid "$(guid 1)" >"$out/bcache-backing-offset.txt" 2>&1
keep bcache-backing-offset
new bcache-cache 64M; make-bcache -C bcache-cache.img --bucket 256k --block 4k --cset-uuid "$(guid 1)" >"$out/bcache-cache.txt" 2>&1; keep bcache-cache
