/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Device mapper devices: what their uuid says they are, and what name blkalign gives them. */
#include <fnmatch.h>

#include "stack/live.h"

/* lvm2's lib/activate/dev_manager.c: "LVM-", the ids of VG and LV, and for devices that are no LV of their own "-" and a layer. */
#define LVM_UUID_PREFIX "LVM-"
#define LVM_UUID_LENGTH (4 + 32 + 32)

static bool has_prefix(const char *text, const char *prefix) { return text && !strncmp(text, prefix, strlen(prefix)); }

static bool is_lv(const struct live_dev *dev)
{
	return dev->dm_name && has_prefix(dev->dm_uuid, LVM_UUID_PREFIX) && strlen(dev->dm_uuid) >= LVM_UUID_LENGTH;
}

/* lvm2's reserved names (lib/misc/lvm-string.c) */
bool live_dm_is_hidden(const struct live_dev *dev)
{
	static const char *const patterns[] = {
		"*_rimage_[0-9]*", "*_rmeta_[0-9]*", "*_mimage_[0-9]*", "*_mlog",  "*_tdata",	"*_tmeta",   "*_cdata", "*_cmeta",
		"*_cvol",	   "*_corig",	     "*_wcorig",	"*_vdata", "*_vorigin", "*_pmspare", "*_imeta", "*_iorig",
	};

	if (!is_lv(dev))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (!fnmatch(patterns[i], dev->dm_name, 0))
			return true;
	return dev->dm_uuid[LVM_UUID_LENGTH] == '-';
}

/* Copy up to the first single hyphen, double ones as one; returns how much of `in` that was. */
static size_t take_part(const char *in, char *out)
{
	size_t i = 0;

	while (in[i] && (in[i] != '-' || in[i + 1] == '-')) {
		i += in[i] == '-';
		*out++ = in[i++];
	}
	*out = '\0';
	return i;
}

/* "vg--data-home--fs" is VG "vg-data", LV "home-fs". A third part is a layer and stays behind a hyphen: no LV can be called so. */
static int split_lv(const char *dm_name, char **ret_vg, char **ret_lv)
{
	size_t room = strlen(dm_name) + 1, n, end;
	_cleanup_free_ char *vg = malloc(room), *lv = malloc(room);

	if (!vg || !lv)
		return -ENOMEM;
	n = take_part(dm_name, vg);
	if (!n || dm_name[n] != '-')
		return -EINVAL;
	end = n + 1 + take_part(dm_name + n + 1, lv);
	if (dm_name[end])
		memcpy(lv + strlen(lv), dm_name + end, strlen(dm_name + end) + 1);
	*ret_vg = vg;
	*ret_lv = lv;
	vg = lv = NULL;
	return 0;
}

static int format_name(char **ret_name, const char *a, const char *separator, const char *b)
{
	return asprintf(ret_name, "%s%s%s", a, separator, b) < 0 ? -ENOMEM : 0;
}

static int lv_node_name(const struct live_dev *dev, char **ret_name)
{
	_cleanup_free_ char *vg = NULL, *lv = NULL;
	int r = split_lv(dev->dm_name, &vg, &lv);

	return r < 0 ? r : format_name(ret_name, vg, "/", lv);
}

/* sysfs spells '/' as '!' */
static int kernel_name(const struct live_dev *dev, char **ret_name)
{
	*ret_name = strdup(dev->name);
	if (!*ret_name)
		return -ENOMEM;
	for (char *c = *ret_name; *c; c++)
		if (*c == '!')
			*c = '/';
	return 0;
}

int live_node_name(const struct live_dev *dev, char **ret_name, enum blkalign_kind *ret_kind)
{
	if (is_lv(dev)) {
		int r = lv_node_name(dev, ret_name);

		*ret_kind = BLKALIGN_KIND_LV;
		if (r != -EINVAL)
			return r;
	}
	if (dev->dm_name && has_prefix(dev->dm_uuid, "CRYPT-LUKS")) {
		*ret_kind = BLKALIGN_KIND_CRYPT;
		return format_name(ret_name, "luks", ":", dev->dm_name);
	}
	if (dev->partition)
		*ret_kind = BLKALIGN_KIND_PARTITION;
	else if (has_prefix(dev->name, "md"))
		*ret_kind = BLKALIGN_KIND_MD;
	else if (has_prefix(dev->name, "dm-"))
		*ret_kind = BLKALIGN_KIND_DM;
	else if (has_prefix(dev->name, "bcache"))
		*ret_kind = BLKALIGN_KIND_BCACHE;
	else
		*ret_kind = BLKALIGN_KIND_DISK;
	if (*ret_kind == BLKALIGN_KIND_DM && dev->dm_name)
		return format_name(ret_name, dev->dm_name, "", "");
	return kernel_name(dev, ret_name);
}

static int set_names(const struct live_dev *dev)
{
	_cleanup_free_ char *vg = NULL, *lv = NULL, *path = NULL;
	int r = graph_set_str(dev->node, BLKALIGN_ATTR_DM_NAME, dev->dm_name, BLKALIGN_ORIGIN_SYSFS);

	if (r == 0 && asprintf(&path, "/dev/mapper/%s", dev->dm_name) < 0)
		return -ENOMEM;
	if (r == 0)
		r = graph_set_str(dev->node, BLKALIGN_ATTR_DEVPATH, path, BLKALIGN_ORIGIN_SYSFS);
	if (r < 0 || !is_lv(dev))
		return r;
	r = split_lv(dev->dm_name, &vg, &lv);
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	r = graph_set_str(dev->node, BLKALIGN_ATTR_VG_NAME, vg, BLKALIGN_ORIGIN_SYSFS);
	if (r == 0)
		r = graph_set_str(dev->node, BLKALIGN_ATTR_LV_NAME, lv, BLKALIGN_ORIGIN_SYSFS);
	if (r == 0 && live_dm_is_hidden(dev))
		r = graph_set_bool(dev->node, BLKALIGN_ATTR_LV_HIDDEN, true, BLKALIGN_ORIGIN_SYSFS);
	return r;
}

int live_dm(struct live *live, struct live_dev *dev)
{
	int r = 0;

	(void)live;
	if (dev->dm_uuid)
		r = graph_set_str(dev->node, BLKALIGN_ATTR_DM_UUID, dev->dm_uuid, BLKALIGN_ORIGIN_SYSFS);
	return r == 0 && dev->dm_name ? set_names(dev) : r;
}

/* --- edges --- */

/* Marks, so that a tree made to have very many paths costs no more than its nodes. */
static void mark_below(const struct blkalign_node *from, uint8_t *below)
{
	for (size_t i = 0; i < blkalign_node_edges(from); i++) {
		const struct blkalign_node *lower = blkalign_node_edge(from, i)->lower;

		if (below[blkalign_node_index(lower)])
			continue;
		below[blkalign_node_index(lower)] = 1;
		mark_below(lower, below);
	}
}

/* Paths of a multipath device are the whole of it. For everything else the table would have to be asked from device mapper, which needs root. */
static uint64_t slave_offset(const struct live_dev *dev) { return has_prefix(dev->dm_uuid, "mpath-") ? 0 : BLKALIGN_UNKNOWN; }

static int connect_slave(struct live *live, const struct live_dev *dev, struct blkalign_node *lower, uint32_t slot)
{
	uint64_t offset = slave_offset(dev);
	int r = graph_connect(live->graph, &(struct blkalign_edge){ .upper = dev->node,
								    .lower = lower,
								    .upper_offset_bytes = offset,
								    .lower_offset_bytes = offset,
								    .length_bytes = BLKALIGN_UNKNOWN,
								    .stripes = 1,
								    .slot = slot });

	if (r != -ELOOP)
		return r;
	return graph_remark(live->graph, "%s lies on %s according to sysfs, which would be a circle or too deep: left out",
			    blkalign_node_name(dev->node), blkalign_node_name(lower));
}

int live_slave_edges(struct live *live, struct live_dev *dev)
{
	_cleanup_free_ uint8_t *below = calloc(blkalign_graph_size(live->graph), 1);
	int r = below ? 0 : -ENOMEM;

	if (r == 0)
		mark_below(dev->node, below);
	for (size_t i = 0; r == 0 && i < dev->below.count; i++) {
		struct blkalign_node *lower = live->devs.data[dev->below.data[i]].node;

		if (lower && lower != dev->node && !below[blkalign_node_index(lower)])
			r = connect_slave(live, dev, lower, (uint32_t)i);
	}
	return r;
}
