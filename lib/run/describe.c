/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is worth giving to others, and what to say of it in one line. */
#include <stdio.h>

#include "run/md_view.h"
#include "run/run.h"

bool run_is_unknown(const struct blkalign_node *node)
{
	return blkalign_node_kind(node) == BLKALIGN_KIND_DISK && !blkalign_node_uppers(node) &&
	       !blkalign_node_str(node, BLKALIGN_ATTR_TABLE_TYPE) && !blkalign_node_str(node, BLKALIGN_ATTR_CONTENT);
}

bool blkalign_run_is_content(const struct blkalign_run *run, const struct blkalign_node *node)
{
	switch (blkalign_node_kind(node)) {
	case BLKALIGN_KIND_MD:
		break;
	case BLKALIGN_KIND_LV:
		if (blkalign_node_u64(node, BLKALIGN_ATTR_LV_HIDDEN) == 1)
			return false;
		break;
	case BLKALIGN_KIND_DISK:
	case BLKALIGN_KIND_PARTITION:
		if (run_below_a_volume(node) || run_is_unknown(node))
			return false;
		break;
	case BLKALIGN_KIND_HOST:
	case BLKALIGN_KIND_PV:
	case BLKALIGN_KIND_DM:
	case BLKALIGN_KIND_CRYPT:
	case BLKALIGN_KIND_BCACHE:
	case BLKALIGN_KIND_CONTENT:
		return false;
	}
	return stack_dev(run->stack, node) != NULL;
}

static void add_array(struct strbuf *text, const struct blkalign_node *node)
{
	const char *level = blkalign_node_str(node, BLKALIGN_ATTR_MD_LEVEL), *state = blkalign_node_str(node, BLKALIGN_ATTR_MD_STATE);
	uint64_t members = blkalign_node_u64(node, BLKALIGN_ATTR_MD_MEMBERS);
	uint64_t present = blkalign_node_u64(node, BLKALIGN_ATTR_MD_MEMBERS_PRESENT);

	strbuf_printf(text, "%s %s", level ? level : "md", blkalign_node_kind(node) == BLKALIGN_KIND_LV ? "logical volume" : "array");
	if (members != BLKALIGN_UNKNOWN && present != BLKALIGN_UNKNOWN)
		strbuf_printf(text, ", %llu of %llu members", (unsigned long long)present, (unsigned long long)members);
	for (const char *word = state; word && *word;) {
		size_t length = strcspn(word, ",");

		strbuf_printf(text, ", %.*s", (int)length, word);
		word += length + (word[length] == ',');
	}
}

char *blkalign_run_describe(const struct blkalign_run *run, const struct blkalign_node *node, char *ret, size_t size)
{
	_cleanup_strbuf_ struct strbuf text = { 0 };
	char bytes[32];
	const char *why;

	if (run_is_array(node))
		add_array(&text, node);
	else if (blkalign_node_kind(node) == BLKALIGN_KIND_LV)
		strbuf_printf(&text, "logical volume");
	else
		strbuf_printf(&text, "%s", blkalign_kind_name(blkalign_node_kind(node)));
	strbuf_printf(&text, ", %s", blkalign_format_bytes(bytes, sizeof(bytes), blkalign_run_size(run, node), true));
	if (blkalign_run_writable(run, node, &why))
		strbuf_printf(&text, "%s", run->cow ? ", writable, changes are lost at the end" : ", writable");
	else
		strbuf_printf(&text, ", read-only");
	if (why && run->writable)
		strbuf_printf(&text, " (%s)", why);
	return blkalign_escape(ret, size, strbuf_text(&text));
}
