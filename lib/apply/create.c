/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plan with what it was made for: open the stack, plan, close; then open it for writing, carry the plan out, close, and look again. */
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "apply/apply.h"
#include "apply/host.h"
#include "apply/lvm_lock.h"

struct blkalign_create {
	struct blkalign_source_options source;
	char *command;
	char **paths; /* as they are opened: block devices without symbolic links */
	bool *needed; /* by path: it is opened for writing */
	size_t path_count;
	struct plan *plan;
	const char *lv; /* that there must be afterwards, or NULL */
	const char *vg; /* likewise: of `create vg` */
	const char *changed_group;
	VEC(const char *) pvs; /* nodes that must carry a PV afterwards */
	bool applied;
};

/* What planning needs open. */
struct session {
	struct blkalign_create *create;
	struct blkalign_run *run;
	struct blkalign_graph *live_graph;
	struct check stack, live;
	struct plan_facts facts;
	struct plan_twin *twins;
	struct plan_place *places;
	size_t place_count;
	struct utsname uname;
	char system[600];
	struct plan_author author;
};

void blkalign_create_free(struct blkalign_create *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->path_count; i++)
		free(c->paths[i]);
	free(c->paths);
	free(c->needed);
	free(c->command);
	vec_done(&c->pvs);
	plan_free(c->plan);
	free(c);
}

static void session_done(struct session *s)
{
	if (s->facts.stack)
		check_end(&s->stack);
	if (s->facts.live)
		check_end(&s->live);
	blkalign_graph_free(s->live_graph);
	blkalign_run_close(s->run, NULL);
	free(s->twins);
	free(s->places);
}

/* --- opening --- */

static int take_paths(struct blkalign_create *c, const char *const *paths, size_t count)
{
	c->paths = calloc(count + 1, sizeof(*c->paths));
	if (!c->paths)
		return -ENOMEM;
	for (; c->path_count < count; c->path_count++) {
		char *real = host_is_block(paths[c->path_count]) ? realpath(paths[c->path_count], NULL) : NULL;

		c->paths[c->path_count] = real ? real : strdup(paths[c->path_count]);
		if (!c->paths[c->path_count])
			return -ENOMEM;
	}
	return 0;
}

static int refuse_twice(const struct blkalign_create *c, struct blkalign_error *reterr)
{
	struct stat a, b;

	for (size_t i = 0; i < c->path_count; i++)
		for (size_t k = 0; k < i; k++)
			if (c->paths[i] && c->paths[k] && stat(c->paths[i], &a) == 0 && stat(c->paths[k], &b) == 0 &&
			    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
				return blkalign_error_set(reterr, -EINVAL, c->paths[i], BLKALIGN_UNKNOWN, "is given twice");
	return 0;
}

/* What the kernel says of the block devices among them. Where it says nothing, they are judged by what is assumed. */
static int read_live(struct session *s)
{
	const struct blkalign_create *c = s->create;
	const char **names = calloc(c->path_count + 1, sizeof(*names));
	size_t count = 0;
	int r = names ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < c->path_count; i++)
		if (host_is_block(c->paths[i]))
			names[count++] = c->paths[i];
	if (r >= 0 && count)
		r = blkalign_read_host_devices(&c->source, names, count, &s->live_graph, NULL);
	free(names);
	if (r == -ENOMEM)
		return r;
	if (r < 0 || !s->live_graph)
		return 0;
	r = check_begin(&s->live, s->live_graph);
	s->facts.live = &s->live;
	if (r >= 0)
		r = host_pair(blkalign_run_graph(s->run), s->live_graph, &s->twins, &s->facts.twin_count);
	s->facts.twins = s->twins;
	return r;
}

static int open_session(struct session *s, struct blkalign_error *reterr)
{
	const struct blkalign_create *c = s->create;
	const struct blkalign_run_options options = { .source = c->source };
	int r = blkalign_run_open(&options, (const char *const *)c->paths, c->path_count, &s->run, reterr);

	if (r < 0)
		return r;
	r = check_begin(&s->stack, blkalign_run_graph(s->run));
	s->facts.stack = &s->stack;
	return r < 0 ? r : read_live(s);
}

static void sign(struct session *s)
{
	uname(&s->uname);
	snprintf(s->system, sizeof(s->system), "%s %s %s %s %s", s->uname.sysname, s->uname.nodename, s->uname.release, s->uname.version,
		 s->uname.machine);
	s->author = (struct plan_author){
		.command = s->create->command, .host = s->uname.nodename, .system = s->system, .unix_time = (uint64_t)time(NULL)
	};
}

/* --- which devices are meant --- */

static int add_place(struct session *s, const struct blkalign_node *node, struct blkalign_error *reterr)
{
	struct plan_place *place = &s->places[s->place_count];

	place->node = node;
	for (size_t i = 0; i < s->place_count; i++)
		if (s->places[i].node == node)
			return blkalign_error_set(reterr, -EINVAL, blkalign_node_name(node), BLKALIGN_UNKNOWN, "is given twice");
	s->place_count++;
	return run_dev(s->run, node, &place->dev, reterr);
}

static bool carries_pv(const struct blkalign_node *node)
{
	for (size_t i = 0; i < blkalign_node_uppers(node); i++)
		if (blkalign_node_kind(blkalign_node_upper(node, i)) == BLKALIGN_KIND_PV)
			return true;
	return false;
}

static bool below_a_pv(const struct blkalign_node *node)
{
	for (size_t i = 0; i < blkalign_node_uppers(node); i++) {
		const struct blkalign_node *upper = blkalign_node_upper(node, i);

		if (blkalign_node_kind(upper) == BLKALIGN_KIND_PV || below_a_pv(upper))
			return true;
	}
	return false;
}

/* Without names: for a group what carries PVs, also arrays and partitions, and of the rest the disks, which are then refused by name; else the disks. */
static bool is_meant(const struct session *s, const struct blkalign_node *node)
{
	bool disk = blkalign_node_kind(node) == BLKALIGN_KIND_DISK;

	return s->create->vg ? carries_pv(node) || (disk && !below_a_pv(node)) : disk;
}

static int find_places(struct session *s, const struct blkalign_create_options *o, struct blkalign_error *reterr)
{
	const struct blkalign_graph *graph = blkalign_run_graph(s->run);
	int r = 0;

	s->places = calloc(o->node_count + blkalign_graph_size(graph) + 1, sizeof(*s->places));
	if (!s->places)
		return -ENOMEM;
	for (size_t i = 0; r >= 0 && i < o->node_count; i++) {
		const struct blkalign_node *node;

		r = blkalign_run_node(s->run, o->nodes[i], &node, reterr);
		if (r >= 0)
			r = add_place(s, node, reterr);
	}
	for (size_t i = 0; r >= 0 && !o->node_count && i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);

		if (is_meant(s, node))
			r = add_place(s, node, reterr);
	}
	return r;
}

/* --- planning --- */

static bool is_written(const struct blkalign_create *c, const struct blkalign_node *node)
{
	const char *name = blkalign_node_name(node), *vg = blkalign_node_str(node, BLKALIGN_ATTR_VG_NAME);
	bool pv = blkalign_node_kind(node) == BLKALIGN_KIND_PV;

	if (pv && c->changed_group && vg && !strcmp(vg, c->changed_group))
		return true;
	for (size_t i = 0; i < c->plan->writes.count; i++)
		if (!strcmp(c->plan->writes.data[i].node, name))
			return true;
	return false;
}

/* Once for each node, however many ways lead up. */
static void mark_carriers(const struct blkalign_create *c, const struct blkalign_graph *graph, bool *carries)
{
	bool changed = true;

	for (size_t i = 0; i < blkalign_graph_size(graph); i++)
		carries[i] = is_written(c, blkalign_graph_node(graph, i));
	while (changed) {
		changed = false;
		for (size_t i = blkalign_graph_size(graph); i-- > 0;) {
			const struct blkalign_node *node = blkalign_graph_node(graph, i);
			bool before = carries[i];

			for (size_t k = 0; !carries[i] && k < blkalign_node_uppers(node); k++)
				carries[i] = carries[blkalign_node_index(blkalign_node_upper(node, k))];
			changed = changed || carries[i] != before;
		}
	}
}

/* People give all disks that there are: what the plan has nothing to do with may well be in use. */
static int find_needed(struct session *s)
{
	struct blkalign_create *c = s->create;
	const struct blkalign_graph *graph = blkalign_run_graph(s->run);
	_cleanup_free_ bool *carries = calloc(blkalign_graph_size(graph) + 1, sizeof(*carries));

	c->needed = calloc(c->path_count + 1, sizeof(*c->needed));
	if (!c->needed || !carries)
		return -ENOMEM;
	mark_carriers(c, graph, carries);
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const struct blkalign_node *node = blkalign_graph_node(graph, i);
		const char *path = blkalign_node_edges(node) ? NULL : blkalign_node_str(node, BLKALIGN_ATTR_DEVPATH);

		for (size_t k = 0; path && k < c->path_count; k++)
			if (!strcmp(path, c->paths[k]))
				c->needed[k] = carries[i];
	}
	return 0;
}

/* `make` plans; what the three have in common is done here. */
static int create(const struct blkalign_create_options *o, const char *const *paths, size_t count,
		  int (*make)(struct session *, const void *, struct blkalign_error *), const void *options, const char *vg,
		  struct blkalign_create **ret, struct blkalign_error *reterr)
{
	struct blkalign_create *c = calloc(1, sizeof(*c));
	_cleanup_(session_done) struct session s = { .create = c };
	int r;

	if (!c)
		return -ENOMEM;
	c->source = o->source;
	c->command = strdup(o->command ? o->command : "blkalign");
	r = c->command ? plan_new(&c->plan) : -ENOMEM;
	if (r >= 0 && vg)
		r = (c->vg = arena_strdup(c->plan->arena, vg)) ? 0 : -ENOMEM;
	if (r >= 0)
		r = take_paths(c, paths, count);
	if (r >= 0)
		r = refuse_twice(c, reterr);
	if (r >= 0)
		r = open_session(&s, reterr);
	if (r >= 0)
		r = find_places(&s, o, reterr);
	sign(&s);
	if (r >= 0)
		r = make(&s, options, reterr);
	if (r >= 0)
		r = find_needed(&s);
	if (r < 0) {
		blkalign_create_free(c);
		return r;
	}
	*ret = c;
	return 0;
}

static int make_pv(struct session *s, const void *options, struct blkalign_error *reterr)
{
	const struct blkalign_create_pv_options *o = options;
	const struct plan_pv_options pv = { .data_alignment_bytes = o->data_alignment_bytes,
					    .data_alignment_offset_bytes = o->data_alignment_offset_bytes,
					    .metadata_bytes = o->metadata_bytes,
					    .metadata_copies = o->metadata_copies,
					    .force = o->force };
	int r = 0;

	if (o->metadata_copies > 2)
		return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN,
					  "a physical volume has 0, 1 or 2 copies of the metadata");
	for (size_t i = 0; r >= 0 && i < s->place_count; i++) {
		const char *name = arena_strdup(s->create->plan->arena, blkalign_node_name(s->places[i].node));

		r = name ? vec_push(&s->create->pvs, name) : -ENOMEM;
		if (r >= 0)
			r = plan_pv(s->create->plan, &s->facts, &s->places[i], &pv, reterr);
	}
	return r;
}

int blkalign_create_pv(const struct blkalign_create_options *options, const struct blkalign_create_pv_options *pv, const char *const *paths,
		       size_t count, struct blkalign_create **ret_create, struct blkalign_error *reterr)
{
	return create(options, paths, count, make_pv, pv, NULL, ret_create, reterr);
}

static int make_vg(struct session *s, const void *options, struct blkalign_error *reterr)
{
	const struct blkalign_create_vg_options *o = options;
	const struct plan_vg_options vg = { .name = o->name, .extent_bytes = o->extent_bytes };

	return plan_vg(s->create->plan, s->run->stack, &s->facts, s->places, s->place_count, &vg, &s->author, reterr);
}

int blkalign_create_vg(const struct blkalign_create_options *options, const struct blkalign_create_vg_options *vg, const char *const *paths,
		       size_t count, struct blkalign_create **ret_create, struct blkalign_error *reterr)
{
	return create(options, paths, count, make_vg, vg, vg->name, ret_create, reterr);
}

/* "N", "N%FREE", "N%VG", "N%PVS"; the last is the second, since all physical volumes are given. */
static int parse_extents(const char *text, struct plan_lv_options *ret, struct blkalign_error *reterr)
{
	char *end = NULL;
	unsigned long long number = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;

	if (!text)
		return 0;
	ret->extents = number;
	ret->percent = PLAN_EXTENTS;
	if (end && (!strcasecmp(end, "%FREE") || !strcasecmp(end, "%PVS")))
		ret->percent = PLAN_PERCENT_FREE;
	else if (end && !strcasecmp(end, "%VG"))
		ret->percent = PLAN_PERCENT_VG;
	else if (!end || *end)
		number = 0;
	if (number && number < UINT32_MAX && (ret->percent == PLAN_EXTENTS || number <= 100))
		return 0;
	return blkalign_error_set(reterr, -EINVAL, NULL, BLKALIGN_UNKNOWN,
				  "%s: expected a number of extents, or N%%FREE, N%%VG or N%%PVS with N from 1 to 100", text);
}

static int make_lv(struct session *s, const void *options, struct blkalign_error *reterr)
{
	const struct blkalign_create_lv_options *o = options;
	struct plan_lv_options lv = { .vg = o->vg,
				      .name = o->name,
				      .type = o->type,
				      .size_bytes = o->size_bytes,
				      .stripes = o->stripes,
				      .stripe_bytes = o->stripe_bytes,
				      .mirrors = o->mirrors };
	int r = parse_extents(o->extents, &lv, reterr);

	if (r < 0)
		return r;
	s->create->changed_group = arena_strdup(s->create->plan->arena, o->vg);
	if (!s->create->changed_group)
		return -ENOMEM;
	return plan_lv(s->create->plan, s->run->stack, &s->facts, &lv, &s->author, &s->create->lv, reterr);
}

int blkalign_create_lv(const struct blkalign_create_options *options, const struct blkalign_create_lv_options *lv, const char *const *paths,
		       size_t count, struct blkalign_create **ret_create, struct blkalign_error *reterr)
{
	char **found = NULL;
	size_t found_count = 0;
	int r = count ? 0 : host_find_group(&options->source, lv->vg, &found, &found_count, reterr);

	if (r >= 0)
		r = create(options, count ? paths : (const char *const *)found, count + found_count, make_lv, lv, NULL, ret_create, reterr);
	for (size_t i = 0; i < found_count; i++)
		free(found[i]);
	free(found);
	return r;
}

/* --- looking at the plan --- */

size_t blkalign_create_writes(const struct blkalign_create *create) { return create->plan->writes.count; }

void blkalign_create_write(const struct blkalign_create *create, size_t index, struct blkalign_create_write *ret)
{
	const struct plan_write *w = &create->plan->writes.data[index];

	*ret = (struct blkalign_create_write){ .node = w->node,
					       .offset_bytes = w->offset_bytes,
					       .length_bytes = w->length_bytes,
					       .data = w->data,
					       .zeros = true,
					       .step = w->step,
					       .reason = w->reason };
	for (size_t i = 0; ret->zeros && i < w->length_bytes; i++)
		ret->zeros = !w->data[i];
}

const char *blkalign_create_word(const struct blkalign_create *create, size_t index, bool *ret_detail)
{
	if (index >= create->plan->words.count)
		return NULL;
	*ret_detail = create->plan->words.data[index].detail;
	return create->plan->words.data[index].text;
}

/* --- carrying it out --- */

/* What is left of an array keeps no records of what is written; that it may be overwritten the plan knows. */
static bool is_written_anyway(const struct blkalign_run *run, const struct blkalign_node *node)
{
	const struct dev *dev = stack_dev(run->stack, node);

	return plan_is_left_over(node) && dev && dev->writable;
}

static int refuse_read_only(const struct blkalign_create *c, const struct blkalign_run *run, struct blkalign_error *reterr)
{
	for (size_t i = 0; i < c->plan->writes.count; i++) {
		const struct blkalign_node *node = blkalign_graph_find(blkalign_run_graph(run), c->plan->writes.data[i].node);
		const char *why;

		if (node && !blkalign_run_writable(run, node, &why) && !is_written_anyway(run, node))
			return blkalign_error_set(reterr, -EROFS, blkalign_node_name(node), BLKALIGN_UNKNOWN, "cannot be written: %s", why);
	}
	return 0;
}

static int open_writable(const struct blkalign_create *c, struct dev_undo *undo, struct blkalign_run **ret, struct blkalign_error *reterr)
{
	const struct blkalign_run_options options = { .source = c->source, .writable = true };
	const struct stack_running running = { .writable = true, .undo = undo, .changed_group = c->changed_group };
	struct blkalign_run *run;
	int r = run_new(&options, &run);

	if (r < 0)
		return r;
	stack_set_running(run->stack, &running);
	for (size_t i = 0; r >= 0 && i < c->path_count; i++)
		if (c->needed[i])
			r = run_add_member(run, &options, c->paths[i], reterr);
	if (r >= 0)
		r = run_start(run, reterr);
	if (r >= 0)
		r = refuse_read_only(c, run, reterr);
	if (r < 0) {
		blkalign_run_close(run, NULL);
		return r;
	}
	*ret = run;
	return 0;
}

/* After a failure nothing more goes to these devices: what closing would write could come before what failed. */
static int write_all(const struct blkalign_create *c, struct dev_undo *undo, struct blkalign_error *reterr)
{
	struct blkalign_error err = { 0 };
	struct blkalign_run *run;
	size_t done = 0;
	int r = open_writable(c, undo, &run, reterr), closed;

	if (r < 0)
		return r;
	r = apply_plan(c->plan, run->stack, &done, &err);
	closed = blkalign_run_close(run, r < 0 ? NULL : reterr);
	if (r >= 0)
		return closed;
	if (!done && r == -ESTALE)
		return blkalign_error_set(reterr, r, err.where, err.offset_bytes, "%s; nothing was written", err.message);
	return blkalign_error_set(reterr, r, err.where, err.offset_bytes, "%s; %zu of %zu writes are done",
				  *err.message ? err.message : strerror(-r), done, c->plan->writes.count);
}

static bool has_group(const struct blkalign_graph *graph, const char *name)
{
	for (size_t i = 0; i < blkalign_graph_size(graph); i++) {
		const char *vg = blkalign_node_str(blkalign_graph_node(graph, i), BLKALIGN_ATTR_VG_NAME);

		if (vg && !strcmp(vg, name))
			return true;
	}
	return false;
}

/* Only the beginning of a volume is zeroed: what lies further on may be recognised there. */
static int say_left_over(const struct blkalign_create *c, const struct blkalign_node *lv)
{
	char name[300], what[100];
	int r = 0;

	blkalign_escape(name, sizeof(name), c->lv);
	for (size_t i = 0; r >= 0 && i < blkalign_node_uppers(lv); i++) {
		const char *content = blkalign_node_str(blkalign_node_upper(lv, i), BLKALIGN_ATTR_CONTENT);

		blkalign_escape(what, sizeof(what), content ? content : "something");
		r = plan_say(c->plan, "%s: what was there before is still recognised as %s; `wipefs` removes the signature", name, what);
	}
	return r;
}

/* With the eyes of any reader. */
static int look_again(const struct blkalign_create *c, struct blkalign_error *reterr)
{
	const struct blkalign_run_options options = { .source = c->source };
	const struct blkalign_node *lv;
	const char *missing = NULL;
	struct blkalign_run *run;
	int r = blkalign_run_open(&options, (const char *const *)c->paths, c->path_count, &run, reterr);

	if (r < 0)
		return r;
	r = apply_verify(c->plan, run->stack, reterr);
	for (size_t i = 0; i < c->pvs.count && !missing; i++) {
		const struct blkalign_node *node = blkalign_graph_find(blkalign_run_graph(run), c->pvs.data[i]);

		missing = node && carries_pv(node) ? NULL : c->pvs.data[i];
	}
	if (c->vg && !has_group(blkalign_run_graph(run), c->vg))
		missing = c->vg;
	lv = c->lv ? blkalign_graph_find(blkalign_run_graph(run), c->lv) : NULL;
	if (c->lv && !lv)
		missing = c->lv;
	if (r >= 0 && lv)
		r = say_left_over(c, lv);
	if (r >= 0 && missing)
		r = blkalign_error_set(reterr, -EIO, missing, BLKALIGN_UNKNOWN, "was written, and is not found afterwards");
	blkalign_run_close(run, NULL);
	return r;
}

/* Files are none of lvm2's business, unless somebody made loop devices of them, whose use opening would meet. */
static int lock_lvm2(const struct blkalign_create *c, struct lvm_lock *ret, struct blkalign_error *reterr)
{
	for (size_t i = 0; i < c->path_count; i++)
		if (host_is_block(c->paths[i]))
			return lvm_lock_take(LVM_LOCK_FOLDER, c->vg ? c->vg : c->changed_group, !c->changed_group, LVM_LOCK_PATIENCE_MS,
					     ret, reterr);
	return 0;
}

int blkalign_create_apply(struct blkalign_create *create, const char *undo_path, struct blkalign_error *reterr)
{
	struct lvm_lock lock = LVM_LOCK_NONE;
	struct dev_undo *undo = NULL;
	int r;

	if (create->applied)
		return blkalign_error_set(reterr, -EALREADY, NULL, BLKALIGN_UNKNOWN, "the plan was carried out already");
	r = lock_lvm2(create, &lock, reterr);
	if (r >= 0 && undo_path)
		r = dev_undo_create(undo_path, create->command, &undo, reterr);
	if (r >= 0) {
		create->applied = true;
		r = write_all(create, undo, reterr);
	}
	if (r < 0 && undo && dev_undo_is_unused(undo))
		unlink(undo_path);
	dev_undo_close(undo);
	lvm_lock_release(&lock);
	return r < 0 ? r : look_again(create, reterr);
}
