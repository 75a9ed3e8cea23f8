#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes tests/golden/fs/ again: file systems by their own mkfs, of which only the superblocks are kept, and expected.tsv with what their own tools
# read from them (dumpe2fs, xfs_db, btrfs inspect-internal, fsck.fat, zdb; blkid for types, labels and UUIDs).
#
#   make-fs.sh [ZFS_ROOT]
#
# Needs e2fsprogs xfsprogs btrfs-progs ntfs-3g dosfstools util-linux python3. ZFS labels are made by zfs-fuse (root, /dev/fuse), which is taken
# from ZFS_ROOT, a folder into which its package and libfuse2's were unpacked (dpkg -x); without it they stay as they are.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$here/fs
zfs_root=${1:-}
work=$(mktemp -d /tmp/golden.XXXXXX)
trap 'rm -rf "$work"' EXIT
table=$out/expected.tsv
uuid=01234567-89ab-cdef-0123-456789abcdef
cd "$work"

# row NAME SIZE BLOCK SECTOR STRIDE STRIPE LOG_STRIDE HIDDEN DATA_OFFSET ("-": the format has none); the rest comes from blkid
row()
{
	type=$(blkid -p -s TYPE -o value "$1.img")
	id=$(blkid -p -s UUID -o value "$1.img")
	label=$(blkid -p -s LABEL -o value "$1.img")
	printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$1" "$type" "$2" "$3" "$4" "$5" "$6" "$7" "$8" "$9" "${id:--}" "${label:--}" >>"$table"
}
keep() { n=$1; shift; "$here/keep-fs.py" "$n.img" "$out/$n" "$@"; }
image() { truncate -s "$2" "$1.img"; }

# ext NAME SIZE MKFS_OPTION...
ext()
{
	name=$1; image "$name" "$2"; shift 2
	mke2fs -q -F -U $uuid "$@" "$name.img"
	dumpe2fs -h "$name.img" >info 2>/dev/null
	get() { sed -n "s/^$1: *//p" info; }
	block=$(get 'Block size')
	stride=$(get 'RAID stride'); width=$(get 'RAID stripe width')
	row "$name" $(($(get 'Block count') * block)) "$block" - $((${stride:-0} * block)) $((${width:-0} * block)) - - -
	keep "$name" 1024:1024
}

# xfs NAME SIZE MKFS_OPTION...
xfs()
{
	name=$1; image "$name" "$2"; shift 2
	mkfs.xfs -q -f "$@" "$name.img"
	xfs_db -r -c 'sb 0' -c p "$name.img" >info
	get() { sed -n "s/^$1 = //p" info; }
	block=$(get blocksize); log=$(get logsunit)
	[ "$log" != 1 ] || log=0
	row "$name" $(($(get dblocks) * block)) "$block" "$(get sectsize)" $(($(get unit) * block)) $(($(get width) * block)) "$log" - -
	keep "$name" 0:4096
}

# btrfs NAME [OTHER_DEVICE] : dump and keep
btrfs_row()
{
	btrfs inspect-internal dump-super "$1.img" >info
	get() { awk -v k="$1" '$1 == k { print $2; exit }' info; }
	row "$1" "$(get dev_item.total_bytes)" "$(get sectorsize)" "$(get sectorsize)" - - - - -
	keep "$1" 65536:4096 67108864:4096
}

# swap NAME PAGE_BYTES
swap()
{
	image "$1" 4M
	mkswap -q -p "$2" -U $uuid -L "swap $2" "$1.img" 2>/dev/null
}
swap_row()
{
	row "$1" "$(stat -c %s "$1.img")" "$2" - - - - - -
	keep "$1" 1024:512 $(($2 - 512)):512
}

# ntfs NAME SECTOR CLUSTER HIDDEN LABEL
ntfs()
{
	image "$1" 16M
	mkfs.ntfs -q -F -f -s "$2" -c "$3" -p "$4" -H 16 -S 63 -L "$5" "$1.img" $((16777216 / $2)) >/dev/null 2>&1
	ntfsinfo -f -m "$1.img" >info
	get() { sed -n "s/^[[:space:]]*$1: *//p" info | head -1; }
	# The last sector is the backup boot sector, which the volume does not count.
	row "$1" $((16777216 - $2)) "$(get 'Cluster Size')" "$(get 'Sector Size')" - - - "$4" -
	record=$(get 'MFT Record Size')
	mft=$(($(get 'LCN of Data Attribute for FILE_MFT') * $3))
	keep "$1" 0:512 $mft:512 $((mft + 3 * record)):1024
}

# fat NAME SIZE BITS SECTOR HIDDEN LABEL MKFS_OPTION...
fat()
{
	name=$1; image "$name" "$2"; bits=$3; sector=$4; hidden=$5; label=$6; shift 6
	mkfs.vfat -F "$bits" -S "$sector" -h "$hidden" -i 1234abcd -n "$label" "$@" "$name.img" >/dev/null
	fsck.fat -n -v "$name.img" >info
	get() { sed -n "s/^ *\([0-9]*\) $1.*/\1/p;s/^$1 \([0-9]*\).*/\1/p" info | head -1; }
	data=$(sed -n 's/^Data area starts at byte \([0-9]*\).*/\1/p' info)
	root=$(sed -n 's/^Root directory starts at byte \([0-9]*\).*/\1/p' info)
	row "$name" $(($(get 'sectors total') * sector)) "$(get 'bytes per cluster')" "$sector" - - - "$hidden" "$data"
	keep "$name" 0:512 "$sector":512 "${root:-$data}":512
}

# zfs NAME: one member of a pool
zfs_row()
{
	"$zfs_root"/sbin/zdb -l "$1.img" >info
	get() { sed -n "s/^ *$1: *//p" info | head -1; }
	size=-
	[ "$(get type)" = "'raidz'" ] || [ -z "$(get asize)" ] || size=$(($(get asize) + 4194304 + 524288))
	ashift=$(get ashift)
	row "$1" "$size" - "${ashift:+$((1 << ashift))}" - - - - 4194304
	keep "$1" 16384:114688 131072:131072 278528:114688
}

printf '#name\ttype\tsize\tblock\tsector\tstride\tstripe\tlog_stride\thidden\tdata_offset\tuuid\tlabel\n' >"$work/head"
[ ! -f "$table" ] || grep '^zfs' "$table" >"$work/zfs-rows" || true
cp "$work/head" "$table"

ext ext2-1k 8M -t ext2 -b 1024 -L small
ext ext3-4k 32M -t ext3 -b 4096 -L 'with spaces '
ext ext4-raid6 64M -t ext4 -b 4096 -E stride=128,stripe_width=896 -L raid
ext ext4-nocsum 64M -t ext4 -b 1024 -O ^metadata_csum,^64bit -E stride=16,stripe_width=32
ext ext4-64k 256M -t ext4 -b 65536
ext jbd 8M -O journal_dev -b 4096
xfs xfs-default 512M -m uuid=$uuid -L sixteen-char
xfs xfs-raid6 1G -m uuid=$uuid -s size=4096 -d su=512k,sw=7 -l su=256k -L raid
xfs xfs-v4 1G -m crc=0,uuid=$uuid -b size=1024 -d su=64k,sw=3
image btrfs-single 128M; mkfs.btrfs -q -f -U $uuid -L 'a label' btrfs-single.img; btrfs_row btrfs-single
image btrfs-two 128M; image second 256M
mkfs.btrfs -q -f -U $uuid -d single -m raid1 btrfs-two.img second.img; btrfs_row btrfs-two
image btrfs-sha256 128M; mkfs.btrfs -q -f -U $uuid --csum sha256 btrfs-sha256.img; btrfs_row btrfs-sha256
image btrfs-xxhash 128M; mkfs.btrfs -q -f -U $uuid --csum xxhash btrfs-xxhash.img; btrfs_row btrfs-xxhash
for page in 4096 8192 16384 65536; do swap swap-$page $page; swap_row swap-$page $page; done
# What the kernel does when it hibernates: its signature takes the place of the other.
swap swsuspend 4096
printf 'S1SUSPEND\0' | dd of=swsuspend.img bs=1 seek=4086 conv=notrunc status=none
swap_row swsuspend 4096
ntfs ntfs-4k 512 4096 2048 'Nämé'
ntfs ntfs-64k 512 65536 63 data
ntfs ntfs-4kn 4096 4096 256 fourk
fat fat12 4M 12 512 63 FLOPPY
fat fat16 32M 16 512 2048 'TWO WORDS'
fat fat32 64M 32 512 2048 ESP -s 1
fat fat32-4kn 300M 32 4096 256 FOURK -s 1

# A format without a codec of our own.
image minix 8M; mkfs.minix -3 minix.img >/dev/null; keep minix 1024:1024

if [ -z "$zfs_root" ]; then
	cat "$work/zfs-rows" >>"$table" 2>/dev/null || true
	exit 0
fi
LD_LIBRARY_PATH=$zfs_root/lib/x86_64-linux-gnu:$zfs_root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH
mkdir -p /var/run/zfs /etc/zfs
rm -f /var/run/zfs/zfs_socket
"$zfs_root/sbin/zfs-fuse" -n >/dev/null 2>&1 &
daemon=$!
trap 'kill $daemon; rm -rf "$work"' EXIT
tries=0
while [ ! -S /var/run/zfs/zfs_socket ] && [ $tries -lt 20 ]; do sleep 0.2; tries=$((tries + 1)); done
zpool() { "$zfs_root/sbin/zpool" "$@"; }
for n in zfs-single zfs-raidz zfs-mirror zfs-spare b c d; do image $n 128M; done
zpool create -o ashift=12 -O mountpoint=none single "$work/zfs-single.img"
zpool create -o ashift=9 -O mountpoint=none wide raidz2 "$work/zfs-raidz.img" "$work/b.img" "$work/c.img"
zpool create -o ashift=13 -O mountpoint=none pair mirror "$work/zfs-mirror.img" "$work/d.img" spare "$work/zfs-spare.img"
zpool export single
zpool export wide
zpool export pair
kill $daemon
trap 'rm -rf "$work"' EXIT
for n in zfs-single zfs-raidz zfs-mirror; do zfs_row $n; done
# blkid of 2.38 does not see spares: no row.
keep zfs-spare 16384:114688
