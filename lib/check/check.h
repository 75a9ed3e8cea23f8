/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What the judge and the rules share: the graph, the report, and for each node what is believed of it.
 *
 * A run of blkalign_check() is: facts, the judge's walk over all maps, then the rules. Everything is read-only but the report.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "check/hint.h"
#include "check/report.h"
#include "graph/graph.h"
#include "topo/topo.h"

/** A unit that data should not straddle: boundaries at offset + n x bytes. */
struct grain {
	uint64_t bytes;	       /**< 0 when there is none */
	uint64_t offset_bytes; /**< of the first boundary, below `bytes` */
};

/** Distance of `position` past the boundary before it; 0 on a boundary. */
static inline uint64_t grain_residue(const struct grain *grain, uint64_t position)
{
	return topo_misalignment(position, grain->bytes, grain->offset_bytes);
}

enum boundary { BOUNDARY_PHYSICAL, BOUNDARY_CHUNK, BOUNDARY_STRIPE, BOUNDARIES };

/** Why a node is not judged. */
enum exempt {
	EXEMPT_NO,
	EXEMPT_CONTAINER,  /**< holds no data of its own: extended, BIOS boot, reserved, protective */
	EXEMPT_WRONG_UNIT, /**< its place was read in the wrong unit */
	EXEMPT_PHANTOM,	   /**< seen through the wrong device */
};

/** A node with more ways down is not walked: an honest one has some hundreds. */
#define PATHS_MAX 250000U

struct facts {
	uint64_t logical_bytes; /**< of this device as the next assembly would have it; 0 when not known */
	uint32_t paths;		/**< ways down from here, counted up to PATHS_MAX */
	const char *name;	/**< safe for a terminal; made on first use by check_name() */
	struct grain grains[BOUNDARIES];
	const char *physical_source; /**< where the physical block comes from: "sysfs", "assumed", ... */
	uint64_t physical_reported;  /**< what the kernel says, or BLKALIGN_UNKNOWN */
	bool physical_assumed;	     /**< nobody said so */
	bool crossing_costs;	     /**< a write across two chunks costs: striping or parity */
	uint64_t optimal_bytes;	     /**< the hint in question; 0 when there is none */
	enum hint_shape hint;
	bool hint_dropped;    /**< the kernel threw it away */
	bool hint_inherited;  /**< a device below has the same trouble and answers for it */
	bool bogus_below;     /**< some device below has a bogus hint */
	bool read_ahead_told; /**< read-ahead of this device or one below was reported */
	bool hint_obeyed;     /**< something on disk was placed by it */
	bool hint_harms;      /**< ... across physical blocks */
	bool hint_betrayed;   /**< a hint that is gone was told by its fingerprint */
	bool misplaced;	      /**< data on or above this node lies across physical blocks */
	enum exempt exempt;
	uint32_t blames[BOUNDARIES]; /**< index + 1 of the blame with this node as the guilty layer (or the PV whose extents are) */
};

/** A layer whose own offset puts data off a boundary, and who suffers. One per guilty node and boundary. */
struct blame {
	enum boundary boundary;
	const struct blkalign_node *guilty;
	const struct blkalign_node *below;  /**< the device directly below the guilty layer */
	const struct blkalign_node *on;	    /**< the device whose boundary is missed */
	const struct blkalign_node *hinted; /**< device whose bogus hint explains the offset, or NULL */
	const struct blkalign_node *victim; /**< first node whose data is off */
	uint64_t hint_bytes;		    /**< that hint */
	uint64_t own_bytes;		    /**< the guilty layer's own offset */
	uint64_t position_bytes;	    /**< of the first victim's data on `on` */
	uint64_t residue_bytes;
	struct grain grain;
	uint32_t victims;
};

struct recomputed;

struct check {
	const struct blkalign_graph *graph;
	const struct blkalign_node *host; /**< or NULL */
	struct blkalign_report *report;
	struct facts *facts;	   /**< by node index */
	struct recomputed *limits; /**< by node index: recompute.h */
	VEC(struct blame) blames;
	struct graph_places way; /**< below the byte that is being judged */
	struct strbuf line;	 /**< of the node that is being judged */
	uint64_t places;	 /**< walked so far, for the bound on hostile graphs */
	bool contents_known;	 /**< contents of devices were looked at: an empty partition is empty */
	bool failed;		 /**< out of memory */
};

static inline struct facts *facts_of(const struct check *c, const struct blkalign_node *node)
{
	return &c->facts[blkalign_node_index(node)];
}
/** The node's name, safe for a terminal. */
const char *check_name(struct check *c, const struct blkalign_node *node);
/** Report without cause, price and remedy. */
void check_report(struct check *c, enum finding finding, enum impact impact, const struct blkalign_node *node, uint64_t found_bytes,
		  uint64_t expected_bytes, const char *message);
static inline bool attr_is(const struct blkalign_node *node, enum blkalign_attr attr, const char *text)
{
	const char *value = blkalign_node_str(node, attr);

	return value && !strcmp(value, text);
}
/** True for U64 values that are known and not 0. */
static inline bool is_set(uint64_t value) { return value && value != BLKALIGN_UNKNOWN; }

/** What is believed of every node of `graph`, which must outlive it: the facts, without judging. 0 or -ENOMEM; check_end() is due in both cases. */
int check_begin(struct check *c, const struct blkalign_graph *graph);
void check_end(struct check *c);
#define _cleanup_check_ _cleanup_(check_end)

/** Fill facts for all nodes. */
void facts_collect(struct check *c);
/** True for an edge over which no data flows: spares, stale and faulty members, journals. */
bool edge_is_idle(const struct blkalign_edge *edge);

/** The drive (or the lowest device that is known) under byte 0 of `node`. */
const struct blkalign_node *drive_below(const struct blkalign_node *node);
/** False when a layer on the way down has a start that nobody told. */
bool is_placed(const struct blkalign_node *node);
/** The nearest device under a simple one-piece way down that has a chunk of its own, or NULL. */
const struct blkalign_node *geometry_below(const struct check *c, const struct blkalign_node *node);
/** The device directly below, or NULL. */
static inline const struct blkalign_node *below(const struct blkalign_node *node)
{
	return blkalign_node_edges(node) ? blkalign_node_edge(node, 0)->lower : NULL;
}

/** Walk all maps: layer lines into the report, blames into `c`. */
void judge_graph(struct check *c);
/** Turn the blames into findings. */
void judge_report(struct check *c);

#endif
