/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * I/O limits: what drives say, what the kernel makes of it, what it hides, and what tools would choose from it.
 *
 * Everything in this folder is a pure function: no I/O, no globals that change, no allocation; safe from any thread.
 *
 *   kernel.h    which behaviour a kernel version has; version numbers
 *   limits.h    struct topo_limits; drives (SCSI, ATA, NVMe, virtio), partitions, stacking, device mapper, md
 *   truth.h     the same questions answered without the kernel's losses
 *   predict.h   where lvm2, mdadm, fdisk, parted, cryptsetup and mkfs would put things next
 *   vpd.h       SCSI vital product data and READ CAPACITY(16), decoded
 *   identify.h  ATA and NVMe identify data, decoded
 */
#ifndef TOPO_TOPO_H
#define TOPO_TOPO_H

#include "topo/identify.h"
#include "topo/kernel.h"
#include "topo/limits.h"
#include "topo/predict.h"
#include "topo/truth.h"
#include "topo/vpd.h"

#endif
