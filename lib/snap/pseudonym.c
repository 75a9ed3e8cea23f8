/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All originals are collected first, each with its class; then values are replaced by looking them up, and texts by looking up every
 * piece of them that begins and ends where a word does.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "graph/graph.h"
#include "snap/pseudonym.h"

/* Originals that are looked for inside of texts: shorter ones would hit words of the text itself, longer ones are no names. */
#define TEXT_ORIGINAL_MIN 3
#define TEXT_ORIGINAL_MAX 4096

enum class { CLASS_SERIAL, CLASS_ID, CLASS_HOST, CLASS_VG, CLASS_LV, CLASS_NAME, CLASS_LABEL, CLASS_MOUNT, CLASS_FILE, CLASS_COUNT };

static const char *const class_words[CLASS_COUNT] = {
	[CLASS_SERIAL] = "serial", [CLASS_ID] = "id",	    [CLASS_HOST] = "host",   [CLASS_VG] = "vg",	      [CLASS_LV] = "lv",
	[CLASS_NAME] = "name",	   [CLASS_LABEL] = "label", [CLASS_MOUNT] = "/mnt-", [CLASS_FILE] = "/file-",
};

struct entry {
	const char *original;
	const char *pseudonym;
	enum class class;
};

struct pseudonyms {
	const struct blkalign_graph *graph;
	struct arena *arena;
	struct entry *table; /* open addressing, power-of-two size */
	size_t room;
	size_t count;
	size_t longest;
	unsigned counters[CLASS_COUNT];
	const char **nodes; /* by index */
};

/* --- what stays --- */

/* Names and places that half of all machines have: they identify nobody, and a reader understands more with them. */
static bool is_common(enum class class, const char *text)
{
	static const char *const common[] = {
		"root",
		"swap",
		"home",
		"var",
		"tmp",
		"usr",
		"srv",
		"opt",
		"boot",
		"data",
		"primary",
		"EFI",
		"ESP",
		"EFI System",
		"EFI System Partition",
		"EFI system partition",
		"BIOS boot partition",
		"Linux filesystem",
		"Linux RAID",
		"Linux LVM",
		"Microsoft reserved partition",
		"Basic data partition",
		"localhost",
		"/",
		"/boot",
		"/boot/efi",
		"/efi",
		"/home",
		"/var",
		"/var/log",
		"/var/lib",
		"/var/tmp",
		"/tmp",
		"/usr",
		"/opt",
		"/srv",
		"/root",
		"/mnt",
		"/media",
		"[SWAP]",
	};

	if (class == CLASS_SERIAL || class == CLASS_ID)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (!strcmp(common[i], text))
			return true;
	return strlen(text) <= 3 && !text[strspn(text, "0123456789")]; /* md calls arrays 0 or 127 */
}

/* --- the table --- */

#define HASH_START UINT64_C(14695981039346656037) /* FNV-1a */

static uint64_t hash_step(uint64_t h, char c) { return (h ^ (unsigned char)c) * UINT64_C(1099511628211); }
static size_t hash_slot(const struct pseudonyms *p, uint64_t h) { return (size_t)(h ^ h >> 32) & (p->room - 1); }

static uint64_t hash(const char *text, size_t length)
{
	uint64_t h = HASH_START;

	for (size_t i = 0; i < length; i++)
		h = hash_step(h, text[i]);
	return h;
}

static bool is_entry(const struct entry *e, const char *text, size_t length)
{
	return !strncmp(e->original, text, length) && !e->original[length];
}

/* `class` CLASS_COUNT: the first of any class. */
static struct entry *find_hashed(const struct pseudonyms *p, uint64_t h, const char *text, size_t length, enum class class)
{
	if (!p->room)
		return NULL;
	for (size_t i = hash_slot(p, h); p->table[i].original; i = (i + 1) & (p->room - 1))
		if (is_entry(&p->table[i], text, length) && (class == CLASS_COUNT || p->table[i].class == class))
			return &p->table[i];
	return NULL;
}

static struct entry *find(const struct pseudonyms *p, const char *text, size_t length, enum class class)
{
	return find_hashed(p, hash(text, length), text, length, class);
}

static void insert(struct pseudonyms *p, struct entry entry)
{
	size_t i = hash_slot(p, hash(entry.original, strlen(entry.original)));

	while (p->table[i].original)
		i = (i + 1) & (p->room - 1);
	p->table[i] = entry;
}

static int reserve(struct pseudonyms *p)
{
	struct entry *old = p->table;
	size_t old_room = p->room, room = old_room ? old_room * 2 : 256;

	if (p->count * 2 < old_room)
		return 0;
	p->table = calloc(room, sizeof(*p->table));
	if (!p->table) {
		p->table = old;
		return -ENOMEM;
	}
	p->room = room;
	for (size_t i = 0; i < old_room; i++)
		if (old[i].original)
			insert(p, old[i]);
	free(old);
	return 0;
}

static int add_pair(struct pseudonyms *p, enum class class, const char *original, const char *pseudonym)
{
	if (reserve(p) < 0 || !original || !pseudonym)
		return -ENOMEM;
	insert(p, (struct entry){ original, pseudonym, class });
	p->count++;
	if (strlen(original) > p->longest)
		p->longest = strlen(original) < TEXT_ORIGINAL_MAX ? strlen(original) : TEXT_ORIGINAL_MAX;
	return 0;
}

/* --- making pseudonyms --- */

#define DIGEST_SHOWN 6 /* bytes: 48 bits keep ten thousand names apart */

static const char *keyed(struct pseudonyms *p, enum class class, const char *original)
{
	const char *secret = graph_secret(p->graph);
	unsigned char digest[EVP_MAX_MD_SIZE];
	char hex[2 * DIGEST_SHOWN + 1];
	_cleanup_free_ char *message = NULL;
	unsigned length = 0;

	if (asprintf(&message, "%s:%s", class_words[class], original) < 0)
		return NULL;
	if (!HMAC(EVP_sha256(), secret, (int)strlen(secret), (const unsigned char *)message, strlen(message), digest, &length))
		return NULL;
	for (size_t i = 0; i < DIGEST_SHOWN; i++)
		snprintf(hex + 2 * i, 3, "%02x", digest[i]);
	return arena_printf(p->arena, "%s%s", class_words[class], hex);
}

static const char *counted(struct pseudonyms *p, enum class class)
{
	return arena_printf(p->arena, "%s%u", class_words[class], ++p->counters[class]);
}

/* The pseudonym of `original`, made when it is new. */
static const char *replace(struct pseudonyms *p, enum class class, const char *original)
{
	struct entry *known = find(p, original, strlen(original), class);
	const char *pseudonym;

	if (!*original || is_common(class, original))
		return original;
	if (known)
		return known->pseudonym;
	pseudonym = graph_secret(p->graph) ? keyed(p, class, original) : counted(p, class);
	return add_pair(p, class, arena_strdup(p->arena, original), pseudonym) < 0 ? NULL : pseudonym;
}

/* --- values with an inner structure --- */

/* lvm2's reserved suffixes say what a volume is for; checks look at them. */
static const char *lv_suffix(const char *name)
{
	static const char *const suffixes[] = { "_rimage_", "_rmeta_", "_mimage_", "_mlog",   "_tdata", "_tmeta",   "_cdata",
						"_cmeta",   "_cvol",   "_corig",   "_wcorig", "_vdata", "_vorigin", "_pmspare" };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && at > name)
			return at;
	}
	return name + strlen(name);
}

static const char *replace_lv(struct pseudonyms *p, const char *name)
{
	const char *suffix = lv_suffix(name), *base = arena_strndup(p->arena, name, (size_t)(suffix - name));
	const char *pseudonym = base ? replace(p, CLASS_LV, base) : NULL;

	if (!pseudonym)
		return NULL;
	pseudonym = arena_printf(p->arena, "%s%s", pseudonym, suffix);
	if (*suffix && !find(p, name, strlen(name), CLASS_LV) && add_pair(p, CLASS_LV, arena_strdup(p->arena, name), pseudonym) < 0)
		return NULL;
	return pseudonym;
}

/* "homehost:name" */
static const char *replace_md_name(struct pseudonyms *p, const char *name)
{
	const char *colon = strchr(name, ':'), *host, *rest;

	if (!colon)
		return replace(p, CLASS_NAME, name);
	host = arena_strndup(p->arena, name, (size_t)(colon - name));
	host = host ? replace(p, CLASS_HOST, host) : NULL;
	rest = replace(p, CLASS_NAME, colon + 1);
	return host && rest ? arena_printf(p->arena, "%s:%s", host, rest) : NULL;
}

/* The word in front says which subsystem made the device. */
static const char *replace_dm_uuid(struct pseudonyms *p, const char *uuid)
{
	static const char *const prefixes[] = { "LVM-", "CRYPT-LUKS1-", "CRYPT-LUKS2-", "CRYPT-PLAIN-", "CRYPT-VERITY-", "mpath-" };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t length = strlen(prefixes[i]);
		const char *rest = !strncmp(uuid, prefixes[i], length) ? replace(p, CLASS_ID, uuid + length) : NULL;

		if (rest)
			return arena_printf(p->arena, "%s%s", prefixes[i], rest);
	}
	return replace(p, CLASS_ID, uuid);
}

static const char *double_hyphens(struct arena *arena, const char *name)
{
	char *doubled = arena_alloc(arena, 2 * strlen(name) + 1), *out = doubled;

	for (; doubled && *name; name++) {
		if (*name == '-')
			*out++ = '-';
		*out++ = *name;
	}
	return doubled;
}

/* An LV's name below /dev/mapper is made of the group's and its own: so is its pseudonym. */
static const char *replace_dm_name(struct pseudonyms *p, const struct blkalign_node *node, const char *dm_name)
{
	const char *vg = blkalign_node_str(node, BLKALIGN_ATTR_VG_NAME), *lv = blkalign_node_str(node, BLKALIGN_ATTR_LV_NAME);
	struct entry *known = find(p, dm_name, strlen(dm_name), CLASS_NAME);

	if (known)
		return known->pseudonym;
	if (!vg || !lv)
		return replace(p, CLASS_NAME, dm_name);
	vg = replace(p, CLASS_VG, vg);
	lv = replace_lv(p, lv);
	vg = vg ? double_hyphens(p->arena, vg) : NULL;
	lv = lv ? double_hyphens(p->arena, lv) : NULL;
	lv = vg && lv ? arena_printf(p->arena, "%s-%s", vg, lv) : NULL;
	return add_pair(p, CLASS_NAME, arena_strdup(p->arena, dm_name), lv) < 0 ? NULL : lv;
}

static const char *replace_name(struct pseudonyms *p, const struct blkalign_node *node, enum blkalign_attr attr, const char *value)
{
	if (attr == BLKALIGN_ATTR_HOST_NAME)
		return replace(p, CLASS_HOST, value);
	if (attr == BLKALIGN_ATTR_VG_NAME)
		return replace(p, CLASS_VG, value);
	if (attr == BLKALIGN_ATTR_LV_NAME)
		return replace_lv(p, value);
	if (attr == BLKALIGN_ATTR_MD_NAME)
		return replace_md_name(p, value);
	if (attr == BLKALIGN_ATTR_DM_NAME)
		return replace_dm_name(p, node, value);
	return replace(p, CLASS_LABEL, value);
}

/* Texts that tools and the kernel wrote, and paths: names occur anywhere in them. */
static bool is_free_text(enum blkalign_attr attr)
{
	return attr == BLKALIGN_ATTR_KERNEL_MESSAGES || attr == BLKALIGN_ATTR_TOOL_MESSAGES || attr == BLKALIGN_ATTR_TABLE_NOTE ||
	       attr == BLKALIGN_ATTR_DEVPATH;
}

/* The folders above an image file are nobody's business. */
static const char *replace_path(struct pseudonyms *p, const char *path)
{
	return pseudonym_text(p, strncmp(path, "/dev/", 5) ? basename(path) : path);
}

const char *pseudonym_value(struct pseudonyms *p, const struct blkalign_node *node, enum blkalign_attr attr)
{
	const char *value = blkalign_node_str(node, attr);

	if (!p)
		return value;
	switch (blkalign_attr_info(attr)->privacy) {
	case BLKALIGN_PRIVACY_SERIAL:
		return replace(p, CLASS_SERIAL, value);
	case BLKALIGN_PRIVACY_ID:
		return attr == BLKALIGN_ATTR_DM_UUID ? replace_dm_uuid(p, value) : replace(p, CLASS_ID, value);
	case BLKALIGN_PRIVACY_NAME:
		return replace_name(p, node, attr, value);
	case BLKALIGN_PRIVACY_PATH:
		return replace(p, attr == BLKALIGN_ATTR_MOUNT_POINT ? CLASS_MOUNT : CLASS_FILE, value);
	case BLKALIGN_PRIVACY_PLAIN:
		break;
	}
	if (attr == BLKALIGN_ATTR_DEVPATH)
		return replace_path(p, value);
	return is_free_text(attr) ? pseudonym_text(p, value) : value;
}

/* --- texts --- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80; }

/* Between two word characters no name begins or ends. */
static bool is_edge(const char *text, size_t at) { return !at || !text[at] || !is_word(text[at - 1]) || !is_word(text[at]); }

/* The longest original that begins at `at` and ends at an edge. */
static const struct entry *longest_at(const struct pseudonyms *p, const char *text, size_t at)
{
	const struct entry *longest = NULL;
	uint64_t h = HASH_START;

	for (size_t n = 0; n < p->longest && text[at + n];) {
		h = hash_step(h, text[at + n++]);
		if (n >= TEXT_ORIGINAL_MIN && is_edge(text, at + n)) {
			const struct entry *e = find_hashed(p, h, text + at, n, CLASS_COUNT);

			longest = e ? e : longest;
		}
	}
	return longest;
}

const char *pseudonym_text(struct pseudonyms *p, const char *text)
{
	_cleanup_strbuf_ struct strbuf out = { 0 };
	size_t length = strlen(text);

	if (!p)
		return text;
	for (size_t at = 0; at < length;) {
		const struct entry *e = is_edge(text, at) ? longest_at(p, text, at) : NULL;

		strbuf_addn(&out, e ? e->pseudonym : text + at, e ? strlen(e->pseudonym) : 1);
		at += e ? strlen(e->original) : 1;
	}
	return out.failed ? NULL : arena_strdup(p->arena, strbuf_text(&out));
}

/* --- node names --- */

/* `name` with its part `part` (which lies in it at `at`) replaced. */
static const char *exchange(struct pseudonyms *p, const char *name, const char *at, size_t part, const char *by)
{
	const char *front = arena_strndup(p->arena, name, (size_t)(at - name));

	return front && by ? arena_printf(p->arena, "%s%s%s", front, by, at + part) : NULL;
}

/* Contents and partitions carry the name of what they lie on. */
static const char *from_lower(struct pseudonyms *p, const struct blkalign_node *node, bool *ret_found)
{
	const char *name = blkalign_node_name(node);

	for (size_t i = 0; i < blkalign_node_edges(node); i++) {
		const struct blkalign_node *lower = blkalign_node_edge(node, i)->lower;
		const char *lower_name = blkalign_node_name(lower), *at = strstr(name, lower_name);

		if (!at)
			continue;
		*ret_found = true;
		return exchange(p, name, at, strlen(lower_name), p->nodes[blkalign_node_index(lower)]);
	}
	*ret_found = false;
	return name;
}

static const char *from_own_names(struct pseudonyms *p, const struct blkalign_node *node)
{
	const char *name = blkalign_node_name(node), *vg = blkalign_node_str(node, BLKALIGN_ATTR_VG_NAME);
	const char *lv = blkalign_node_str(node, BLKALIGN_ATTR_LV_NAME), *dm = blkalign_node_str(node, BLKALIGN_ATTR_DM_NAME);
	const char *both = vg && lv ? arena_printf(p->arena, "%s/%s", vg, lv) : NULL, *at;

	if (both && !strncmp(name, both, strlen(both))) {
		vg = replace(p, CLASS_VG, vg);
		lv = replace_lv(p, lv);
		return vg && lv ? exchange(p, name, name, strlen(both), arena_printf(p->arena, "%s/%s", vg, lv)) : NULL;
	}
	at = dm && *dm ? strstr(name, dm) : NULL;
	if (at)
		return exchange(p, name, at, strlen(dm), replace_dm_name(p, node, dm));
	return pseudonym_text(p, name);
}

static int name_nodes(struct pseudonyms *p)
{
	size_t count = blkalign_graph_size(p->graph);

	p->nodes = calloc(count + 1, sizeof(*p->nodes));
	if (!p->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct blkalign_node *node = blkalign_graph_node(p->graph, i);
		bool found;

		p->nodes[i] = from_lower(p, node, &found);
		if (!found)
			p->nodes[i] = from_own_names(p, node);
		if (!p->nodes[i])
			return -ENOMEM;
	}
	return 0;
}

/* After all have been named: texts speak of nodes too. */
static int collect_nodes(struct pseudonyms *p)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < blkalign_graph_size(p->graph); i++) {
		const char *name = blkalign_node_name(blkalign_graph_node(p->graph, i));

		assert(p->nodes[i]);
		if (strcmp(name, p->nodes[i]) != 0 && !find(p, name, strlen(name), CLASS_COUNT))
			r = add_pair(p, CLASS_NAME, name, p->nodes[i]);
	}
	return r;
}

const char *pseudonym_node(struct pseudonyms *p, const struct blkalign_node *node)
{
	return p ? p->nodes[blkalign_node_index(node)] : blkalign_node_name(node);
}

/* --- collecting --- */

/* In messages a volume group also appears with its hyphens doubled, and an LV as "VG/LV": the parts are found there by themselves. */
static int collect_doubled(struct pseudonyms *p, enum class class, const char *name)
{
	const char *doubled = name && strchr(name, '-') ? double_hyphens(p->arena, name) : NULL;
	const struct entry *known = doubled ? find(p, name, strlen(name), class) : NULL;

	return known && !find(p, doubled, strlen(doubled), class) ? add_pair(p, class, doubled, known->pseudonym) : 0;
}

static int collect(struct pseudonyms *p, const struct blkalign_node *node)
{
	int r;

	for (unsigned a = 0; a < BLKALIGN_ATTR_COUNT; a++) {
		const struct blkalign_attr_info *info = blkalign_attr_info(a);

		if (info->type != BLKALIGN_TYPE_STR || info->privacy == BLKALIGN_PRIVACY_PLAIN || !blkalign_node_str(node, a))
			continue;
		if (!pseudonym_value(p, node, a))
			return -ENOMEM;
	}
	r = collect_doubled(p, CLASS_VG, blkalign_node_str(node, BLKALIGN_ATTR_VG_NAME));
	return r == 0 ? collect_doubled(p, CLASS_LV, blkalign_node_str(node, BLKALIGN_ATTR_LV_NAME)) : r;
}

int pseudonyms_new(const struct blkalign_graph *graph, struct pseudonyms **ret)
{
	struct pseudonyms *p = calloc(1, sizeof(*p));
	int r = 0;

	if (p)
		p->arena = arena_new();
	if (!p || !p->arena) {
		free(p);
		return -ENOMEM;
	}
	p->graph = graph;
	for (size_t i = 0; r == 0 && i < blkalign_graph_size(graph); i++)
		r = collect(p, blkalign_graph_node(graph, i));
	if (r == 0)
		r = name_nodes(p);
	if (r == 0)
		r = collect_nodes(p);
	if (r < 0) {
		pseudonyms_free(p);
		return r;
	}
	*ret = p;
	return 0;
}

void pseudonyms_free(struct pseudonyms *p)
{
	if (!p)
		return;
	free(p->table);
	free(p->nodes);
	arena_free(p->arena);
	free(p);
}
