/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Raid metadata that the kernel wrote: fields at the places that dm-raid.c gives them, and byte for byte the same when made anew. */
#include "format/dmraid/dmraid.h"
#include "unit.h"

static uint8_t raw[DMRAID_BYTES];

static void load(const char *name)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/fuzz/corpus/dmraid/%s", getenv("BLKALIGN_TESTS"), name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fread(raw, 1, sizeof(raw), f), sizeof(raw));
	fclose(f);
}

static struct dmraid_superblock decode(void)
{
	struct dmraid_superblock sb;
	struct blkalign_error err = { 0 };

	if (dmraid_decode(raw, sizeof(raw), &sb, &err) != 0)
		fail_msg("%s", err.message);
	return sb;
}

static void test_fields(void **state)
{
	struct dmraid_superblock sb;

	(void)state;
	load("raid5-stale");
	sb = decode();
	assert_int_equal(sb.members, 4);
	assert_int_equal(sb.slot, 3);
	assert_int_equal(sb.events, 21);
	assert_true(dmraid_has(&sb.failed, 2));
	assert_false(dmraid_has(&sb.failed, 1));
	assert_int_equal(sb.recovery_bytes, UINT64_MAX);
	assert_int_equal(sb.resync_bytes, UINT64_MAX);
	assert_int_equal(sb.level, 5);
	assert_int_equal(sb.layout, 2);
	assert_int_equal(sb.chunk_bytes, 65536);
	assert_true(sb.extended);
	assert_false(sb.reshaping);
	assert_int_equal(sb.position_bytes, UINT64_MAX);
	assert_int_equal(sb.array_bytes, 6291456);
	assert_int_equal(sb.used_bytes, 2097152);
	load("raid10");
	sb = decode();
	assert_int_equal(sb.level, 10);
	assert_int_equal(sb.layout, 0x102);
	load("raid1");
	sb = decode();
	assert_int_equal(sb.chunk_bytes, 0);
}

/* The kernel's own superblocks, made from what they say. */
static void test_encode(void **state)
{
	static const char *const names[] = { "raid1", "raid5-stale", "raid5-reshaped", "raid6", "raid10" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct dmraid_superblock sb;
		uint8_t made[DMRAID_BYTES];

		load(names[i]);
		sb = decode();
		dmraid_encode(&sb, made);
		assert_memory_equal(made, raw, sizeof(raw));
	}
}

/* Only the fields that are named change; slots from 64 on have words of their own. */
static void test_put(void **state)
{
	struct dmraid_superblock sb;
	struct dmraid_state change = { .events = 77, .recovery_bytes = 1048576, .resync_bytes = 0 };
	uint8_t before[DMRAID_BYTES];

	(void)state;
	load("raid6");
	raw[8] = 200;
	memcpy(before, raw, sizeof(before));
	dmraid_add(&change.failed, 3);
	dmraid_add(&change.failed, 199);
	dmraid_put_state(raw, &change);
	sb = decode();
	assert_int_equal(sb.events, 77);
	assert_int_equal(sb.recovery_bytes, 1048576);
	assert_int_equal(sb.resync_bytes, 0);
	assert_true(dmraid_has(&sb.failed, 3) && dmraid_has(&sb.failed, 199));
	for (size_t i = 0; i < sizeof(raw); i++)
		if ((i < 16 || i >= 48) && (i < 120 || i >= 144))
			assert_int_equal(raw[i], before[i]);
	assert_int_equal(load_le64(raw + 24), 8);
	assert_int_equal(load_le64(raw + 120 + 16), UINT64_C(1) << (199 - 192));
	dmraid_put_member(raw, 5, 8192);
	sb = decode();
	assert_int_equal(sb.slot, 5);
	assert_int_equal(sb.data_offset_bytes, 8192);
}

static void test_no_superblock(void **state)
{
	struct dmraid_superblock sb;

	(void)state;
	memset(raw, 0, sizeof(raw));
	assert_int_equal(dmraid_decode(raw, sizeof(raw), &sb, NULL), BLKALIGN_ABSENT);
	raw[100] = 1;
	assert_int_equal(dmraid_decode(raw, sizeof(raw), &sb, NULL), BLKALIGN_NOT_THIS);
	load("raid1");
	assert_int_equal(dmraid_decode(raw, sizeof(raw) - 1, &sb, NULL), BLKALIGN_NOT_THIS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_encode),
		cmocka_unit_test(test_put),
		cmocka_unit_test(test_no_superblock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
