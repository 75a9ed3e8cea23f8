/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>

#include "check/price.h"

struct price_io price_write(uint64_t length_bytes, uint64_t residue_bytes, uint64_t physical_bytes)
{
	uint64_t start = residue_bytes % physical_bytes, end = start + length_bytes;
	uint64_t touched = (end + physical_bytes - 1) / physical_bytes;
	uint64_t whole = end / physical_bytes - (start ? 1 : 0);

	if (start && end < physical_bytes)
		whole = 0;
	return (struct price_io){ .reads = touched - whole, .writes = touched };
}

struct price_io price_array_write(const struct price_array *array, uint64_t length_bytes, uint64_t residue_bytes, uint64_t physical_bytes)
{
	struct price_io one = price_write(length_bytes, residue_bytes, physical_bytes);
	uint64_t members = UINT64_C(1) + array->parity_members;

	if (!array->parity_members)
		return one;
	/* md has just read every block that is written, so the drive finds them in its cache and reads none again. */
	return (struct price_io){ .reads = members * one.writes, .writes = members * one.writes };
}

struct price_io price_full_stripe(const struct price_array *array, uint64_t residue_bytes, uint64_t physical_bytes)
{
	struct price_io one = price_write(array->chunk_bytes, residue_bytes, physical_bytes);
	uint64_t members = (uint64_t)array->data_members + array->parity_members;

	return (struct price_io){ .reads = members * one.reads, .writes = members * one.writes };
}

static void compare(struct strbuf *buf, const char *what, struct price_io actual, struct price_io aligned)
{
	strbuf_printf(buf, "%s: %" PRIu64 " block reads + %" PRIu64 " block writes instead of %" PRIu64 " + %" PRIu64 "; ", what,
		      actual.reads, actual.writes, aligned.reads, aligned.writes);
}

const char *price_text(struct blkalign_report *report, const struct price_array *array, uint64_t fs_block_bytes, uint64_t residue_bytes,
		       uint64_t physical_bytes)
{
	_cleanup_strbuf_ struct strbuf buf = { 0 };
	struct price_io actual = price_array_write(array, 4096, residue_bytes, physical_bytes);
	struct price_io aligned = price_array_write(array, 4096, 0, physical_bytes);

	strbuf_add(&buf, "model: ");
	compare(&buf, "random 4 KiB write", actual, aligned);
	if (fs_block_bytes && fs_block_bytes != BLKALIGN_UNKNOWN && fs_block_bytes != 4096 && fs_block_bytes <= MIB) {
		char block[32], what[64];

		snprintf(what, sizeof(what), "file-system block (%s)", blkalign_format_bytes(block, sizeof(block), fs_block_bytes, 0));
		compare(&buf, what, price_array_write(array, fs_block_bytes, residue_bytes, physical_bytes),
			price_array_write(array, fs_block_bytes, 0, physical_bytes));
	}
	if (array->chunk_bytes && array->data_members)
		compare(&buf, "full stripe", price_full_stripe(array, residue_bytes, physical_bytes),
			price_full_stripe(array, 0, physical_bytes));
	strbuf_printf(&buf, "7200 rpm drive: one more revolution (%.2f ms) per write; SSD: %" PRIu64 " page programs instead of %" PRIu64,
		      PRICE_REVOLUTION_MS, actual.writes, aligned.writes);
	return report_text(report, "%s", strbuf_text(&buf));
}
