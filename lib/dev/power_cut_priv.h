/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DEV_POWER_CUT_PRIV_H
#define DEV_POWER_CUT_PRIV_H

#include <pthread.h>

#include "dev/power_cut.h"

/** What happened, in the order in which it ended. */
struct power_event {
	enum dev_op op; /* DEV_WRITE or DEV_FLUSH */
	uint32_t device;
	bool failed; /* flushes */
	uint64_t offset_bytes;
	size_t length_bytes;
	uint8_t *data; /* owned; NULL for flushes */
};

struct power_disk {
	size_t size_bytes;
	uint8_t *first; /* as it was opened */
	uint8_t *live;	/* as requests see it */
	bool broken;
};

struct power_machine {
	pthread_mutex_t lock;
	struct power_disk disks[POWER_DEVICES_MAX];
	size_t disks_count;
	VEC(struct power_event) events;
	unsigned fail_ops;
	size_t fail_nth;
	size_t counted;
	enum power_failure failure;
	int error;
	bool lies;
};

#endif
