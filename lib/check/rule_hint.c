/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Optimal and minimum I/O size. A bogus hint is a warning while it can still do harm: something on disk was placed by it, read-ahead follows it, or
 * the device is empty and the next tool will ask. Where everything lies well already it is a note, or half the world's USB disks would be in alarm.
 */
#include <inttypes.h>
#include <strings.h>

#include "check/read_ahead.h"
#include "check/recompute.h"
#include "check/remedy.h"
#include "check/rules.h"
#include "check/tools.h"

static bool mentions(const struct blkalign_node *n, enum blkalign_attr attr, const char *word)
{
	const char *text = blkalign_node_str(n, attr);

	return text && strcasestr(text, word);
}

static bool is_virtual(const struct check *c, const struct blkalign_node *n)
{
	const char *hypervisor = c->host ? blkalign_node_str(c->host, BLKALIGN_ATTR_HYPERVISOR) : NULL;

	if (mentions(n, BLKALIGN_ATTR_MODEL, "MSFT") || mentions(n, BLKALIGN_ATTR_VENDOR, "Msft") ||
	    mentions(n, BLKALIGN_ATTR_MODEL, "virtual") || mentions(n, BLKALIGN_ATTR_VENDOR, "QEMU") ||
	    mentions(n, BLKALIGN_ATTR_VENDOR, "VMware") || attr_is(n, BLKALIGN_ATTR_TRANSPORT, "virtio"))
		return true;
	return hypervisor && strcmp(hypervisor, "none") != 0;
}

static bool is_usb(const struct blkalign_node *n)
{
	return attr_is(n, BLKALIGN_ATTR_TRANSPORT, "usb") || attr_is(n, BLKALIGN_ATTR_DRIVER, "uas") ||
	       attr_is(n, BLKALIGN_ATTR_DRIVER, "usb-storage") || blkalign_node_str(n, BLKALIGN_ATTR_USB_ID);
}

static bool is_network(const struct blkalign_node *n)
{
	return attr_is(n, BLKALIGN_ATTR_TRANSPORT, "iscsi") || attr_is(n, BLKALIGN_ATTR_TRANSPORT, "fc") ||
	       attr_is(n, BLKALIGN_ATTR_TRANSPORT, "srp");
}

static bool is_sas_host(const struct blkalign_node *n)
{
	return mentions(n, BLKALIGN_ATTR_DRIVER, "mpt") || mentions(n, BLKALIGN_ATTR_DRIVER, "sas") ||
	       attr_is(n, BLKALIGN_ATTR_TRANSPORT, "sas");
}

/* Who makes the value up, as far as the facts tell. */
static const char *source_of(struct check *c, const struct blkalign_node *n)
{
	const char *id = blkalign_node_str(n, BLKALIGN_ATTR_USB_ID);
	const struct facts *f = facts_of(c, n);

	if (is_usb(n) && id)
		return report_text(c->report, "the USB bridge %s, not the drive", report_escaped(c->report, id));
	if (is_usb(n))
		return "the USB bridge, not the drive";
	if (is_virtual(c, n))
		return "the hypervisor's virtual controller";
	if (is_network(n))
		return "the storage target";
	if (f->hint == HINT_LIMIT && (is_sas_host(n) || f->optimal_bytes / (16 * MIB - 4096) == 1))
		return "the host adapter's driver, most likely (Linux 6.11 until 6.12.97 and 6.1.178 takes its transfer limit for a hint)";
	if (blkalign_node_kind(n) == BLKALIGN_KIND_MD)
		return "a bad hint of a member, most likely, that the kernel multiplied with the stripe";
	if (attr_is(n, BLKALIGN_ATTR_TRANSPORT, "nvme") || !strncmp(blkalign_node_name(n), "nvme", 4))
		return "the NVMe controller, a real one or a hypervisor's";
	if (f->hint == HINT_SATURATED)
		return "a bridge between drive and host, most likely";
	return "the device or its controller";
}

/* An empty partition on which the next tool would work; only where contents are looked at at all is emptiness known. */
static bool has_empty_partition(const struct check *c, const struct blkalign_node *n)
{
	if (!c->contents_known)
		return false;
	for (size_t i = 0; i < blkalign_node_uppers(n); i++) {
		const struct blkalign_node *upper = blkalign_node_upper(n, i);

		if (blkalign_node_kind(upper) == BLKALIGN_KIND_PARTITION && !blkalign_node_uppers(upper) &&
		    facts_of(c, upper)->exempt == EXEMPT_NO)
			return true;
	}
	return false;
}

/* Nothing is known to lie on it. Volumes are made to be filled: of them only a look inside tells. */
static bool is_empty(const struct check *c, const struct blkalign_node *n)
{
	return !blkalign_node_uppers(n) && (c->contents_known || blkalign_node_kind(n) == BLKALIGN_KIND_DISK);
}

struct outlook {
	enum impact impact;
	const char *words;
};

static struct outlook outlook_of_empty(const struct tools_answer *tools)
{
	if (tools->obeys)
		return (struct outlook){ IMPACT_MISLEADS, tools->obeys };
	if (tools->known)
		return (struct outlook){ IMPACT_NONE,
					 "nothing lies on the device yet, and the tools of this host know better than to obey" };
	return (struct outlook){ IMPACT_MISLEADS, "nothing lies on the device yet, and tools that ask it would obey" };
}

static struct outlook outlook_of(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	struct tools_answer tools = { 0 };

	if (f->hint_dropped)
		return (struct outlook){ IMPACT_NONE, "the kernel has thrown it away already: harmless here, harmful on older kernels" };
	if (f->hint_harms)
		return (struct outlook){ IMPACT_MISLEADS, "something on disk was placed by it and is off" };
	if (read_ahead_inflated_by(n, f->optimal_bytes))
		return (struct outlook){ IMPACT_MISLEADS, "read-ahead follows it now" };
	if (MIB % f->optimal_bytes == 0)
		return (struct outlook){ IMPACT_NONE, "starts at multiples of 1 MiB satisfy it all the same" };
	if (is_empty(c, n)) {
		tools = tools_on_disk(c, n);
		return outlook_of_empty(&tools);
	}
	if (has_empty_partition(c, n))
		tools = tools_on_partition(c, n);
	if (tools.obeys)
		return (struct outlook){ IMPACT_MISLEADS, report_text(c->report, "a partition is empty, and %s", tools.obeys) };
	if (f->hint_obeyed)
		return (struct outlook){ IMPACT_NONE, "something on disk was placed by it, without harm" };
	return (struct outlook){ IMPACT_NONE, "nothing on disk was placed by it, so nothing has to change" };
}

static uint64_t hint_below(const struct check *c, const struct blkalign_node *n)
{
	uint64_t optimal = facts_of(c, n)->optimal_bytes;

	return optimal ? optimal : facts_of(c, drive_below(n))->optimal_bytes;
}

/* No hint below is nonsense by itself: the first whose least common multiple with the stripe is no stripe any more. */
static const struct blkalign_node *odd_one(const struct check *c, const struct blkalign_node *n)
{
	uint64_t stripe = facts_of(c, n)->grains[BOUNDARY_STRIPE].bytes;

	for (size_t i = 0; stripe && i < blkalign_node_edges(n); i++) {
		const struct blkalign_node *lower = blkalign_node_edge(n, i)->lower;
		uint64_t hint = hint_below(c, lower);

		if (hint && topo_true_opt(stripe, &hint, 1).lcm_bytes >= 64 * MIB)
			return drive_below(lower);
	}
	return n;
}

/* How the garbage came about: the stripe, what was multiplied into it, and whether the kernel's own arithmetic gives exactly this. */
static const char *poison_words(struct check *c, const struct blkalign_node *n, const struct blkalign_node *cause)
{
	const struct facts *f = facts_of(c, n);
	const struct recomputed *limits = &c->limits[blkalign_node_index(n)];
	uint64_t stripe = f->grains[BOUNDARY_STRIPE].bytes, hint = hint_below(c, cause);
	struct topo_true_opt opt;

	if (f->hint != HINT_POISONED || cause == n || !stripe || !hint)
		return "";
	opt = topo_true_opt(stripe, &hint, 1);
	return report_text(c->report, "; the true stripe is %" PRIu64 ", %s claims %" PRIu64 "%s%s", stripe, check_name(c, cause), hint,
			   opt.cut ? ", and their least common multiple does not fit into the kernel's 32 bits" : "",
			   limits->is_worked && limits->worked.opt_bytes == f->optimal_bytes
				   ? " (worked out step by step it gives exactly this value)"
				   : "");
}

/* The device below with whose bad hint this one was multiplied. */
static const struct blkalign_node *poisoner(const struct check *c, const struct blkalign_node *n)
{
	for (size_t i = 0; i < blkalign_node_edges(n); i++) {
		const struct blkalign_node *lower = blkalign_node_edge(n, i)->lower;
		const struct facts *f = facts_of(c, lower);

		if (hint_is_bogus(f->hint) && !f->hint_inherited)
			return lower;
		if (f->bogus_below)
			return drive_below(lower);
	}
	return facts_of(c, n)->hint == HINT_POISONED ? odd_one(c, n) : n;
}

static void report_bogus(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	const struct blkalign_node *cause = poisoner(c, n);
	struct outlook outlook = outlook_of(c, n);
	uint64_t block = f->grains[BOUNDARY_PHYSICAL].bytes;
	const char *from = cause != n ? check_name(c, cause) : source_of(c, n);

	report_add(c->report,
		   &(struct draft){
			   .finding = FINDING_BOGUS_OPTIMAL_IO,
			   .impact = outlook.impact,
			   .node = n,
			   .cause = cause,
			   .found_bytes = f->optimal_bytes,
			   .expected_bytes = f->grains[BOUNDARY_STRIPE].bytes,
			   .message = report_text(c->report, "optimal_io_size %" PRIu64 " of %s is %s%s%s; made up by %s; %s",
						  f->optimal_bytes, check_name(c, n), hint_shape_text(f->hint),
						  block && f->optimal_bytes % block
							  ? ", and starts at its multiples put 4 KiB writes across two physical blocks"
							  : "",
						  poison_words(c, n, cause), from, outlook.words),
			   .remedy = f->hint_dropped ? NULL : remedy_for_hint(c, n),
		   });
}

void hint_betrayed(struct check *c, const struct blkalign_node *n, uint64_t hint_bytes)
{
	struct facts *f = facts_of(c, n);

	if (hint_is_bogus(f->hint) || f->hint_betrayed)
		return;
	f->hint_betrayed = true;
	check_report(c, FINDING_BOGUS_OPTIMAL_IO, IMPACT_NONE, n, hint_bytes, BLKALIGN_UNKNOWN,
		     report_text(c->report,
				 "%s shows no such hint now, but what lies on it was laid out by an optimal_io_size of %" PRIu64
				 ": it was attached by another bridge or port then",
				 check_name(c, n), hint_bytes));
}

static void report_genuine(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);
	uint64_t minimum = blkalign_node_u64(n, BLKALIGN_ATTR_MINIMUM_IO);
	const char *disks = "";

	if (is_set(minimum) && minimum > 4096 && minimum < f->optimal_bytes && f->optimal_bytes % minimum == 0)
		disks = report_text(c->report, " = %" PRIu64 " x %" PRIu64, f->optimal_bytes / minimum, minimum);
	report_add(c->report,
		   &(struct draft){
			   .finding = FINDING_LEGITIMATE_STRIPE,
			   .impact = IMPACT_NONE,
			   .node = n,
			   .found_bytes = f->optimal_bytes,
			   .expected_bytes = f->optimal_bytes,
			   .message = report_text(
				   c->report,
				   "optimal_io_size %" PRIu64
				   "%s of %s is plausible geometry%s; starts on the chunk are good, starts on the stripe are better",
				   f->optimal_bytes, disks, check_name(c, n),
				   is_power_of_2(f->optimal_bytes) ? "" : " although it is no power of two"),
		   });
}

void rule_hint(struct check *c, const struct blkalign_node *n)
{
	const struct facts *f = facts_of(c, n);

	if (f->hint_inherited)
		return;
	if (hint_is_bogus(f->hint))
		report_bogus(c, n);
	else if (f->hint == HINT_STRIPE || (f->hint == HINT_DIVIDES_MIB && f->grains[BOUNDARY_CHUNK].bytes))
		report_genuine(c, n);
}

static void report_saturated_minimum(struct check *c, const struct blkalign_node *n, uint64_t minimum)
{
	check_report(c, FINDING_BOGUS_MINIMUM_IO, IMPACT_NONE, n, minimum, facts_of(c, drive_below(n))->grains[BOUNDARY_PHYSICAL].bytes,
		     report_text(c->report,
				 "minimum_io_size %" PRIu64
				 " of %s is a transfer limit or a field at its end stop, no chunk, and is ignored here",
				 minimum, check_name(c, n)));
}

void rule_minimum(struct check *c, const struct blkalign_node *n)
{
	uint64_t minimum = blkalign_node_u64(n, BLKALIGN_ATTR_MINIMUM_IO), physical = blkalign_node_u64(n, BLKALIGN_ATTR_PHYSICAL_BLOCK);

	if (!is_set(minimum) || !is_set(physical))
		return;
	if (minimum % physical == 0) {
		if (hint_fingerprint(minimum))
			report_saturated_minimum(c, n, minimum);
		return;
	}
	report_add(c->report,
		   &(struct draft){
			   .finding = FINDING_BOGUS_MINIMUM_IO,
			   .impact = IMPACT_NONE,
			   .node = n,
			   .found_bytes = minimum,
			   .expected_bytes = physical,
			   .message = report_text(
				   c->report,
				   "minimum_io_size %" PRIu64 " of %s is %s the physical block of %" PRIu64 " and is ignored here%s",
				   minimum, check_name(c, n), minimum < physical ? "smaller than" : "no multiple of", physical,
				   blkalign_node_kind(n) == BLKALIGN_KIND_DISK ? ""
									       : ": a known defect of device-mapper before Linux 6.12.49"),
		   });
}
