/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tree.h"

#include <blkalign/source.h>

#include <time.h>
#include <zlib.h>

#include "graph/graph.h"
#include "snap/snap.h"
#include "snap/snapshot.h"

static char folder[PATH_MAX];

static int setup_founding(void **state)
{
	(void)state;
	tree_make(folder, "founding");
	return 0;
}

static int setup_empty(void **state)
{
	(void)state;
	tree_make(folder, NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_remove(folder);
	return 0;
}

static const char *in_folder(const char *name)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static struct blkalign_graph *read_tree(void)
{
	struct blkalign_source_options options = { .sysroot = folder };
	struct blkalign_graph *graph = NULL;

	assert_int_equal(blkalign_read_host(&options, &graph, NULL), 0);
	return graph;
}

static void write_file(const struct blkalign_graph *graph, bool keep_names, const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(blkalign_write_snapshot(graph, keep_names, file, NULL), 0);
	assert_int_equal(fclose(file), 0);
}

/* The uncompressed text, by zlib's own file interface. */
static char *text_of(const char *path)
{
	size_t room = 1 << 20;
	char *text = calloc(1, room);
	gzFile file = gzopen(path, "r");

	assert_non_null(file);
	assert_true(gzread(file, text, (unsigned)room - 1) > 0);
	gzclose(file);
	return text;
}

/* --- writing and reading back --- */

static void assert_same_value(const struct blkalign_value *a, const struct blkalign_value *b)
{
	assert_true(!a == !b);
	if (!a)
		return;
	assert_int_equal(a->origin, b->origin);
	assert_int_equal(a->type, b->type);
	if (a->type == BLKALIGN_TYPE_STR)
		assert_string_equal(a->str, b->str);
	else if (a->type == BLKALIGN_TYPE_BOOL)
		assert_int_equal(a->boolean, b->boolean);
	else
		assert_true(a->u64 == b->u64);
}

static void assert_same_edge(const struct blkalign_edge *a, const struct blkalign_edge *b)
{
	assert_string_equal(blkalign_node_name(a->lower), blkalign_node_name(b->lower));
	assert_true(a->upper_offset_bytes == b->upper_offset_bytes);
	assert_true(a->lower_offset_bytes == b->lower_offset_bytes);
	assert_true(a->length_bytes == b->length_bytes);
	assert_true(a->chunk_bytes == b->chunk_bytes);
	assert_int_equal(a->stripes, b->stripes);
	assert_int_equal(a->segment, b->segment);
	assert_int_equal(a->slot, b->slot);
	assert_string_equal(a->state ? a->state : "", b->state ? b->state : "");
}

static void assert_same(const struct blkalign_graph *a, const struct blkalign_graph *b)
{
	assert_int_equal(blkalign_graph_size(a), blkalign_graph_size(b));
	for (size_t i = 0; i < blkalign_graph_size(a); i++) {
		const struct blkalign_node *x = blkalign_graph_node(a, i), *y = blkalign_graph_node(b, i);

		assert_string_equal(blkalign_node_name(x), blkalign_node_name(y));
		assert_int_equal(blkalign_node_kind(x), blkalign_node_kind(y));
		for (unsigned k = 0; k < BLKALIGN_ATTR_COUNT; k++)
			assert_same_value(blkalign_node_value(x, k), blkalign_node_value(y, k));
		assert_int_equal(blkalign_node_edges(x), blkalign_node_edges(y));
		for (size_t k = 0; k < blkalign_node_edges(x); k++)
			assert_same_edge(blkalign_node_edge(x, k), blkalign_node_edge(y, k));
	}
	assert_int_equal(blkalign_graph_remarks(a), blkalign_graph_remarks(b));
	for (size_t i = 0; i < blkalign_graph_remarks(a); i++)
		assert_string_equal(blkalign_graph_remark(a, i), blkalign_graph_remark(b, i));
}

static void a_host_survives_the_round_trip(void **state)
{
	struct blkalign_graph *graph = read_tree(), *again;
	struct blkalign_node *disk = graph_find(graph, "sda");

	(void)state;
	assert_int_equal(graph_remark(graph, "quoted \" back\\slash, line\nfeed, \xc3\xa4"), 0);
	assert_int_equal(graph_set_u64(disk, BLKALIGN_ATTR_SIZE, UINT64_MAX - 1, BLKALIGN_ORIGIN_IOCTL), 0);
	assert_int_equal(graph_set_i64(disk, BLKALIGN_ATTR_ALIGNMENT_OFFSET, -1, BLKALIGN_ORIGIN_COMPUTED), 0);
	write_file(graph, true, in_folder("kept"));
	assert_int_equal(blkalign_read_snapshot(NULL, in_folder("kept"), &again, NULL), 0);
	assert_same(graph, again);
	assert_string_equal(blkalign_graph_source(again), "snapshot");
	blkalign_graph_free(again);
	blkalign_graph_free(graph);
}

static void bytes_that_are_no_utf8_are_shown(void **state)
{
	struct blkalign_graph *graph = graph_new("images"), *again;
	struct blkalign_node *node;

	(void)state;
	assert_int_equal(graph_add(graph, BLKALIGN_KIND_DISK, "d\xff\xc3\xa4\xed\xa0\x80", &node), 0);
	write_file(graph, true, in_folder("bytes"));
	assert_int_equal(blkalign_read_snapshot(NULL, in_folder("bytes"), &again, NULL), 0);
	assert_non_null(blkalign_graph_find(again, "d\\xff\xc3\xa4\\xed\\xa0\\x80"));
	blkalign_graph_free(again);
	blkalign_graph_free(graph);
}

/* --- pseudonyms --- */

static void add_texts(struct blkalign_graph *graph)
{
	struct blkalign_node *disk = graph_find(graph, "sda");

	assert_int_equal(
		graph_remark(graph, "PV of vg-data (vg--data-home--fs) on founding-host, mounted at /srv/secret: see fast/scratch"), 0);
	assert_int_equal(graph_set_str(disk, BLKALIGN_ATTR_KERNEL_MESSAGES, "sd 0:0:0:0: [sda] SER-c-0042\nXFS (dm-0): home-fs",
				       BLKALIGN_ORIGIN_SYSTEM),
			 0);
	assert_int_equal(graph_set_str(disk, BLKALIGN_ATTR_MD_NAME, "founding-host:tank", BLKALIGN_ORIGIN_ONDISK), 0);
	assert_int_equal(graph_set_str(disk, BLKALIGN_ATTR_TOOL_MESSAGES, "mdadm: /dev/md/tank has been started", BLKALIGN_ORIGIN_TOOL), 0);
	assert_int_equal(graph_set_str(disk, BLKALIGN_ATTR_FS_LABEL, "Finance 2024", BLKALIGN_ORIGIN_ONDISK), 0);
	assert_int_equal(graph_set_str(disk, BLKALIGN_ATTR_DEVPATH, "/home/alice/customer/sda", BLKALIGN_ORIGIN_FILE), 0);
}

static void no_original_survives(void **state)
{
	static const char *const originals[] = {
		"vg-data",     "vg--data",	"home-fs", "home--fs", "fast",	"scratch",  "cold-safe",	"founding-host",
		"/srv/secret", "SER-c-0042",	"NVSER77", "AHSER",    "VDSER", "OUTDISK",  "5000c500",		"MTMNQnov",
		"4066984a",    "/tmp/back.img", "tank",	   "Finance",  "alice", "customer", "0123456789abcdef",
	};
	struct blkalign_graph *graph = read_tree(), *again;
	char *text;

	(void)state;
	add_texts(graph);
	write_file(graph, false, in_folder("hidden"));
	text = text_of(in_folder("hidden"));
	for (size_t i = 0; i < sizeof(originals) / sizeof(originals[0]); i++)
		if (strstr(text, originals[i]))
			fail_msg("%s survives: %.80s", originals[i], strstr(text, originals[i]));
	/* what stays: common places, devices, models */
	assert_non_null(strstr(text, "\"mount_point\":\"/home\""));
	assert_non_null(strstr(text, "ROTOR3000"));
	assert_non_null(strstr(text, "\"CRYPT-LUKS2-id"));
	assert_non_null(strstr(text, "mdadm: /dev/md/name"));
	assert_int_equal(blkalign_read_snapshot(NULL, in_folder("hidden"), &again, NULL), 0);
	assert_int_equal(blkalign_graph_size(again), blkalign_graph_size(graph));
	blkalign_graph_free(again);
	blkalign_graph_free(graph);
	free(text);
}

/* Expected: printf 'vg:vg-data' | openssl dgst -sha256 -hmac MACHINE-ID, the first 12 digits. */
static void pseudonyms_are_keyed_by_the_machine_id(void **state)
{
	struct blkalign_graph *graph = read_tree(), *again;
	const struct blkalign_node *node;

	(void)state;
	write_file(graph, false, in_folder("keyed"));
	blkalign_graph_free(graph);
	assert_int_equal(blkalign_read_snapshot(NULL, in_folder("keyed"), &again, NULL), 0);
	node = blkalign_graph_find(again, "vg81c48341bebb/lv13e137747a62");
	assert_non_null(node);
	assert_string_equal(blkalign_node_str(node, BLKALIGN_ATTR_DM_NAME), "vg81c48341bebb-lv13e137747a62");
	assert_string_equal(blkalign_node_str(node, BLKALIGN_ATTR_DEVPATH), "/dev/mapper/vg81c48341bebb-lv13e137747a62");
	assert_string_equal(blkalign_node_str(node, BLKALIGN_ATTR_MOUNT_POINT), "/mnt-0090104d3956");
	assert_string_equal(blkalign_node_str(blkalign_graph_host(again), BLKALIGN_ATTR_HOST_NAME), "hostf550b786a9bb");
	assert_string_equal(blkalign_node_str(blkalign_graph_find(again, "nvme0n1"), BLKALIGN_ATTR_SERIAL), "serialabc7e6744870");
	blkalign_graph_free(again);
}

static void pseudonyms_are_counted_without_a_machine_id(void **state)
{
	struct blkalign_graph *graph, *again;

	(void)state;
	assert_int_equal(unlink(in_folder("etc/machine-id")), 0);
	graph = read_tree();
	write_file(graph, false, in_folder("counted"));
	assert_int_equal(blkalign_read_snapshot(NULL, in_folder("counted"), &again, NULL), 0);
	assert_non_null(blkalign_graph_find(again, "vg1/lv1"));
	assert_non_null(blkalign_graph_find(again, "luks:name1"));
	assert_string_equal(blkalign_node_str(blkalign_graph_find(again, "vg1/lv1"), BLKALIGN_ATTR_MOUNT_POINT), "/mnt-1");
	blkalign_graph_free(again);
	blkalign_graph_free(graph);
}

/* --- written by hand --- */

static struct blkalign_graph *decode(const char *text)
{
	struct blkalign_error error = { 0 };
	struct blkalign_graph *graph = NULL;

	if (snapshot_decode("test", text, strlen(text), &graph, &error) < 0)
		fail_msg("%s", error.message);
	return graph;
}

static void defaults_of_hand_written_ones(void **state)
{
	struct blkalign_graph *graph = decode("{\"blkalign-snapshot\":1,\"nodes\":["
					      "{\"name\":\"md0\",\"kind\":\"md\",\"md_level\":\"raid0\",\"x-why\":[{}],"
					      "\"on\":[{\"node\":\"sda\",\"offset_bytes\":1048576,\"stripes\":2,\"chunk_bytes\":65536},"
					      "{\"node\":\"sdb\",\"stripes\":2,\"chunk_bytes\":65536,\"slot\":null},"
					      "{\"node\":\"sdb\",\"segment\":1,\"upper_offset_bytes\":null}]},"
					      "{\"name\":\"sdb\",\"kind\":\"disk\",\"size_bytes\":null},"
					      "{\"name\":\"sda\",\"kind\":\"disk\",\"size_bytes\":9223372036854775808,\"origin\":\"tool\","
					      "\"optimal_io_bytes\":0,\"origins\":{\"optimal_io_bytes\":\"vpd\"}}]}");
	const struct blkalign_node *md = blkalign_graph_find(graph, "md0"), *sda = blkalign_graph_find(graph, "sda");
	const struct blkalign_edge *e = blkalign_node_edge(md, 0);

	(void)state;
	assert_int_equal(blkalign_node_value(md, BLKALIGN_ATTR_MD_LEVEL)->origin, BLKALIGN_ORIGIN_SNAPSHOT);
	assert_true(blkalign_node_u64(sda, BLKALIGN_ATTR_SIZE) == UINT64_C(9223372036854775808));
	assert_int_equal(blkalign_node_value(sda, BLKALIGN_ATTR_SIZE)->origin, BLKALIGN_ORIGIN_TOOL);
	assert_int_equal(blkalign_node_value(sda, BLKALIGN_ATTR_OPTIMAL_IO)->origin, BLKALIGN_ORIGIN_VPD);
	assert_null(blkalign_node_value(blkalign_graph_find(graph, "sdb"), BLKALIGN_ATTR_SIZE));
	assert_int_equal(blkalign_node_edges(md), 3);
	assert_true(e->slot == 0 && e->segment == 0 && e->upper_offset_bytes == 0 && e->length_bytes == BLKALIGN_UNKNOWN);
	assert_int_equal(e->lower_offset_bytes, 1048576);
	e = blkalign_node_edge(md, 1);
	assert_true(e->slot == BLKALIGN_SLOT_NONE && e->lower_offset_bytes == BLKALIGN_UNKNOWN);
	e = blkalign_node_edge(md, 2);
	assert_true(e->slot == 0 && e->segment == 1 && e->stripes == 1 && e->upper_offset_bytes == BLKALIGN_UNKNOWN);
	assert_true(blkalign_node_index(md) == 2); /* lower devices come first */
	blkalign_graph_free(graph);
}

#define NODE(text) "{\"blkalign-snapshot\":1,\"nodes\":[" text "]}"
#define DISK(text) NODE("{\"name\":\"sda\",\"kind\":\"disk\"," text "}")
#define UPON(text) NODE("{\"name\":\"sda\",\"kind\":\"disk\"},{\"name\":\"up\",\"kind\":\"dm\",\"on\":[" text "]}")

static const struct {
	const char *text, *message;
	int code;
} wrong[] = {
	{ DISK("\"optimal_io_byte\":0"), "node 1 (\"sda\"): there is no key \"optimal_io_byte\"", -EBADMSG },
	{ "{\"blkalign-snapshot\":1,\"node\":[]}", "there is no key \"node\"", -EBADMSG },
	{ DISK("\"size_bytes\":-1"), "\"size_bytes\" must be", -EBADMSG },
	{ DISK("\"size_bytes\":18446744073709551615"), "\"size_bytes\" must be", -EBADMSG },
	{ DISK("\"size_bytes\":18446744073709551616"), "\"size_bytes\" must be", -EBADMSG },
	{ DISK("\"size_bytes\":99999999999999999999999999999999"), "\"size_bytes\" must be", -EBADMSG },
	{ DISK("\"size_bytes\":1.5"), "a whole number, but is 1.5", -EBADMSG },
	{ DISK("\"size_bytes\":1e3"), "a whole number", -EBADMSG },
	{ DISK("\"size_bytes\":\"512\""), "a whole number", -EBADMSG },
	{ DISK("\"size_bytes\":NaN"), "a whole number, but is NaN", -EBADMSG },
	{ DISK("\"alignment_offset_bytes\":99999999999999999999"), "alignment_offset_bytes", -EBADMSG },
	{ DISK("\"rotational\":1"), "\"rotational\" must be true or false", -EBADMSG },
	{ DISK("\"model\":5"), "\"model\" must be a text", -EBADMSG },
	{ DISK("\"model\":\"a\\u0000b\""), "NUL", -EBADMSG },
	{ DISK("\"model\":\"\xff\""), "no valid JSON", -EBADMSG },
	{ DISK("\"origin\":\"hearsay\""), "there is no origin \"hearsay\"", -EBADMSG },
	{ DISK("\"origins\":{\"sizes\":\"tool\"}"), "there is no key \"sizes\" in \"origins\"", -EBADMSG },
	{ NODE("{\"name\":\"a\",\"kind\":\"drive\"}"), "there is no kind \"drive\"", -EBADMSG },
	{ NODE("{\"kind\":\"disk\"}"), "\"name\" must be a text", -EBADMSG },
	{ NODE("{\"name\":\"\",\"kind\":\"disk\"}"), "empty", -EBADMSG },
	{ NODE("{\"name\":\"a\"}"), "\"kind\" must be a text", -EBADMSG },
	{ NODE("{\"name\":\"a\",\"kind\":\"disk\"},{\"name\":\"a\",\"kind\":\"disk\"}"), "node 2 (\"a\"): there are two", -EBADMSG },
	{ NODE("5"), "must hold objects", -EBADMSG },
	{ UPON("{\"node\":\"sdb\"}"), "node 2 (\"up\"): lies on \"sdb\"", -EBADMSG },
	{ UPON("{\"offset_bytes\":0}"), "has no \"node\"", -EBADMSG },
	{ UPON("{\"node\":\"sda\",\"offset\":0}"), "there is no key \"offset\" in \"on\"", -EBADMSG },
	{ UPON("{\"node\":\"sda\",\"stripes\":0}"), "at least 1", -EBADMSG },
	{ UPON("{\"node\":\"sda\",\"stripes\":2}"), "no \"chunk_bytes\"", -EBADMSG },
	{ UPON("{\"node\":\"sda\",\"slot\":4294967296}"), "below 4294967295", -EBADMSG },
	{ UPON("{\"node\":\"sda\",\"state\":\"tired\"}"), "there is no state \"tired\"", -EBADMSG },
	{ UPON("{\"node\":\"up\"}"), "circle", -EBADMSG },
	{ NODE("{\"name\":\"a\",\"kind\":\"dm\",\"on\":[{\"node\":\"b\"}]},{\"name\":\"b\",\"kind\":\"dm\",\"on\":[{\"node\":\"a\"}]}"),
	  "circle", -EBADMSG },
	{ "{\"blkalign-snapshot\":2,\"nodes\":[],\"new\":1}", "version 2", -ENOTSUP },
	{ "{\"nodes\":[]}", "\"blkalign-snapshot\" is missing", -EBADMSG },
	{ "{\"blkalign-snapshot\":1}", "\"nodes\" must be a list", -EBADMSG },
	{ "{\"blkalign-snapshot\":1,\"nodes\":[],\"remarks\":[1]}", "\"remarks\" must be", -EBADMSG },
	{ "[]", "no JSON object", -EBADMSG },
	{ "", "no valid JSON", -EBADMSG },
	{ "{\"blkalign-snapshot\":1,\n\"nodes\":[],\n}", "line 3", -EBADMSG },
	{ NODE("") " {}", "line 1 is no valid JSON", -EBADMSG },
	{ NODE("") "\n\n{}", "is no valid JSON", -EBADMSG },
	{ NODE("") "}", "is no valid JSON", -EBADMSG },
	{ DISK("\"x-deep\":[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]"), "no valid JSON", -EBADMSG },
};

/* --- too much of it --- */

static void repeat(struct strbuf *buf, const char *text, unsigned count)
{
	while (count--)
		strbuf_add(buf, text);
}

static void expect_refusal(const struct strbuf *buf, int code, const char *message)
{
	struct blkalign_error error = { 0 };
	struct blkalign_graph *graph = NULL;
	clock_t begin = clock();

	assert_int_equal(snapshot_decode("test", strbuf_text(buf), buf->length, &graph, &error), code);
	assert_null(graph);
	if (!strstr(error.message, message))
		fail_msg("gave %s", error.message);
	assert_true(clock() - begin < 2 * CLOCKS_PER_SEC);
}

static void a_million_edges_are_refused(void **state)
{
	_cleanup_strbuf_ struct strbuf buf = { 0 };

	(void)state;
	strbuf_add(&buf, "{\"blkalign-snapshot\":1,\"nodes\":[{\"name\":\"a\",\"kind\":\"disk\"},{\"name\":\"b\",\"kind\":\"lv\",\"on\":[");
	repeat(&buf, "{\"node\":\"a\"},", 1000000);
	strbuf_add(&buf, "{\"node\":\"a\"}]}]}");
	expect_refusal(&buf, -E2BIG, "more than 160 MiB");
}

static void a_million_empty_objects_are_refused(void **state)
{
	_cleanup_strbuf_ struct strbuf buf = { 0 };

	(void)state;
	strbuf_add(&buf, "{\"blkalign-snapshot\":1,\"nodes\":[],\"x-more\":[");
	repeat(&buf, "{},", 1000000);
	strbuf_add(&buf, "{}]}");
	expect_refusal(&buf, -E2BIG, "more than 160 MiB");
}

static void twenty_thousand_nodes_are_read(void **state)
{
	_cleanup_strbuf_ struct strbuf buf = { 0 };
	struct blkalign_graph *graph = NULL;

	(void)state;
	strbuf_add(&buf, "{\"blkalign-snapshot\":1,\"nodes\":[{\"name\":\"a\",\"kind\":\"disk\"}");
	for (unsigned i = 0; i < 20000; i++)
		strbuf_printf(&buf, ",{\"name\":\"%0200u\",\"kind\":\"lv\",\"on\":[{\"node\":\"a\",\"offset_bytes\":%u}]}", i, i * 4096);
	strbuf_add(&buf, "]}");
	assert_int_equal(snapshot_decode("test", strbuf_text(&buf), buf.length, &graph, NULL), 0);
	assert_int_equal(blkalign_graph_size(graph), 20001);
	blkalign_graph_free(graph);
}

static void nodes_upon_nodes(struct strbuf *buf, unsigned count)
{
	strbuf_add(buf, "{\"blkalign-snapshot\":1,\"nodes\":[{\"name\":\"0\",\"kind\":\"disk\"}");
	for (unsigned i = 1; i <= count; i++)
		strbuf_printf(buf, ",{\"name\":\"%u\",\"kind\":\"dm\",\"on\":[{\"node\":\"%u\"}]}", i, i - 1);
	strbuf_add(buf, "]}");
}

static void sixty_four_layers_and_no_more(void **state)
{
	_cleanup_strbuf_ struct strbuf fits = { 0 }, deep = { 0 };
	struct blkalign_graph *graph = NULL;

	(void)state;
	nodes_upon_nodes(&fits, GRAPH_DEPTH_MAX);
	assert_int_equal(snapshot_decode("test", strbuf_text(&fits), fits.length, &graph, NULL), 0);
	blkalign_graph_free(graph);
	nodes_upon_nodes(&deep, GRAPH_DEPTH_MAX + 1);
	expect_refusal(&deep, -EBADMSG, "deep");
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct blkalign_error error = { 0 };
		struct blkalign_graph *graph = NULL;
		int r = snapshot_decode("test", wrong[i].text, strlen(wrong[i].text), &graph, &error);

		if (r != wrong[i].code || !strstr(error.message, wrong[i].message))
			fail_msg("%s\ngave %d %s\nexpected %s", wrong[i].text, r, error.message, wrong[i].message);
		assert_null(graph);
	}
}

/* 64 steps down are allowed, 65 are not. */
static void depth_is_bounded(void **state)
{
	(void)state;
	for (unsigned layers = 64; layers <= 66; layers++) {
		struct strbuf text = { 0 };
		struct blkalign_graph *graph = NULL;
		int r;

		strbuf_add(&text, "{\"blkalign-snapshot\":1,\"nodes\":[{\"name\":\"n0\",\"kind\":\"disk\"}");
		for (unsigned i = 1; i < layers; i++)
			strbuf_printf(&text, ",{\"name\":\"n%u\",\"kind\":\"dm\",\"on\":[{\"node\":\"n%u\"}]}", i, i - 1);
		strbuf_add(&text, "]}");
		r = snapshot_decode("test", text.text, text.length, &graph, NULL);
		assert_int_equal(r, layers <= 65 ? 0 : -EBADMSG);
		blkalign_graph_free(graph);
		strbuf_done(&text);
	}
}

/* 100,000 edges in the worst order: this took minutes before edges were sorted and cycles looked for once. */
static void many_edges_are_quick(void **state)
{
	struct strbuf text = { 0 };
	struct blkalign_graph *graph = NULL;

	(void)state;
	strbuf_add(&text,
		   "{\"blkalign-snapshot\":1,\"nodes\":[{\"name\":\"d\",\"kind\":\"disk\"},{\"name\":\"u\",\"kind\":\"dm\",\"on\":[");
	for (unsigned i = 100000; i-- > 0;)
		strbuf_printf(&text, "{\"node\":\"d\",\"segment\":%u}%s", i, i ? "," : "]}]}");
	assert_int_equal(snapshot_decode("test", text.text, text.length, &graph, NULL), 0);
	assert_int_equal(blkalign_node_edges(blkalign_graph_find(graph, "u")), 100000);
	blkalign_graph_free(graph);
	strbuf_done(&text);
}

/* --- files --- */

static void compressed_and_plain(void **state)
{
	struct blkalign_graph *graph;
	struct blkalign_error error = { 0 };
	const char *path = in_folder("snap");
	gzFile gz = gzopen(path, "w");

	(void)state;
	assert_true(gzputs(gz, DISK("\"size_bytes\":512")) > 0);
	assert_int_equal(gzclose(gz), Z_OK);
	assert_true(blkalign_is_snapshot(path));
	assert_int_equal(blkalign_read_snapshot(NULL, path, &graph, NULL), 0);
	blkalign_graph_free(graph);
	assert_int_equal(truncate(path, 60), 0);
	assert_int_equal(blkalign_read_snapshot(NULL, path, &graph, &error), -EBADMSG);
	assert_non_null(strstr(error.message, "cut short"));
	tree_write(folder, "snap", "\n " DISK("\"size_bytes\":512") "\n");
	assert_int_equal(blkalign_read_snapshot(NULL, path, &graph, NULL), 0);
	blkalign_graph_free(graph);
	tree_write(folder, "snap", "no snapshot at all");
	assert_false(blkalign_is_snapshot(path));
	assert_int_equal(blkalign_read_snapshot(NULL, path, &graph, &error), -EBADMSG);
	assert_false(blkalign_is_snapshot("/nonexistent"));
}

/* 65 MiB of blanks take 64 KiB. */
static void a_bomb_is_refused(void **state)
{
	static char blanks[1 << 20];
	struct blkalign_graph *graph;
	struct blkalign_error error = { 0 };
	gzFile gz = gzopen(in_folder("bomb"), "w");

	(void)state;
	memset(blanks, ' ', sizeof(blanks));
	assert_true(gzputs(gz, "{\"blkalign-snapshot\":1,") > 0);
	for (unsigned i = 0; i < 65; i++)
		assert_int_equal(gzwrite(gz, blanks, sizeof(blanks)), sizeof(blanks));
	assert_int_equal(gzclose(gz), Z_OK);
	assert_int_equal(blkalign_read_snapshot(NULL, in_folder("bomb"), &graph, &error), -EFBIG);
}

static int read_two(const char *a, const char *b, struct blkalign_graph **ret_graph, struct blkalign_error *reterr)
{
	const char *const targets[] = { a, b };

	return blkalign_read_targets(NULL, targets, b ? 2 : 1, ret_graph, reterr);
}

static void targets_are_told_apart(void **state)
{
	struct blkalign_error error = { 0 };
	struct blkalign_graph *graph;
	char image[2 * PATH_MAX], snapshot[2 * PATH_MAX], empty[2 * PATH_MAX];

	(void)state;
	snprintf(image, sizeof(image), "%s/disk.img", folder);
	snprintf(snapshot, sizeof(snapshot), "%s/snap", folder);
	snprintf(empty, sizeof(empty), "%s/proc", folder);
	tree_write(folder, "disk.img", "");
	assert_int_equal(truncate(image, 1 << 20), 0);
	tree_write(folder, "snap", DISK("\"size_bytes\":512"));

	assert_int_equal(read_two(image, NULL, &graph, NULL), 0);
	assert_string_equal(blkalign_graph_source(graph), "images");
	blkalign_graph_free(graph);
	assert_int_equal(read_two(snapshot, NULL, &graph, NULL), 0);
	assert_string_equal(blkalign_graph_source(graph), "snapshot");
	blkalign_graph_free(graph);
	assert_int_equal(read_two(folder, NULL, &graph, NULL), 0); /* the root of a dumped tree */
	assert_non_null(blkalign_graph_find(graph, "md127"));
	blkalign_graph_free(graph);
	assert_true(blkalign_is_snapshot(folder));
	assert_false(blkalign_is_snapshot(image));

	assert_int_equal(read_two(empty, NULL, &graph, &error), -EISDIR);
	assert_non_null(strstr(error.message, "expected"));
	assert_int_equal(read_two(snapshot, snapshot, &graph, &error), -EINVAL);
	assert_int_equal(read_two(snapshot, image, &graph, &error), -EINVAL);
	assert_int_equal(read_two(image, snapshot, &graph, &error), -EINVAL);
	assert_int_equal(read_two("/dev/null", NULL, &graph, &error), -ENOTSUP);
	assert_int_equal(read_two("/nonexistent", NULL, &graph, &error), -ENODEV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_host_survives_the_round_trip, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(bytes_that_are_no_utf8_are_shown, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(no_original_survives, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(pseudonyms_are_keyed_by_the_machine_id, setup_founding, teardown),
		cmocka_unit_test_setup_teardown(pseudonyms_are_counted_without_a_machine_id, setup_founding, teardown),
		cmocka_unit_test(defaults_of_hand_written_ones),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(a_million_edges_are_refused),
		cmocka_unit_test(a_million_empty_objects_are_refused),
		cmocka_unit_test(twenty_thousand_nodes_are_read),
		cmocka_unit_test(sixty_four_layers_and_no_more),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(many_edges_are_quick),
		cmocka_unit_test_setup_teardown(compressed_and_plain, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(a_bomb_is_refused, setup_empty, teardown),
		cmocka_unit_test_setup_teardown(targets_are_told_apart, setup_founding, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
