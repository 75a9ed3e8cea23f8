/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What may become a target unasked: what holds nothing, and what was a member itself. A disk with other things beside the member is neither. */
#include "base/base.h"
#include "run/golden_md.h"

static struct blkalign_error err;

static int look(const char *const *members, size_t count, const char *target, const struct blkalign_rebuild_options *options)
{
	struct blkalign_rebuild *b;
	int r = blkalign_rebuild_open(options, members, count, &target, 1, &b, &err);

	if (r >= 0)
		blkalign_rebuild_close(b, NULL);
	return r;
}

/* The member lies in a partition of the target: the disk's other partitions are somebody else's. */
static void test_member_in_partition(void **state)
{
	static const char *const cases[] = { "part-gpt-raid1", "part-mbr-raid5" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct golden_md g;

		golden_md_open(&g, cases[i]);
		assert_int_equal(look((const char *const *)&g.names[1], g.count - 1, g.names[0],
				      &(struct blkalign_rebuild_options){ .dry_run = true }),
				 -EEXIST);
		assert_non_null(strstr(err.message, "partition table"));
		/* Given among the members as well, it is still no reason. */
		assert_int_equal(
			look((const char *const *)g.names, g.count, g.names[0], &(struct blkalign_rebuild_options){ .dry_run = true }),
			-EEXIST);
		golden_md_close(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_member_in_partition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
