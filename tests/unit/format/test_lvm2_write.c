/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What lvm2 wrote is read, written again, and compared byte by byte: every text that is still in the rings of the golden volume groups. */
#include "golden.h"

#include <time.h>

#include "format/lvm2/lvm2.h"

static const char *const cases[] = {
	"lvm-cache", "lvm-exported",	"lvm-linear",	      "lvm-mdas",    "lvm-mirror", "lvm-on-md",		 "lvm-raid0",
	"lvm-raid1", "lvm-raid1-crash", "lvm-raid1-missing",  "lvm-raid10",  "lvm-raid5",  "lvm-raid5-reshaped", "lvm-raid5-stale",
	"lvm-raid6", "lvm-snapshot",	"lvm-snapshot-areas", "lvm-striped", "lvm-thin",   "lvm-wrap",
};

static unsigned texts_compared, places_compared, labels_compared, headers_compared;

/* Up to the end of the line at `at`, without the comment on it: what we say there about ourselves differs. */
static void strip_comments(char *text)
{
	char *to = text;
	bool quoted = false;

	for (char *from = text; *from; from++) {
		if (*from == '"')
			quoted = !quoted;
		if (*from == '#' && !quoted)
			while (from[1] && from[1] != '\n')
				from++;
		else
			*to++ = *from;
	}
	*to = 0;
}

static char *value_of(const char *text, const char *key)
{
	const char *at = strstr(text, key), *end;

	assert_non_null(at);
	at += strlen(key);
	end = at + strcspn(at, "\n\t");
	if (*at == '"') {
		at++;
		end--;
	}
	return strndup(at, (size_t)(end - at));
}

static char *write_again(const char *text)
{
	const char *end = strstr(text, "\ncontents = ");
	char *description = value_of(end, "\ndescription = "), *host = value_of(end, "\ncreation_host = "),
	     *seconds = value_of(end, "\ncreation_time = ");
	struct lvm2_signature signature = {
		.description = description, .host = host, .system = "Linux", .unix_time = strtoull(seconds, NULL, 10)
	};
	struct blkalign_error err = { 0 };
	struct lvm2_edit *edit;
	char *again;
	size_t length;
	int r = lvm2_edit_open(text, strlen(text), &edit, &err);

	if (r < 0)
		fail_msg("%s", err.message);
	assert_int_equal(lvm2_edit_text(edit, &signature, &again, &length), 0);
	assert_int_equal(length, strlen(again) + 1);
	lvm2_edit_free(edit);
	free(description);
	free(host);
	free(seconds);
	return again;
}

/* The descriptions in these texts hold nothing that would have to be escaped. */
static void compare_text(const char *where, const char *text)
{
	char *again = write_again(text), *expected = strdup(text);
	struct lvm2_vg *vg;

	strip_comments(expected);
	strip_comments(again);
	for (size_t i = 0; expected[i] || again[i]; i++)
		if (expected[i] != again[i])
			fail_msg("%s: at byte %zu:\n%.300s\nis written again as\n%.300s", where, i, expected + (i > 99 ? i - 99 : 0),
				 again + (i > 99 ? i - 99 : 0));
	assert_int_equal(lvm2_vg_decode(again, strlen(again), &vg, NULL), 0);
	lvm2_vg_free(vg);
	free(again);
	free(expected);
	texts_compared++;
}

/* Behind every text but the newest stands another, where ours would go. */
static void compare_place(const char *area, const struct lvm2_mda *mda, uint64_t at, size_t length)
{
	struct lvm2_mda then = *mda;
	struct lvm2_room room;

	if (at == mda->committed.offset_bytes)
		return;
	then.committed = (struct lvm2_location){ .offset_bytes = at, .size_bytes = length };
	assert_int_equal(lvm2_mda_room(&then, "x", 1, &room), 0);
	assert_memory_equal(area + room.location.offset_bytes, "vg {\n", 5);
	places_compared++;
}

/* Texts begin at sectors, and end with the time of their creation and a blank line. */
static void compare_ring(const char *where, struct dev *dev, const struct lvm2_mda *mda)
{
	char *area = calloc(1, mda->size_bytes + 1);

	assert_int_equal(dev_read(dev, mda->offset_bytes, area, mda->size_bytes, NULL), 0);
	for (uint64_t at = 512; at < mda->size_bytes; at += 512) {
		size_t length = strnlen(area + at, mda->size_bytes - at);
		const char *name_end = memchr(area + at, '{', length);

		if (name_end && !memcmp(area + at, "vg {\n", 5) && at + length < mda->size_bytes && strstr(area + at, "\ncreation_time = "))
			compare_text(where, area + at), compare_place(area, mda, at, length + 1);
	}
	free(area);
}

static void compare_label(struct dev *dev, const struct lvm2_label *label)
{
	uint8_t found[512], made[512];

	assert_int_equal(dev_read(dev, label->sector * 512, found, 512, NULL), 0);
	assert_int_equal(lvm2_label_encode(label, made), 0);
	assert_memory_equal(found, made, 512);
	labels_compared++;
}

static void compare_header(struct dev *dev, const struct lvm2_mda *mda)
{
	uint8_t found[512], made[512];

	assert_int_equal(dev_read(dev, mda->offset_bytes, found, 512, NULL), 0);
	lvm2_mda_encode(mda, made);
	assert_memory_equal(found, made, 512);
	headers_compared++;
}

static void test_golden(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct golden g;

		golden_open(&g, cases[i]);
		golden_assemble(&g);
		for (size_t k = 0; k < blkalign_graph_size(stack_graph(g.stack)); k++) {
			const struct blkalign_node *n = blkalign_graph_node(stack_graph(g.stack), k);
			struct dev *dev = stack_dev(g.stack, n);
			struct lvm2_label label;

			if (!dev || lvm2_label_read(dev, &label, NULL) != 0)
				continue;
			compare_label(dev, &label);
			for (unsigned a = 0; a < label.metadata.count; a++) {
				struct lvm2_mda mda;

				assert_int_equal(lvm2_mda_read(dev, label.metadata.area[a].offset_bytes, &mda, NULL), 0);
				compare_header(dev, &mda);
				compare_ring(cases[i], dev, &mda);
			}
		}
		golden_close(&g);
	}
	print_message("%u texts, %u places, %u labels, %u headers\n", texts_compared, places_compared, labels_compared, headers_compared);
	assert_true(texts_compared > 300 && places_compared > 250 && labels_compared > 40 && headers_compared > 40);
}

/* Where lvm2 puts the next text: the rings of the golden groups hold a chain of them. */
static void test_room(void **state)
{
	struct lvm2_mda mda = { .offset_bytes = 4096, .size_bytes = 1044480 };
	struct lvm2_room room;
	char *text = calloc(1, 1 << 20);

	(void)state;
	memset(text, 'x', 1 << 20);
	assert_int_equal(lvm2_mda_room(&mda, text, 700, &room), 0);
	assert_int_equal(room.location.offset_bytes, 512);
	mda.committed = room.location;
	assert_int_equal(lvm2_mda_room(&mda, text, 513, &room), 0);
	assert_int_equal(room.location.offset_bytes, 512 + 1024);
	assert_int_equal(room.first_bytes, 513);
	/* In the last sector but one: it breaks at the end of the area. */
	mda.committed = (struct lvm2_location){ .offset_bytes = mda.size_bytes - 2048, .size_bytes = 1000 };
	assert_int_equal(lvm2_mda_room(&mda, text, 5000, &room), 0);
	assert_int_equal(room.location.offset_bytes, mda.size_bytes - 1024);
	assert_int_equal(room.first_bytes, 1024);
	/* Behind one that broke. */
	mda.committed = room.location;
	assert_int_equal(lvm2_mda_room(&mda, text, 100, &room), 0);
	assert_int_equal(room.location.offset_bytes, 512 + 4096);
	/* At the very end there is nothing left. */
	mda.committed = (struct lvm2_location){ .offset_bytes = mda.size_bytes - 1024, .size_bytes = 1024 };
	assert_int_equal(lvm2_mda_room(&mda, text, 100, &room), 0);
	assert_int_equal(room.location.offset_bytes, 512);
	/* Two of them have to fit. */
	assert_int_equal(lvm2_mda_room(&mda, text, 521000, &room), 0);
	assert_int_equal(lvm2_mda_room(&mda, text, 522000, &room), -ENOSPC);
	assert_int_equal(lvm2_mda_room(&mda, text, 0, &room), -ENOSPC);
	free(text);
}

/* --- made from nothing --- */

static const struct lvm2_vg group = { .name = "vg0", .id = "mI43oCePbLap288z3rp4a9VL1jXmOqx7", .extent_bytes = 256 * KIB };

static void add_everything(struct lvm2_edit *edit)
{
	const struct lvm2_pv pv = { .key = "pv0",
				    .id = "QCxYeW9caqttTOXIazngs0iWr8vZuEFz",
				    .device = "/dev/sd\"a",
				    .size_bytes = 9 * MIB,
				    .pe_start_bytes = MIB,
				    .pe_count = 32 };
	const struct lvm2_new_area area = { "pv0", 3 };
	const struct lvm2_new_segment segment = {
		.type = "striped", .start_extent = 0, .extent_count = 8, .areas = &area, .area_count = 1
	};
	const struct lvm2_new_lv lv = { .name = "data",
					.id = "E9DYDaCJ6iewOUwaUTMlVJRck6hx0dj8",
					.visible = true,
					.created_unix = 1796031790,
					.created_on = "host",
					.segments = &segment,
					.segment_count = 1 };

	assert_int_equal(lvm2_edit_add_pv(edit, &pv), 0);
	assert_int_equal(lvm2_edit_add_lv(edit, &lv), 0);
	assert_int_equal(lvm2_edit_set_seqno(edit, 7), 0);
}

static void test_new(void **state)
{
	const struct lvm2_signature signature = {
		.description = "blkalign \"x\\y\"", .host = "h", .system = "Linux\nid = 3", .unix_time = 1796031790
	};
	struct blkalign_error err = { 0 };
	struct lvm2_edit *edit;
	struct lvm2_vg *vg;
	char *text;
	size_t length;

	(void)state;
	assert_int_equal(lvm2_edit_new(&group, &edit), 0);
	add_everything(edit);
	assert_int_equal(lvm2_edit_text(edit, &signature, &text, &length), 0);
	if (lvm2_vg_decode(text, length - 1, &vg, &err) < 0)
		fail_msg("%s\n%s", err.message, text);
	assert_string_equal(vg->name, "vg0");
	assert_string_equal(vg->id, group.id);
	assert_int_equal(vg->seqno, 7);
	assert_int_equal(vg->extent_bytes, 256 * KIB);
	assert_int_equal(vg->pv_count, 1);
	assert_string_equal(vg->pvs[0].device, "/dev/sd\"a");
	assert_int_equal(vg->pvs[0].pe_start_bytes, MIB);
	assert_int_equal(vg->lv_count, 1);
	assert_int_equal(vg->lvs[0].extents, 8);
	assert_int_equal(vg->lvs[0].segments[0].refs[0].extent, 3);
	assert_non_null(strstr(text, "description = \"blkalign \\\"x\\\\y\\\"\""));
	assert_null(strstr(text, "\nid = 3"));
	lvm2_vg_free(vg);
	lvm2_edit_free(edit);
	free(text);
}

static void test_refusals(void **state)
{
	struct lvm2_label label = { .pv_id = "QCxYeW9caqttTOXIazngs0iWr8vZuEFz", .sector = 1 };
	struct blkalign_error err = { 0 };
	struct lvm2_edit *edit;
	uint8_t sector[512];
	char id[LVM2_ID_LENGTH + 1], other[LVM2_ID_LENGTH + 1];

	(void)state;
	label.data.count = LVM2_AREAS_MAX;
	label.metadata.count = LVM2_AREAS_MAX;
	assert_int_equal(lvm2_label_encode(&label, sector), -E2BIG);
	assert_int_equal(lvm2_edit_open("a {\n}\nb {\n}\n", 12, &edit, &err), -EPROTO);
	assert_int_equal(lvm2_edit_open("a = 1\n", 6, &edit, &err), -EPROTO);
	assert_int_equal(lvm2_edit_open("a {", 3, &edit, &err), -EPROTO);
	assert_int_equal(lvm2_id_make(id), 0);
	assert_int_equal(lvm2_id_make(other), 0);
	assert_true(lvm2_id_valid(id));
	assert_string_not_equal(id, other);
	assert_int_equal(strlen(id), LVM2_ID_LENGTH);
}

/* The names are those of lvm2's man page, lvm(8), "VALID NAMES". */
static void test_names(void **state)
{
	static const char *const bad[] = { "",	       "-a",	    ".",       "..",	     "a b",	"a/b",
					   "\xc3\xa4", "snapshot1", "pvmove0", "x_rimage_0", "x_tdata", "a_mlog" };
	char longest[140];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (!lvm2_name_refusal(bad[i], true))
			fail_msg("\"%s\" passes", bad[i]);
	assert_null(lvm2_name_refusal("a+b_c.d-e9", true));
	assert_null(lvm2_name_refusal("snapshots", false));
	assert_non_null(lvm2_name_refusal("description", false));
	assert_null(lvm2_name_refusal("description", true));
	memset(longest, 'a', sizeof(longest));
	longest[127] = 0;
	assert_null(lvm2_name_refusal(longest, true));
	longest[127] = 'a';
	longest[128] = 0;
	assert_non_null(lvm2_name_refusal(longest, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),	 cmocka_unit_test(test_room),  cmocka_unit_test(test_new),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
