#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the seeds of the file-system fuzz targets from tests/golden/fs/. Run after make-fs.sh.
set -eu
cd "$(dirname "$0")/fs"
to=../../fuzz/corpus
seed() { mkdir -p "$to/$1"; cat >"$to/$1/$2"; }
# page NAME: a swap area's first page
page()
{
	head -c 1024 /dev/zero
	cat "$1/1024"
	head -c $(($2 - 2048)) /dev/zero
	cat "$1/$(($2 - 512))"
}
for n in ext2-1k ext3-4k ext4-raid6 ext4-nocsum jbd; do seed ext $n <$n/1024; done
for n in xfs-default xfs-v4; do head -c 512 $n/0 | seed xfs $n; done
seed xfs xfs-raid6 <xfs-raid6/0
for n in btrfs-single btrfs-two btrfs-sha256 btrfs-xxhash; do seed btrfs $n <$n/65536; done
page swap-4096 4096 | seed swap swap-4096
page swap-8192 8192 | seed swap swap-8192
page swsuspend 4096 | seed swap swsuspend
cat ntfs-4k/0 ntfs-4k/19456 | seed ntfs ntfs-4k
cat ntfs-64k/0 ntfs-64k/134144 | seed ntfs ntfs-64k
cat ntfs-4kn/0 ntfs-4kn/28672 | seed ntfs ntfs-4kn
{ cat fat12/0; head -c 512 /dev/zero; cat fat12/6656; } | seed fat fat12
{ cat fat16/0; head -c 512 /dev/zero; cat fat16/67584; } | seed fat fat16
cat fat32/0 fat32/512 fat32/1049600 | seed fat fat32
for n in zfs-single zfs-raidz zfs-mirror zfs-spare; do seed zfs $n <$n/16384; done
