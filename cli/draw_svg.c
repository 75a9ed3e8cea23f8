/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two views per drive. The bars above are to scale with the whole drive. Below, every edge is magnified: four physical blocks around the first and the last
 * byte of each layer, also to scale, the grid in grey, the edge in green or red.
 */
#include <inttypes.h>
#include <string.h>

#include "draw.h"

#define WIDTH	     1000U
#define MARGIN	     16U
#define BAR_WIDTH    (WIDTH - 2 * MARGIN)
#define ROW	     26U
#define EDGE_ROW     30U
#define EDGE_TEXT    380U /* left of the magnified grid: the words */
#define BLOCK_WIDTH  105U
#define BLOCKS	     4U
#define EDGES_MAX    60U
#define TITLE_HEIGHT 26U

static const char *colour(enum blkalign_verdict v)
{
	return v == BLKALIGN_VERDICT_MISALIGNED ? "#d03030"
	       : v == BLKALIGN_VERDICT_WARNING	? "#d09000"
	       : v == BLKALIGN_VERDICT_ALIGNED	? "#2a8a3a"
						: "#808080";
}

static const char *fill(enum blkalign_verdict v)
{
	return v == BLKALIGN_VERDICT_MISALIGNED ? "#fbdcdc"
	       : v == BLKALIGN_VERDICT_WARNING	? "#fdf0cc"
	       : v == BLKALIGN_VERDICT_ALIGNED	? "#dcf2df"
						: "#eeeeee";
}

void draw_safe_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '&':
			fputs("&amp;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			putc(*text, out);
			break;
		}
	}
}

void draw_text(FILE *out, const char *raw) { draw_safe_text(out, cli_safe(raw)); }

static void words(FILE *out, double x, double y, const char *attributes, const char *raw)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
	draw_text(out, raw);
	fputs("</text>\n", out);
}

static double scaled(const struct draw_drive *d, uint64_t bytes)
{
	return (double)MARGIN + (double)BAR_WIDTH * ((double)bytes / (double)d->size_bytes);
}

static void bar(FILE *out, const struct draw_drive *d, const struct draw_box *box, double y)
{
	double x = scaled(d, box->start_bytes), width = scaled(d, box->end_bytes < d->size_bytes ? box->end_bytes : d->size_bytes) - x;
	const char *name = blkalign_node_name(box->node);

	if (width < 1.5)
		width = 1.5;
	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%u\" fill=\"%s\" stroke=\"%s\"><title>", x, y, width, ROW - 4,
		fill(box->verdict), colour(box->verdict));
	draw_text(out, name);
	fprintf(out, ": bytes %" PRIu64 " to %" PRIu64 "</title></rect>\n", box->start_bytes, box->end_bytes);
	/* About 7 units per character; a name that does not fit is in the tooltip and in the edges below. */
	if (width > 7.0 * (double)strlen(name) + 8)
		words(out, x + 5, y + 15, "class=\"n\"", name);
}

static void drive_bar(FILE *out, const struct draw_drive *d, double y)
{
	char size[32], block[32], line[512], more[32] = "";

	if (d->twin_count > DRAW_TWINS_NAMED)
		snprintf(more, sizeof(more), " and %u more", d->twin_count - DRAW_TWINS_NAMED);
	fprintf(out, "<rect x=\"%u\" y=\"%.1f\" width=\"%u\" height=\"%u\" fill=\"#d8dde4\" stroke=\"#5a6472\"/>\n", MARGIN, y, BAR_WIDTH,
		ROW - 4);
	blkalign_format_bytes(size, sizeof(size), d->size_bytes, 1);
	blkalign_format_bytes(block, sizeof(block), d->physical_bytes ? d->physical_bytes : BLKALIGN_UNKNOWN, 0);
	snprintf(line, sizeof(line), "%s  %s, physical block %s%s%s%s", blkalign_node_name(d->node), size, block,
		 d->twins ? "; the same on " : "", d->twins ? d->twins : "", more);
	words(out, MARGIN + 5, y + 15, "class=\"n\"", line);
}

/* An edge to magnify: several layers that start or end on the same byte share one. */
struct edge {
	uint64_t offset_bytes;
	bool is_end;
	const struct blkalign_node *node;
	unsigned others;
};

struct edges {
	struct edge items[EDGES_MAX];
	unsigned count;
	unsigned left_out;
};

static void add_edge(struct edges *edges, const struct draw_box *box, uint64_t offset, bool is_end)
{
	for (unsigned i = 0; i < edges->count; i++) {
		struct edge *e = &edges->items[i];

		if (e->offset_bytes == offset && e->is_end == is_end) {
			e->others += e->node != box->node;
			return;
		}
	}
	if (edges->count < EDGES_MAX)
		edges->items[edges->count++] = (struct edge){ offset, is_end, box->node, 0 };
	else
		edges->left_out++;
}

/* What covers the drive whole has no edge worth a look. */
static void collect_edges(const struct draw_drive *d, struct edges *ret)
{
	*ret = (struct edges){ 0 };
	for (size_t i = 0; d->physical_bytes && i < d->count; i++) {
		if (d->boxes[i].start_bytes)
			add_edge(ret, &d->boxes[i], d->boxes[i].start_bytes, false);
		if (d->boxes[i].end_bytes != d->size_bytes)
			add_edge(ret, &d->boxes[i], d->boxes[i].end_bytes, true);
	}
}

static void edge_words(FILE *out, const struct edge *e, uint64_t residue, double y)
{
	char others[32] = "", line[512];

	if (e->others)
		snprintf(others, sizeof(others), " and %u more", e->others);
	snprintf(line, sizeof(line), "%s%s %s%s at byte %" PRIu64, blkalign_node_name(e->node), others, e->is_end ? "end" : "start",
		 e->others ? "" : "s", e->offset_bytes);
	words(out, MARGIN, y + 15, residue ? "class=\"bad\"" : "class=\"n\"", line);
	if (!residue)
		return;
	snprintf(line, sizeof(line), "%" PRIu64 " bytes into a block", residue);
	words(out, EDGE_TEXT + BLOCK_WIDTH * BLOCKS + 6, y + 15, "class=\"bad\"", line);
}

/* The window has two whole blocks before the block that holds the edge; the side where the layer lies is shaded. */
static void draw_edge(FILE *out, const struct draw_drive *d, const struct edge *e, double y)
{
	uint64_t residue = (e->offset_bytes + d->physical_bytes - d->grid_shift_bytes) % d->physical_bytes;
	double x = EDGE_TEXT + BLOCK_WIDTH * (2.0 + (double)residue / (double)d->physical_bytes);
	double side = e->is_end ? EDGE_TEXT : EDGE_TEXT + BLOCK_WIDTH * BLOCKS;
	const char *stroke = residue ? "#d03030" : "#2a8a3a";

	fprintf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"16\" fill=\"%s\" opacity=\"0.25\"/>\n", x < side ? x : side,
		y + 4, x < side ? side - x : x - side, stroke);
	for (unsigned i = 0; i <= BLOCKS; i++)
		fprintf(out, "<line x1=\"%u\" y1=\"%.1f\" x2=\"%u\" y2=\"%.1f\" class=\"g\"/>\n", EDGE_TEXT + i * BLOCK_WIDTH, y,
			EDGE_TEXT + i * BLOCK_WIDTH, y + 24);
	fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"3\"/>\n", x, y, x, y + 24, stroke);
	edge_words(out, e, residue, y);
}

static double drive_height(const struct draw_drive *d)
{
	struct edges edges;

	collect_edges(d, &edges);
	return ROW * (d->rows + 1.0) + (edges.count ? TITLE_HEIGHT : 0) + EDGE_ROW * edges.count + 2 * MARGIN;
}

static void drive(FILE *out, const struct draw_drive *d, double y)
{
	double below = y + ROW * (d->rows + 1.0);
	struct edges edges;
	char line[160], more[48] = "";

	for (size_t i = 0; i < d->count; i++)
		bar(out, d, &d->boxes[i], y + ROW * (d->rows - d->boxes[i].row));
	drive_bar(out, d, y + ROW * d->rows);
	collect_edges(d, &edges);
	if (!edges.count)
		return;
	if (edges.left_out || d->left_out)
		snprintf(more, sizeof(more), " (%zu more not drawn)", edges.left_out + d->left_out);
	snprintf(line, sizeof(line), "the edges, magnified: one grey line per physical block of %" PRIu64 " bytes%s", d->physical_bytes,
		 more);
	words(out, MARGIN, below + 16, "class=\"t\"", line);
	for (unsigned i = 0; i < edges.count; i++)
		draw_edge(out, d, &edges.items[i], below + TITLE_HEIGHT + EDGE_ROW * i);
}

void draw_svg(FILE *out, const struct draw_drive *drives, size_t count, bool inlined)
{
	double height = MARGIN;

	for (size_t i = 0; i < count; i++)
		height += drive_height(&drives[i]);
	if (!inlined)
		fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", out);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%.0f\" viewBox=\"0 0 %u %.0f\">\n"
		"<style>text{font:12px sans-serif;fill:#222}.t{fill:#667}.bad{fill:#d03030;font-weight:bold}.g{stroke:#b0b6be}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		WIDTH, height, WIDTH, height);
	height = MARGIN;
	for (size_t i = 0; i < count; i++) {
		drive(out, &drives[i], height);
		height += drive_height(&drives[i]);
	}
	fputs("</svg>\n", out);
}
