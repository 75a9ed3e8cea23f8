/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "cli.h"
#include "json.h"

static struct json_object *page_json(const struct blkalign_finding_info *f)
{
	struct json_object *o = json_object_new_object();

	json_add(o, "id", json_object_new_string(f->id));
	json_add(o, "severity", json_object_new_string(blkalign_severity_name(f->severity)));
	json_add(o, "title", json_object_new_string(f->title));
	json_add(o, "text", json_object_new_string(f->text));
	json_add(o, "remedy", json_object_new_string(f->remedy));
	json_add(o, "refutation", json_object_new_string(f->refutation));
	return o;
}

static void section(const struct cli_options *o, const char *heading, const char *text)
{
	printf("\n%s%s%s\n  ", cli_style(o, CLI_BOLD), heading, cli_style(o, CLI_PLAIN));
	cli_wrap(text, 2);
}

static void page(const struct cli_options *o, const struct blkalign_finding_info *f)
{
	printf("%s%s%s (%s)\n  ", cli_style(o, CLI_BOLD), f->id, cli_style(o, CLI_PLAIN), blkalign_severity_name(f->severity));
	cli_wrap(f->title, 2);
	section(o, "What it means", f->text);
	section(o, "What to do", f->remedy);
	section(o, "What would prove it wrong", f->refutation);
}

static int list(const struct cli_options *o)
{
	struct json_object *document = o->json ? json_document() : NULL, *pages = json_object_new_array();

	for (size_t i = 0; i < blkalign_finding_infos(); i++) {
		const struct blkalign_finding_info *f = blkalign_finding_info(i);

		if (o->json) {
			json_object_array_add(pages, page_json(f));
			continue;
		}
		printf("%-24s %-8s ", f->id, blkalign_severity_name(f->severity));
		cli_wrap(f->title, 34);
	}
	if (!o->json) {
		json_object_put(pages);
		return CLI_ALIGNED;
	}
	json_add(document, "findings", pages);
	json_print(document, false);
	return CLI_ALIGNED;
}

int cmd_explain(const struct cli_options *o)
{
	struct json_object *pages = NULL;
	int status = CLI_ALIGNED;

	if (!o->target_count)
		return list(o);
	if (o->json)
		pages = json_object_new_array();
	for (size_t i = 0; i < o->target_count; i++) {
		const struct blkalign_finding_info *f = blkalign_finding_find(o->targets[i]);

		if (!f) {
			cli_say("there is no finding \"%s\": `blkalign explain` lists them all", cli_safe(o->targets[i]));
			status = CLI_FAILED;
			continue;
		}
		if (o->json) {
			json_object_array_add(pages, page_json(f));
			continue;
		}
		if (i)
			putchar('\n');
		page(o, f);
	}
	if (o->json) {
		struct json_object *document = json_document();

		json_add(document, "findings", pages);
		json_print(document, false);
	}
	return status;
}
