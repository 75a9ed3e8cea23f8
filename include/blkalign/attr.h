/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Attributes: the facts a node carries, each with the place it came from.
 *
 * attrs.def is the table; this header makes enumerators of it. An attribute that was not found is not set: there is no
 * number that means unknown.
 */
#ifndef BLKALIGN_ATTR_H
#define BLKALIGN_ATTR_H

#include <stdbool.h>
#include <stdint.h>

#include <blkalign/version.h>

#ifdef __cplusplus
extern "C" {
#endif

enum blkalign_attr {
#define BLKALIGN_ATTR(symbol, key, type, privacy, heading, help) BLKALIGN_ATTR_##symbol,
#include <blkalign/attrs.def>
#undef BLKALIGN_ATTR
	BLKALIGN_ATTR_COUNT
};

enum blkalign_type { BLKALIGN_TYPE_U64, BLKALIGN_TYPE_I64, BLKALIGN_TYPE_BOOL, BLKALIGN_TYPE_STR };

enum blkalign_privacy {
	BLKALIGN_PRIVACY_PLAIN,
	BLKALIGN_PRIVACY_SERIAL,
	BLKALIGN_PRIVACY_ID,
	BLKALIGN_PRIVACY_NAME,
	BLKALIGN_PRIVACY_PATH,
};

/** Where a value came from. The order is not a ranking. */
enum blkalign_origin {
	BLKALIGN_ORIGIN_SYSFS,	    /**< an attribute of /sys */
	BLKALIGN_ORIGIN_IOCTL,	    /**< asked from the kernel on an open device */
	BLKALIGN_ORIGIN_VPD,	    /**< a SCSI vital product data page */
	BLKALIGN_ORIGIN_IDENTIFY,   /**< ATA or NVMe IDENTIFY data */
	BLKALIGN_ORIGIN_CAPACITY16, /**< READ CAPACITY(16) */
	BLKALIGN_ORIGIN_ONDISK,	    /**< superblock, table or metadata on the device */
	BLKALIGN_ORIGIN_SYSTEM,	    /**< the running system: mounts, uname, installed packages */
	BLKALIGN_ORIGIN_FILE,	    /**< a property of the image file */
	BLKALIGN_ORIGIN_ASSUMED,    /**< nobody said so: --assume-... or its default */
	BLKALIGN_ORIGIN_COMPUTED,   /**< worked out by blkalign from other values */
	BLKALIGN_ORIGIN_TOOL,	    /**< the printed output of another tool */
	BLKALIGN_ORIGIN_SNAPSHOT,   /**< a snapshot that does not say more */
};

struct blkalign_value {
	enum blkalign_type type;
	enum blkalign_origin origin;
	union {
		uint64_t u64;
		int64_t i64;
		bool boolean;
		const char *str; /**< owned by the graph; raw bytes from disk, escape before printing */
	};
};

/** Row of attrs.def. All strings are static. */
struct blkalign_attr_info {
	const char *symbol;
	const char *key;
	const char *heading;
	const char *help;
	enum blkalign_type type;
	enum blkalign_privacy privacy;
};

/** The row of `attr`; `attr` must be below BLKALIGN_ATTR_COUNT. */
BLKALIGN_API const struct blkalign_attr_info *blkalign_attr_info(enum blkalign_attr attr);

/** Find an attribute by its key or (without regard to case) its heading. Returns BLKALIGN_ATTR_COUNT when there is none. */
BLKALIGN_API enum blkalign_attr blkalign_attr_find(const char *name);

/** "sysfs", "vpd", "superblock", "assumed", ... Static. */
BLKALIGN_API const char *blkalign_origin_name(enum blkalign_origin origin);

/** The reverse of blkalign_origin_name(): 0, or -EINVAL and `ret_origin` untouched. */
BLKALIGN_API int blkalign_origin_parse(const char *name, enum blkalign_origin *ret_origin);

#ifdef __cplusplus
}
#endif
#endif
