/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * RAID volumes in the middle of a reshape, and before and after a takeover. Where md puts a byte, and what the kernel records, are written here by hand; bytes that neither shape
 * has are junk, so that who reads them is found out.
 */
#include <inttypes.h>

#include "lvm_bench.h"

#define COMPONENT (UINT64_C(4) * EXTENT) /* that each image has of the volume */
#define ROOM	  (UINT64_C(1) * EXTENT)
#define IMAGE_AT  (MIB + EXTENT) /* on its PV, behind the raid metadata */
#define RMETA_AT  MIB
#define NOWHERE	  UINT64_MAX
#define JUNK	  0x5a

struct shape {
	unsigned level, layout;
	uint64_t chunk;
	unsigned members;
};

/* --- where md puts things --- */

static unsigned data_of(const struct shape *s)
{
	if (s->level == 0)
		return s->members;
	return s->level == 1 ? 1 : s->level == 10 ? s->members / 2 : s->members - (s->level == 6 ? 2 : 1);
}

static uint64_t size_of(const struct shape *s) { return (uint64_t)data_of(s) * COMPONENT; }

static unsigned parity_of(const struct shape *s, uint64_t stripe)
{
	unsigned n = s->level == 6 ? s->members - 1 : s->members;

	if (s->layout == 4)
		return 0;
	return s->layout == 5 ? n - 1 : n - 1 - (unsigned)(stripe % n); /* parity-last; left-symmetric, with Q behind it or not */
}

/* The byte of the data area; NOWHERE when there is no such copy. */
static uint64_t place(const struct shape *s, uint64_t at, unsigned copy, unsigned *slot)
{
	uint64_t chunk = s->chunk ? at / s->chunk : 0, row;
	unsigned n = s->level == 6 ? s->members - 1 : s->members;

	if (copy >= (s->level == 1 ? s->members : s->level == 10 ? 2 : 1))
		return NOWHERE;
	if (s->level == 1) {
		*slot = copy;
		return at;
	}
	if (s->level == 10)
		chunk = 2 * chunk + copy;
	row = chunk / (s->level == 0 || s->level == 10 ? s->members : data_of(s));
	if (s->level == 0 || s->level == 10)
		*slot = (unsigned)(chunk % s->members);
	else
		*slot = (parity_of(s, row) + 1 + (unsigned)(chunk % data_of(s))) % n;
	return row * s->chunk + at % s->chunk;
}

/* --- a volume --- */

/* What the kernel wrote to one raid metadata. */
struct super {
	struct shape now, next;
	uint64_t events, position;
	unsigned slot, flags;
	int delta;
	uint64_t array, offset, new_offset, failed;
};

struct volume {
	const char *type; /* as the volume group has it, with its number of images and stripe size */
	unsigned images;
	uint64_t stripe;
	unsigned rebuild; /* mask: images marked so */
	unsigned blank;	  /* mask: raid metadata is zeros */
	struct super supers[8];
	uint8_t *data[8]; /* images with room for a reshape */
	struct bench b;
};

static void le(uint8_t *p, size_t at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		p[at + i] = (uint8_t)(value >> 8 * i);
}

static uint64_t sectors(uint64_t bytes) { return bytes == NOWHERE ? NOWHERE : bytes / 512; }

static void put_super(uint8_t *p, const struct super *s)
{
	memset(p, 0, 8192);
	le(p, 0, 0x64526d44, 4);
	le(p, 4, 1, 4);
	le(p, 8, s->now.members, 4);
	le(p, 12, s->slot, 4);
	le(p, 16, s->events, 8);
	le(p, 24, s->failed, 8);
	memset(p + 32, 0xff, 16);
	le(p, 48, s->now.level, 4);
	le(p, 52, s->now.layout, 4);
	le(p, 56, s->now.chunk / 512, 4);
	le(p, 60, s->flags, 4);
	le(p, 64, sectors(s->position), 8);
	le(p, 72, s->next.level, 4);
	le(p, 76, s->next.layout, 4);
	le(p, 80, s->next.chunk / 512, 4);
	le(p, 84, (uint32_t)s->delta, 4);
	le(p, 88, sectors(s->array), 8);
	le(p, 96, sectors(s->offset), 8);
	le(p, 104, sectors(s->new_offset), 8);
	le(p, 112, sectors(COMPONENT), 8);
	if (s->now.level == 0)
		return;
	p += 4096;
	le(p, 0, 0x6d746962, 4);
	le(p, 4, 4, 4);
	le(p, 24, s->events, 8);
	le(p, 40, sectors(s->now.level == 10 ? s->array : COMPONENT), 8);
	le(p, 52, 65536, 4);
	le(p, 56, 5, 4);
}

static void add_part(struct strbuf *t, const struct volume *v, unsigned i)
{
	strbuf_printf(t,
		      "r_rmeta_%u {\nid = \"MMMMMM-MMMM-MMMM-MMMM-MMMM-MMMM-MMMMM%u\"\nstatus = [\"READ\", \"WRITE\"]\nflags = []\n"
		      "segment_count = 1\nsegment1 {\nstart_extent = 0\nextent_count = 1\ntype = \"striped\"\nstripe_count = 1\n"
		      "stripes = [\"pv%u\", 0]\n}\n}\n",
		      i, i, i);
	strbuf_printf(t, "r_rimage_%u {\nid = \"IIIIII-IIII-IIII-IIII-IIII-IIII-IIIII%u\"\nstatus = [\"READ\", \"WRITE\"%s]\n", i, i,
		      v->rebuild >> i & 1 ? ", \"REBUILD\"" : "");
	strbuf_printf(t,
		      "flags = []\nsegment_count = 1\nsegment1 {\nstart_extent = 0\nextent_count = 5\ntype = \"striped\"\n"
		      "stripe_count = 1\nstripes = [\"pv%u\", 1]\n}\n}\n",
		      i);
}

static char *text_of(const struct volume *v)
{
	unsigned parity = strstr(v->type, "raid6") ? 2 : strstr(v->type, "raid5") ? 1 : 0;
	bool ten = strstr(v->type, "raid10"), one = strstr(v->type, "raid1") && !ten;
	unsigned extents = one ? 4 : ten ? v->images * 4 / 2 + v->images : (v->images - parity) * 5;
	struct strbuf t = { 0 };

	strbuf_add(&t, "vg {\nid = \"AAAAAA-AAAA-AAAA-AAAA-AAAA-AAAA-AAAAAA\"\nseqno = 7\nformat = \"lvm2\"\n"
		       "status = [\"RESIZEABLE\", \"READ\", \"WRITE\"]\nflags = []\nextent_size = 512\nphysical_volumes {\n");
	for (unsigned i = 0; i < v->images; i++)
		strbuf_printf(&t,
			      "pv%u {\nid = \"PPPPPP-PPPP-PPPP-PPPP-PPPP-PPPP-PPPPP%u\"\nstatus = [\"ALLOCATABLE\"]\nflags = []\n"
			      "dev_size = 53248\npe_start = 2048\npe_count = 100\n}\n",
			      i, i);
	strbuf_add(&t, "}\nlogical_volumes {\nr {\nid = \"LLLLLL-LLLL-LLLL-LLLL-LLLL-LLLL-LLLLLL\"\n"
		       "status = [\"READ\", \"WRITE\", \"VISIBLE\"]\nflags = []\nsegment_count = 1\nsegment1 {\nstart_extent = 0\n");
	strbuf_printf(&t, "extent_count = %u\nregion_size = 128\ntype = \"%s\"\ndevice_count = %u\n", extents, v->type, v->images);
	if (!one)
		strbuf_printf(&t, "reshape_count = 1\nstripe_size = %u\n", (unsigned)(v->stripe / 512));
	strbuf_add(&t, "raids = [");
	for (unsigned i = 0; i < v->images; i++)
		strbuf_printf(&t, "%s\"r_rmeta_%u\", \"r_rimage_%u\"", i ? ", " : "", i, i);
	strbuf_add(&t, "]\n}\n}\n");
	for (unsigned i = 0; i < v->images; i++)
		add_part(&t, v, i);
	strbuf_add(&t, "}\n}\ncontents = \"Text Format Volume Group\"\nversion = 1\n");
	assert_false(t.failed);
	return t.text;
}

static void begin(struct volume *v, const char *type, unsigned images, uint64_t stripe)
{
	*v = (struct volume){ .type = type, .images = images, .stripe = stripe };
	for (unsigned i = 0; i < images; i++) {
		v->data[i] = malloc(COMPONENT + ROOM);
		assert_non_null(v->data[i]);
		memset(v->data[i], JUNK, COMPONENT + ROOM);
	}
}

static void end(struct volume *v)
{
	for (unsigned i = 0; i < v->images; i++)
		free(v->data[i]);
}

/* Every eighth byte tells where it is. */
static void pattern(uint8_t *p, uint64_t at)
{
	for (unsigned i = 0; i < 4096; i += 8)
		le(p, i, (at + i) * 3 + 1, 8);
}

/* [from, to) of the volume in that shape, with its redundancy (but for Q); both whole stripes. */
static void fill(struct volume *v, const struct shape *s, uint64_t offset, uint64_t from, uint64_t to)
{
	uint8_t block[4096];
	unsigned slot = 0;

	for (uint64_t at = from; at < to; at += sizeof(block)) {
		pattern(block, at);
		for (unsigned copy = 0; place(s, at, copy, &slot) != NOWHERE; copy++)
			memcpy(v->data[slot] + offset + place(s, at, copy, &slot), block, sizeof(block));
	}
	if (s->level != 5 && s->level != 6)
		return;
	for (uint64_t row = from / data_of(s); row < to / data_of(s); row++) {
		unsigned p = parity_of(s, row / s->chunk), n = s->level == 6 ? s->members - 1 : s->members;

		v->data[p][offset + row] = 0;
		for (unsigned i = 0; i < n; i++)
			v->data[p][offset + row] ^= i == p ? 0 : v->data[i][offset + row];
	}
}

static void all_supers(struct volume *v, const struct super *s)
{
	for (unsigned i = 0; i < v->images; i++) {
		v->supers[i] = *s;
		v->supers[i].slot = i;
	}
}

static void say_remarks(const struct bench *b)
{
	for (size_t i = 0; i < blkalign_graph_remarks(b->graph); i++)
		print_message("%s\n", blkalign_graph_remark(b->graph, i));
}

static struct image *put_pv(struct volume *v, const char *text, unsigned i)
{
	static const char *const names[] = { "pv0", "pv1", "pv2", "pv3", "pv4", "pv5" };
	struct image *im = add_pv(&v->b, names[i], text, names[i], 512);

	if (!(v->blank >> i & 1))
		put_super(im->data + RMETA_AT, &v->supers[i]);
	memcpy(im->data + IMAGE_AT, v->data[i], COMPONENT + ROOM);
	return im;
}

static struct dev *assemble(struct volume *v, unsigned without)
{
	char *text = text_of(v);

	start(&v->b);
	for (unsigned i = 0; i < v->images; i++)
		if (!(without >> i & 1))
			put_pv(v, text, i);
	run(&v->b);
	free(text);
	return stack_dev(v->b.stack, get(&v->b, "vg/r"));
}

static void expect_remark(const struct bench *b, const char *text)
{
	if (!remarked(b, text)) {
		say_remarks(b);
		fail_msg("not remarked: %s", text);
	}
}

static void expect_content(struct volume *v, unsigned without, uint64_t size)
{
	struct dev *dev = assemble(v, without);
	uint8_t found[4096], right[4096];

	if (!dev) {
		fail_msg("%s of %u cannot be read without %#x", v->type, v->images, without);
		abort();
	}
	assert_int_equal(dev->size_bytes, size);
	assert_int_equal(blkalign_node_u64(get(&v->b, "vg/r"), BLKALIGN_ATTR_SIZE), size);
	for (uint64_t at = 0; at < size; at += sizeof(found)) {
		pattern(right, at);
		if (dev_read(dev, at, found, sizeof(found), NULL) < 0 || memcmp(found, right, sizeof(found)) != 0)
			fail_msg("%s of %u: byte %" PRIu64 " without %#x", v->type, v->images, at, without);
	}
}

static void expect_contents(struct volume *v, unsigned members, uint64_t size)
{
	expect_content(v, 0, size);
	done(&v->b);
	for (unsigned i = 0; i < members; i++) {
		expect_content(v, 1U << i, size);
		done(&v->b);
	}
}

/* --- reshapes --- */

static const struct shape five_3 = { 5, 2, 64 * KIB, 3 }, five_4 = { 5, 2, 64 * KIB, 4 }, five_4_big = { 5, 2, 128 * KIB, 4 },
			  five_4_last = { 5, 5, 64 * KIB, 4 }, ten_4 = { 10, 258, 64 * KIB, 4 }, ten_6 = { 10, 258, 64 * KIB, 6 },
			  six_5_last = { 6, 5, 64 * KIB, 5 }, one_2 = { 1, 0, 0, 2 }, five_2_last = { 5, 5, 64 * KIB, 2 },
			  zero_3 = { 0, 0, 64 * KIB, 3 }, six_5 = { 6, 18, 64 * KIB, 5 };

static const struct reshape {
	const char *type;
	const struct shape *old, *new;
	bool backwards;
	uint64_t position;
} reshapes[] = {
	{ "raid5_ls+RESHAPE+RESHAPE_DATA_OFFSET", &five_3, &five_4, false, 768 * KIB },
	{ "raid5_ls+RESHAPE+RESHAPE_DATA_OFFSET", &five_3, &five_4, false, 0 },
	{ "raid5_ls+RESHAPE+RESHAPE_DATA_OFFSET", &five_3, &five_4, false, 3 * MIB },
	{ "raid5_ls+RESHAPE+RESHAPE_DATA_OFFSET", &five_4, &five_3, true, 768 * KIB },
	{ "raid5_ls+RESHAPE+RESHAPE_DATA_OFFSET", &five_4, &five_3, true, 3 * MIB },
	{ "raid5_ls", &five_4, &five_4_big, true, 768 * KIB },
	{ "raid5_ls", &five_4_big, &five_4, false, 768 * KIB },
	{ "raid5_n", &five_4, &five_4_last, true, 1536 * KIB },
	{ "raid5_ls", &five_4_last, &five_4, false, 1536 * KIB },
	{ "raid10", &ten_4, &ten_6, false, 768 * KIB },
};

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void begin_reshape(struct volume *v, const struct reshape *c)
{
	const struct shape *low = c->backwards ? c->old : c->new;
	struct super s = {
		.now = *c->old,
		.next = *c->new,
		.events = 30,
		.position = c->position,
		.flags = c->backwards ? 3 : 1,
		.delta = (int)c->new->members - (int)c->old->members,
		.array = least(size_of(c->old), size_of(c->new)),
		.offset = c->backwards ? 0 : ROOM,
		.new_offset = c->backwards ? ROOM : 0,
	};
	uint64_t middle = least(c->position, s.array), whole = 0;

	s.now.members = c->new->members;
	begin(v, c->type, c->old->members > c->new->members ? c->old->members : c->new->members, c->new->chunk);
	all_supers(v, &s);
	while (whole < middle) /* stripes */
		whole += data_of(low) * low->chunk;
	fill(v, low, 0, 0, whole);
	fill(v, c->backwards ? c->new : c->old, ROOM, middle, s.array);
}

static void test_reshaping(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(reshapes); i++) {
		const struct reshape *c = &reshapes[i];
		struct volume v;

		begin_reshape(&v, c);
		expect_contents(&v, v.images, v.supers[0].array);
		assemble(&v, 0);
		assert_non_null(strstr(blkalign_node_str(get(&v.b, "vg/r"), BLKALIGN_ATTR_MD_STATE), "reshaping"));
		expect_remark(&v.b, "vg/r: a reshape (");
		assert_false(remarked(&v.b, "backup file"));
		done(&v.b);
		end(&v);
	}
}

static void test_read_only(void **state)
{
	struct volume v;
	char *text;

	(void)state;
	begin_reshape(&v, &reshapes[0]);
	text = text_of(&v);
	start(&v.b);
	v.b.writable = true;
	stack_set_running(v.b.stack, &(struct stack_running){ .writable = true });
	for (unsigned i = 0; i < v.images; i++)
		put_pv(&v, text, i);
	run(&v.b);
	assert_non_null(strstr(stack_read_only_because(v.b.stack, get(&v.b, "vg/r")), "a reshape was interrupted"));
	assert_int_equal(dev_write(stack_dev(v.b.stack, get(&v.b, "vg/r")), 0, text, 512, NULL), -EROFS);
	done(&v.b);
	free(text);
	end(&v);
}

/* Superblocks of one update reach the disks one after the other: the first ones say that a reshape has begun, or ended. */
static void test_half_written(void **state)
{
	struct volume v;

	(void)state;
	for (unsigned written = 1; written < 4; written++) {
		begin_reshape(&v, &reshapes[1]);
		for (unsigned i = written; i < 4; i++) {
			struct super *s = &v.supers[i];

			*s = (struct super){ .now = five_3,
					     .next = five_3,
					     .events = 29,
					     .position = NOWHERE,
					     .slot = i,
					     .array = 2 * MIB,
					     .offset = ROOM,
					     .new_offset = ROOM };
			if (i == 3)
				v.blank = 8;
		}
		expect_contents(&v, v.blank ? 3 : 4, 2 * MIB);
		end(&v);
		for (unsigned c = 6; c <= 7; c++) {
			begin_reshape(&v, &(struct reshape){ reshapes[c].type, reshapes[c].old, reshapes[c].new, reshapes[c].backwards,
							     reshapes[c].backwards ? 0 : 3 * MIB });
			for (unsigned i = 0; i < written; i++) {
				struct super *s = &v.supers[i];

				s->now = s->next;
				s->events++;
				s->flags = 0;
				s->position = NOWHERE;
				s->offset = s->new_offset;
			}
			expect_contents(&v, 4, 3 * MIB);
			end(&v);
		}
	}
}

/* The place is gone, the old shape still there: the kernel writes both a moment apart. Before it begins, lvm2's wish may be there. */
static void test_moments(void **state)
{
	struct volume v;

	(void)state;
	begin_reshape(&v, &(struct reshape){ "raid5_n", &five_4, &five_4_last, true, 0 });
	for (unsigned i = 0; i < 4; i++) {
		v.supers[i].flags = 0;
		v.supers[i].position = NOWHERE;
		v.supers[i].offset = ROOM;
	}
	expect_contents(&v, 4, 3 * MIB);
	end(&v);
	begin_reshape(&v, &(struct reshape){ "raid5_n", &five_4, &five_4_last, true, 3 * MIB });
	for (unsigned i = 0; i < 4; i++) {
		v.supers[i].flags = 0;
		v.supers[i].position = NOWHERE;
	}
	expect_contents(&v, 4, 3 * MIB);
	assemble(&v, 0);
	expect_remark(&v.b, "vg/r: is raid5 of 4 images by its raid metadata, raid5_n of 4 by the volume group");
	assert_string_equal(blkalign_node_str(get(&v.b, "vg/r"), BLKALIGN_ATTR_MD_LAYOUT_NAME), "left-symmetric");
	done(&v.b);
	end(&v);
}

/* Images were taken away; the volume group has them until lvm2 is called once more. */
static void test_images_removed(void **state)
{
	struct volume v;
	const struct super s = {
		.now = five_3, .next = five_3, .events = 40, .position = NOWHERE, .array = 2 * MIB, .offset = ROOM, .new_offset = ROOM
	};

	(void)state;
	begin(&v, "raid5_ls+RESHAPE+RESHAPE_DATA_OFFSET", 4, 64 * KIB);
	all_supers(&v, &s);
	v.supers[3].slot = UINT32_MAX;
	fill(&v, &five_3, ROOM, 0, 2 * MIB);
	expect_contents(&v, 4, 2 * MIB);
	assemble(&v, 0);
	expect_remark(&v.b, "vg/r_rimage_3: is no part of its volume any more, and waits for lvm2 to remove it: not used");
	assert_int_equal(blkalign_node_u64(get(&v.b, "vg/r"), BLKALIGN_ATTR_MD_MEMBERS), 3);
	done(&v.b);
	end(&v);
}

/* --- takeovers --- */

static const struct takeover {
	const char *type;
	unsigned images;
	const struct shape *old, *new; /* `new` NULL: only the old one is tried */
} takeovers[] = {
	{ "raid6_n_6", 5, &five_4_last, &six_5_last },						    /* Q is added */
	{ "raid6_ls_6", 5, &five_4, &six_5 },	       { "raid5_n", 4, &six_5_last, &five_4_last }, /* and taken away */
	{ "raid5_n", 4, &zero_3, &five_4_last },						    /* parity is added */
	{ "raid5_n", 2, &one_2, &five_2_last },	       { "raid1", 2, &five_2_last, &one_2 },
};

/* The raid metadata is as before it, as after it, and half. */
static void test_takeovers(void **state)
{
	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(takeovers); k++) {
		const struct takeover *c = &takeovers[k];
		struct super s = { .now = *c->old, .next = *c->old, .events = 9, .position = NOWHERE, .array = size_of(c->old) };
		unsigned members = c->old->members < c->images ? c->old->members : c->images;
		struct volume v;

		for (unsigned written = 0; written <= members; written++) {
			begin(&v, c->type, c->images, 64 * KIB);
			all_supers(&v, &s);
			for (unsigned i = 0; i < written; i++) {
				v.supers[i].now = v.supers[i].next = *c->new;
				v.supers[i].events++;
			}
			/* What is new is to be filled. */
			if (c->images > c->old->members)
				v.rebuild = v.blank = 1U << c->old->members;
			fill(&v, c->old, 0, 0, size_of(c->old));
			expect_content(&v, 0, size_of(c->old));
			done(&v.b);
			end(&v);
		}
	}
}

/* --- what is not believed --- */

static void test_one_liar(void **state)
{
	struct volume v;
	struct super s = { .now = five_4, .next = five_4, .events = 12, .position = NOWHERE, .array = 3 * MIB };

	(void)state;
	begin(&v, "raid5_ls", 4, 64 * KIB);
	all_supers(&v, &s);
	fill(&v, &five_4, 0, 0, 3 * MIB);
	v.supers[2].now = v.supers[2].next = five_4_last;
	v.supers[2].events = 99;
	memset(v.data[2], JUNK, COMPONENT);
	expect_content(&v, 0, 3 * MIB);
	expect_remark(&v.b, "vg/r_rimage_2: its raid metadata tells of another layout than the volume group does");
	done(&v.b);
	end(&v);
}

static const struct field {
	unsigned at, bytes;
} fields[] = { { 8, 4 },  { 12, 4 }, { 24, 8 }, { 48, 4 }, { 52, 4 }, { 56, 4 }, { 60, 4 },  { 64, 8 },
	       { 72, 4 }, { 76, 4 }, { 80, 4 }, { 84, 4 }, { 88, 8 }, { 96, 8 }, { 104, 8 }, { 112, 8 } };

/* Over the images that are there. */
static unsigned try_field(struct volume *v, const struct field *f, uint64_t value)
{
	uint8_t block[4096];
	struct dev *dev;

	for (unsigned i = 0; i < v->images; i++) {
		struct image *im = &v->b.images[i];

		put_super(im->data + RMETA_AT, &v->supers[i]);
		le(im->data + RMETA_AT, f->at, value, f->bytes);
	}
	stack_free(v->b.stack);
	assert_int_equal(stack_new(graph_new("images"), NULL, &v->b.stack), 0);
	v->b.graph = stack_graph(v->b.stack);
	for (unsigned i = 0; i < v->images; i++) {
		assert_int_equal(dev_open_memory("pv", v->b.images[i].data, v->b.images[i].size, false, &dev), 0);
		add_dev(&v->b, "pv", dev, 512, 512);
	}
	run(&v->b);
	dev = stack_dev(v->b.stack, get(&v->b, "vg/r"));
	assert_true(dev || blkalign_graph_remarks(v->b.graph) > 0);
	assert_true(!dev || dev->size_bytes <= 4 * MIB);
	for (uint64_t at = 0; dev && at < dev->size_bytes; at += 512 * KIB)
		(void)dev_read(dev, at, block, sizeof(block), NULL);
	return dev != NULL;
}

/* Fields of all superblocks, one at a time: refused or read, in bounds. */
static void test_hostile(void **state)
{
	static const uint64_t values[] = { 0, 1, 3, 64, 4096, 0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX / 512, UINT64_MAX };
	static const unsigned cases[] = { 0, 3, 9 };
	unsigned readable = 0, all = 0;

	(void)state;
	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		struct volume v;

		begin_reshape(&v, &reshapes[cases[c]]);
		assemble(&v, 0);
		for (size_t f = 0; f < ARRAY_SIZE(fields); f++)
			for (size_t k = 0; k < ARRAY_SIZE(values); k++, all++)
				readable += try_field(&v, &fields[f], values[k]);
		done(&v.b);
		end(&v);
	}
	assert_true(readable > 0 && readable < all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reshaping), cmocka_unit_test(test_read_only),	 cmocka_unit_test(test_half_written),
		cmocka_unit_test(test_moments),	  cmocka_unit_test(test_images_removed), cmocka_unit_test(test_takeovers),
		cmocka_unit_test(test_one_liar),  cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
