/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * LVM2: label and physical volume header, metadata areas, and the volume group that their text describes.
 *
 * Source of the facts: lvm2's lib/format_text and lib/label, checked against images made by lvm2 2.03. Errors: -EBADMSG for a wrong checksum, -EPROTO for content that lvm2
 * would not write, -E2BIG beyond a cap below, -ENOMEM; and what dev_read() returns. Nothing here writes: encoders fill buffers. No function keeps state; different threads
 * may call them at once.
 */
#ifndef FORMAT_LVM2_H
#define FORMAT_LVM2_H

#include "dev/dev.h"

#define LVM2_ID_LENGTH	   32U
#define LVM2_ID_TEXT	   39U /* 6-4-4-4-4-4-6 with hyphens and terminator */
#define LVM2_AREAS_MAX	   16U
#define LVM2_MDA_MIN_BYTES (4 * KIB)
#define LVM2_MDA_MAX_BYTES GIB
#define LVM2_TEXT_MAX	   (32 * MIB)
#define LVM2_TEXT_MEMORY   (36 * MIB) /* a text and its entries: as lvm2 writes them, of more volumes than are read */
#define LVM2_SECTION_DEPTH 16U
#define LVM2_PVS_MAX	   65536U
#define LVM2_LVS_MAX	   32768U
#define LVM2_SEGMENTS_MAX  131072U
#define LVM2_STRIPES_MAX   128U /* areas of one segment */
#define LVM2_NAME_MAX	   128U
#define LVM2_VOLUME_DEPTH  16U /* volumes made of volumes */

struct lvm2_area {
	uint64_t offset_bytes; /* from the start of the device */
	uint64_t size_bytes;   /* data area: 0 means to the end */
};

struct lvm2_areas {
	unsigned count;
	struct lvm2_area area[LVM2_AREAS_MAX];
};

struct lvm2_label {
	char pv_id[LVM2_ID_LENGTH + 1];
	uint64_t sector; /* where the label was found, 0 to 3 */
	uint64_t device_size_bytes;
	struct lvm2_areas data;
	struct lvm2_areas metadata;
	struct lvm2_areas bootloader;
	uint32_t extension_version; /* 0: none */
	uint32_t extension_flags;   /* bit 0: used by a volume group */
	bool another;		    /* a later sector holds a second valid label that differs: lvm2 uses the first, and so do we */
};

/** One 512-byte sector. 0, BLKALIGN_NOT_THIS when it holds no label, or an error. */
int lvm2_label_decode(const uint8_t sector[512], uint64_t sector_number, struct lvm2_label *ret_label, struct blkalign_error *reterr);
/** The first good label in sectors 0 to 3. BLKALIGN_NOT_THIS when there is none; the error of the first bad one when there is no good one. */
int lvm2_label_read(struct dev *dev, struct lvm2_label *ret_label, struct blkalign_error *reterr);

struct lvm2_location {
	uint64_t offset_bytes; /* from the start of the area, in its ring */
	uint64_t size_bytes;   /* with the terminating NUL; 0: no text here */
	uint32_t checksum;
	bool ignored;
};

struct lvm2_mda {
	uint64_t offset_bytes; /* of the area on the device */
	uint64_t size_bytes;
	struct lvm2_location committed;
	struct lvm2_location precommitted; /* a write was under way; not for readers */
};

/** The header at the start of a metadata area on a device of `device_size_bytes`. */
int lvm2_mda_decode(const uint8_t header[512], uint64_t offset_bytes, uint64_t device_size_bytes, struct lvm2_mda *ret_mda,
		    struct blkalign_error *reterr);
int lvm2_mda_read(struct dev *dev, uint64_t offset_bytes, struct lvm2_mda *ret_mda, struct blkalign_error *reterr);
/** The committed text, checksum verified, trailing NULs cut; freed by the caller. BLKALIGN_ABSENT when the area holds none. */
int lvm2_text_read(struct dev *dev, const struct lvm2_mda *mda, char **ret_text, size_t *ret_length, struct blkalign_error *reterr);

/* --- what is left of earlier texts --- */

#define LVM2_LEFT_MAX 65536U /* texts of one area */

/** A text that begins in the ring of an area, whether or not the area's header speaks of it. */
struct lvm2_left {
	struct lvm2_location
		location;    /* its checksum is that of the bytes found; nothing on disk says what it should be, unless the header does */
	const char *vg_name; /* as its first lines say, also of one that is not whole */
	char vg_id[LVM2_ID_LENGTH + 1];
	uint64_t seqno;
	const char *why_not_whole; /* NULL: it is there to its end, and lvm2_vg_decode() takes it */
	const char *description;   /* of whole ones, where they say so; likewise the next */
	const char *written_on;
	uint64_t written_unix; /* or BLKALIGN_UNKNOWN */
	bool lists_pv;	       /* whole, and the PV asked about is one of the group's */
};
struct lvm2_ring {
	VEC(struct lvm2_left) found; /* in the order in which they lie there */
	uint64_t unreadable_sectors512;
	bool more; /* than are kept */
	struct arena *arena;
};
/**
 * All texts that begin in the ring of `mda`, of which only the place is looked at. Every text of lvm2 begins with a sector, and with name, id and sequence number of its group.
 * `pv_id` may be NULL. Sectors that cannot be read end a text; 0, -ENOMEM.
 */
int lvm2_ring_search(struct dev *dev, const struct lvm2_mda *mda, const char *pv_id, struct lvm2_ring *ret_ring);
void lvm2_ring_done(struct lvm2_ring *ring);
#define _cleanup_lvm2_ring_ _cleanup_(lvm2_ring_done)

/* --- the volume group --- */

enum lvm2_segment_type {
	LVM2_STRIPED, /* and linear: one stripe */
	LVM2_MIRROR,
	LVM2_RAID0,
	LVM2_RAID1,
	LVM2_RAID_PARITY, /* raid4, raid5*, raid6* */
	LVM2_RAID10,
	LVM2_SNAPSHOT,
	LVM2_THIN_POOL,
	LVM2_THIN,
	LVM2_CACHE_POOL,
	LVM2_CACHE,
	LVM2_WRITECACHE,
	LVM2_INTEGRITY,
	LVM2_VDO_POOL,
	LVM2_VDO,
	LVM2_ERROR,
	LVM2_ZERO,
	LVM2_UNKNOWN, /* a type, or a flag of a type, that this reader does not know */
};

/** What a segment uses another volume for. */
enum lvm2_role {
	LVM2_ROLE_DATA,	    /* stripe, mirror leg, raid image, data of a pool */
	LVM2_ROLE_METADATA, /* raid metadata of the same slot, metadata of a pool */
	LVM2_ROLE_LOG,	    /* mirror log */
	LVM2_ROLE_ORIGIN,   /* what a snapshot, cache or integrity layer lies over */
	LVM2_ROLE_COW,	    /* exception store of a snapshot */
	LVM2_ROLE_POOL,	    /* thin, cache or vdo pool; the fast volume of a writecache */
	LVM2_ROLE_HISTORY,  /* where a thin volume was cloned from: nothing lies there */
};

struct lvm2_ref {
	enum lvm2_role role;
	uint32_t slot;	 /* among those of the same role */
	uint32_t index;	 /* in pvs or lvs */
	uint64_t extent; /* where the area begins there */
	bool on_pv;
};

/** How md understands a raid type. */
struct lvm2_raid {
	const char *level; /* "raid0", ... as md names it */
	const char *layout_name;
	uint32_t layout; /* md's number; raid10 adds the copies */
	uint32_t parity; /* areas that hold no data */
};

struct lvm2_segment {
	enum lvm2_segment_type type;
	const char *type_name;	      /* as written, without flags; "linear" for one stripe; with flags when unknown */
	const struct lvm2_raid *raid; /* NULL for types that are no raid */
	uint64_t start_extent;
	uint64_t extent_count;
	uint64_t reshape_extents; /* part of extent_count that is room for a reshape, not data */
	uint64_t stripe_bytes;	  /* chunk; 0 with one stripe */
	uint64_t region_bytes;	  /* of the mirror or raid log, 0: none */
	uint64_t chunk_bytes;	  /* of snapshots and pools, 0: none */
	uint64_t transaction_id;  /* thin and thin-pool */
	uint32_t device_id;	  /* thin: in the pool's metadata */
	uint32_t data_areas;	  /* refs with role data */
	uint32_t data_copies;	  /* raid10, raid1 and mirror; else 1 */
	bool zeroes;		  /* thin pool: new blocks are zeroed */
	bool merging;		  /* snapshot that is being merged into its origin */
	bool writes_through;	  /* cache and cache pool: whatever is written goes to the origin as well, or only there */
	/* cache whose pool is one volume for both: where they are in it; size 0 otherwise */
	struct lvm2_area cache_metadata, cache_data;
	struct lvm2_ref *refs;
	uint32_t ref_count;
};

enum lvm2_flag {
	LVM2_READ = 1 << 0,
	LVM2_WRITE = 1 << 1,
	LVM2_VISIBLE = 1 << 2,
	LVM2_EXPORTED = 1 << 3,
	LVM2_CLUSTERED = 1 << 4,
	LVM2_SHARED = 1 << 5,
	LVM2_MISSING = 1 << 6,	     /* the PV was absent when the text was written */
	LVM2_REBUILD = 1 << 7,	     /* raid image whose content is not there yet */
	LVM2_NOTSYNCED = 1 << 8,     /* parity or copies were never made equal */
	LVM2_CACHE_VOL = 1 << 9,     /* cache data and metadata in one volume */
	LVM2_OTHER = 1 << 10,	     /* known to lvm2, of no consequence for a reader */
	LVM2_WRITE_MOSTLY = 1 << 11, /* raid1 image that is read only when no other one can be */
	LVM2_ALLOCATABLE = 1 << 12,  /* PV: new volumes may be put there */
	LVM2_RESIZEABLE = 1 << 13,
	LVM2_FIXED_MINOR = 1 << 14,
	LVM2_LOCKED = 1 << 15,		/* against changes of where it lies */
	LVM2_ACTIVATION_SKIP = 1 << 16, /* left out where all volumes of a group are activated */
};

struct lvm2_pv {
	const char *key; /* name within this text */
	char id[LVM2_ID_LENGTH + 1];
	const char *device;	 /* a hint where it was last seen, or NULL */
	uint64_t size_bytes;	 /* 0: not stated */
	uint64_t pe_start_bytes; /* of the first extent */
	uint64_t pe_count;
	struct lvm2_area bootloader; /* size 0: none */
	uint32_t flags;
	const char *tags; /* with commas between them; NULL: none */
};

struct lvm2_lv {
	const char *name;
	char id[LVM2_ID_LENGTH + 1];
	uint32_t flags;
	bool internal; /* a part of another volume, or not visible */
	uint64_t extents;
	uint64_t size_bytes;	       /* without room for a reshape */
	struct lvm2_segment *segments; /* ascending, without gaps; at least one */
	uint32_t segment_count;
	const char *tags;	/* as of PVs */
	const char *allocation; /* "normal", "cling", ...; NULL: the group's */
	const char *created_on; /* host; NULL: not said */
	uint64_t created_unix;	/* 0: not said */
};

struct lvm2_vg {
	const char *name;
	char id[LVM2_ID_LENGTH + 1];
	uint64_t seqno;
	uint64_t extent_bytes;
	uint32_t flags;
	const char *system_id; /* NULL: none */
	const char *lock_type; /* NULL: none */
	const char *tags;
	const char *allocation;
	uint64_t max_lvs, max_pvs; /* 0: no limit */
	uint64_t metadata_copies;  /* 0: lvm2 does not care how many areas are in use */
	/* what the end of the text says of how it came to be */
	const char *description; /* NULL: not said; likewise the next */
	const char *written_on;	 /* host */
	uint64_t written_unix;	 /* BLKALIGN_UNKNOWN: not said */
	struct lvm2_pv *pvs;
	uint32_t pv_count;
	struct lvm2_lv *lvs;
	uint32_t lv_count;
	uint32_t *order;     /* of lvs: each comes after those it lies on */
	struct arena *arena; /* owns all of it */
};

/**
 * The text of one volume group. Checked: grammar, every number, known status words, ids, names, that segments lie within the volume groups' PVs and
 * volumes without overlap, and that no volume lies on itself. `reterr` names the place by line and column.
 */
int lvm2_vg_decode(const char *text, size_t length, struct lvm2_vg **ret_vg, struct blkalign_error *reterr);
/** NULL is accepted. */
void lvm2_vg_free(struct lvm2_vg *vg);
static inline void lvm2_vg_freep(struct lvm2_vg **vg) { lvm2_vg_free(*vg); }
#define _cleanup_lvm2_vg_ _cleanup_(lvm2_vg_freep)

/** Extents that `ref` of `segment` takes where it lies; 0: not known, the volume is used whole. */
uint64_t lvm2_extents_taken(const struct lvm2_segment *segment, const struct lvm2_ref *ref);

/** 32 characters of 0-9 a-z A-Z ! # */
bool lvm2_id_valid(const char id[LVM2_ID_LENGTH]);
/** As lvm2 prints an id. */
void lvm2_id_format(char ret[LVM2_ID_TEXT], const char id[LVM2_ID_LENGTH]);

/* --- writing: bytes as lvm2 writes them --- */

/** The label's sector: `label->sector` is its number. -E2BIG when the lists do not fit the sector. */
int lvm2_label_encode(const struct lvm2_label *label, uint8_t ret_sector[512]);
/** The header at the start of an area: locations of size 0 are left out. */
void lvm2_mda_encode(const struct lvm2_mda *mda, uint8_t ret_header[512]);
/** Of a text as it stands on disk. */
uint32_t lvm2_checksum(const void *data, size_t length);

/** Where the next text goes, and how. A text that reaches the end of the area goes on behind its header. */
struct lvm2_room {
	struct lvm2_location location; /* of the new text */
	uint64_t first_bytes;	       /* of it that lie before the end of the area; the rest begins at byte 512 */
};
/**
 * Behind the committed text, as lvm2 does (format_text.c, _next_rlocn_offset()), so that it stays whole. -ENOSPC when old and new do not fit the area together, rounded up to
 * sectors. `length` counts the terminating NUL.
 */
int lvm2_mda_room(const struct lvm2_mda *mda, const char *text, size_t length, struct lvm2_room *ret_room);

/** A text that is being changed. What this reader does not understand in it stays as it was. */
struct lvm2_edit;
/** `text` is copied. */
int lvm2_edit_open(const char *text, size_t length, struct lvm2_edit **ret_edit, struct blkalign_error *reterr);
/** A volume group without PVs and volumes, sequence number 0: from `vg` its name, id and extent size. */
int lvm2_edit_new(const struct lvm2_vg *vg, struct lvm2_edit **ret_edit);
void lvm2_edit_free(struct lvm2_edit *edit);
static inline void lvm2_edit_freep(struct lvm2_edit **edit) { lvm2_edit_free(*edit); }
#define _cleanup_lvm2_edit_ _cleanup_(lvm2_edit_freep)

/** Of `pv` all but flags: it is allocatable. Its key must be new. */
int lvm2_edit_add_pv(struct lvm2_edit *edit, const struct lvm2_pv *pv);

struct lvm2_new_segment {
	const char *type; /* as it is written: "striped", "raid5", ... */
	uint64_t start_extent;
	uint64_t extent_count;
	uint64_t stripe_bytes; /* 0: none is written */
	uint64_t region_bytes; /* likewise */
	uint32_t data_copies;  /* likewise */
	/** Of a striped segment: PVs with the extent where each area begins. Of raid types: volumes, metadata and image in turn. */
	const struct lvm2_new_area {
		const char *name;
		uint64_t extent;
	} * areas;
	uint32_t area_count;
};
struct lvm2_new_lv {
	const char *name;
	char id[LVM2_ID_LENGTH + 1];
	bool visible;
	uint64_t created_unix;
	const char *created_on; /* host name */
	const struct lvm2_new_segment *segments;
	uint32_t segment_count;
};
int lvm2_edit_add_lv(struct lvm2_edit *edit, const struct lvm2_new_lv *lv);
int lvm2_edit_set_seqno(struct lvm2_edit *edit, uint64_t seqno);

/** What the end of a text says of who wrote it. */
struct lvm2_signature {
	const char *description;
	const char *host;
	const char *system; /* for a comment behind the host */
	uint64_t unix_time;
};
/**
 * As it goes to disk, byte by byte as lvm2 lays it out, the group first; `*ret_length` counts the terminating NUL. Freed by the caller. -E2BIG beyond
 * LVM2_TEXT_MAX.
 */
int lvm2_edit_text(struct lvm2_edit *edit, const struct lvm2_signature *signature, char **ret_text, size_t *ret_length);

/** A fresh id from the kernel's random numbers: 0 or negative errno. */
int lvm2_id_make(char ret[LVM2_ID_LENGTH + 1]);
/** Why `name` cannot be a volume group's or, with `volume`, a volume's, by lvm2's rules (lib/misc/lvm-string.c), or NULL. Static. */
const char *lvm2_name_refusal(const char *name, bool volume);

#endif
