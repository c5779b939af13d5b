// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes SARIF locations of accesses and calls. Section numbers refer to SARIF 2.1.0. Code hosts show a location only if it has
 * a file and a region with both ends. So a device, and a function without a source line, get a made-up file, whose name is the
 * same in every run.
 */
#include "hv/export/sarif_place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "hv/report/device.h"
#include "hv/report/words.h"

#define URI_MAX (3 * SOURCE_FILE_MAX + 512)

/* A place in the code: a source line, or only a function. */
struct place {
	/* NULL: unknown. */
	const struct source_line *line;
	/* Names of the function and its module ("": the kernel). */
	const char *function, *module;
	/* The fully qualified name: the name of a site or, for a call, the name of the function alone. */
	const char *full_name;
};

json_t *sarif_message(struct json_builder *b, const char *text)
{
	json_t *o = json_object();

	json_put(b, o, "text", json_clean(text, strlen(text)));
	return o;
}

static void append(char uri[URI_MAX], const char *text)
{
	size_t used = strlen(uri);

	snprintf(uri + used, URI_MAX - used, "%s", text);
}

/*
 * Append a component of a path, percent-encoded (RFC 3986). `text` was made printable (hv/base/clean.h), so that it has \xHH in
 * place of each byte that is not printable ASCII. In the URI, such a byte becomes %HH.
 */
static void append_part(char uri[URI_MAX], const char *text, size_t len)
{
	char bytes[SITE_NAME_MAX], clean[SITE_NAME_MAX], escape[4];

	snprintf(clean, sizeof(clean), "%.*s", (int)len, text);
	unclean_text(clean, bytes, sizeof(bytes));
	for (const char *at = bytes; *at; at++) {
		bool plain = isalnum((unsigned char)*at) || strchr("-._~!$&'()*+,;=@", *at);

		snprintf(escape, sizeof(escape), plain ? "%c" : "%%%02X", (unsigned char)*at);
		append(uri, escape);
	}
}

/* Remove the last component of the path after offset `root`. */
static void step_up(char uri[URI_MAX], size_t root)
{
	char *slash = strlen(uri) > root ? strrchr(uri + root, '/') : NULL;

	uri[slash ? (size_t)(slash - uri) : root] = '\0';
}

/* Append a path. Resolve "." and ".." in it, since code hosts do not. */
static void append_path(char uri[URI_MAX], const char *path)
{
	size_t root = strlen(uri), len;

	for (const char *at = path + strspn(path, "/"); *at; at += len + strspn(at + len, "/")) {
		len = strcspn(at, "/");
		if (len == 2 && strncmp(at, "..", 2) == 0) {
			step_up(uri, root);
		} else if (len != 1 || at[0] != '.') {
			append(uri, strlen(uri) > root ? "/" : "");
			append_part(uri, at, len);
		}
	}
}

static json_t *artifact(struct json_builder *b, const struct place *p)
{
	const char *base = p->line ? SARIF_SOURCES : SARIF_SYMBOLS;
	json_t *o = json_object();
	char uri[URI_MAX] = "";

	if (p->line) {
		if (p->line->file[0] == '/') {
			base = NULL;
			append(uri, "file:///");
		}
		append_path(uri, p->line->file);
	} else {
		append(uri, "guest-symbols/");
		append_part(uri, p->module[0] ? p->module : "vmlinux", SITE_NAME_MAX - 1);
		append(uri, p->module[0] ? ".ko/" : "/");
		append_part(uri, p->function, SITE_NAME_MAX - 1);
	}
	json_put(b, o, "uri", json_string(uri));
	if (base)
		json_put(b, o, "uriBaseId", json_string(base));
	return o;
}

/*
 * Returns a region object, section 3.30. The end of the expression is unknown, so the region is the character where it begins.
 */
static json_t *region(struct json_builder *b, const struct source_line *line)
{
	unsigned number = line ? line->line : 1, column = line && line->column ? line->column : 1;
	json_t *o = json_object();

	json_put(b, o, "startLine", json_integer(number));
	json_put(b, o, "startColumn", json_integer(column));
	json_put(b, o, "endLine", json_integer(number));
	json_put(b, o, "endColumn", json_integer((json_int_t)column + 1));
	return o;
}

/*
 * Returns a location object (section 3.28), made of a physical location (3.29) and a logical location (3.33). Takes ownership
 * of `where`, the location of an artifact (3.4).
 */
static json_t *located(struct json_builder *b, json_t *where, const struct source_line *line, const char *name,
		       const char *full_name, const char *kind)
{
	json_t *o = json_object(), *physical = json_object(), *logical = json_object(), *list = json_array();

	json_put(b, physical, "artifactLocation", where);
	json_put(b, physical, "region", region(b, line));
	json_put(b, o, "physicalLocation", physical);
	json_put(b, logical, "name", json_string(name));
	json_put(b, logical, "fullyQualifiedName", json_string(full_name));
	json_put(b, logical, "kind", json_string(kind));
	json_append(b, list, logical);
	json_put(b, o, "logicalLocations", list);
	return o;
}

static json_t *location(struct json_builder *b, const struct place *p)
{
	return located(b, artifact(b, p), p->line, p->function, p->full_name, "function");
}

/*
 * Returns the location of a device's access. A device has no file and no line. Its made-up file is named by the kind of device
 * and of request, which are the same in every run.
 */
static json_t *device_location(struct json_builder *b, const struct race *race, unsigned which)
{
	const struct device_request *request = &race->first.sides[which].device.request;
	char uri[URI_MAX] = "devices/", kind[DEVICE_TEXT_MAX];
	json_t *where = json_object();

	append_part(uri, request->type, SITE_NAME_MAX - 1);
	append(uri, "/");
	append_part(uri, device_op_word(request->op), SITE_NAME_MAX - 1);
	json_put(b, where, "uri", json_string(uri));
	json_put(b, where, "uriBaseId", json_string(SARIF_DEVICES));
	device_kind(&race->first.sides[which].device, kind);
	return located(b, where, NULL, kind, race->site[which], "resource");
}

json_t *sarif_access(struct json_builder *b, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	const struct source_line *line = export_line(race, which);
	char name[EXPORT_NAME_MAX];

	if (side->kind == RACE_SIDE_DEVICE)
		return device_location(b, race, which);
	export_function(side, name);
	return location(b, &(struct place){line, name, side->symbol.module, race->site[which]});
}

void sarif_inlined(struct json_builder *b, json_t *list, const struct race *race, unsigned which, int *id)
{
	const struct source_line *place = export_line(race, which), *line;
	const struct race_side *side = &race->first.sides[which];
	char function[EXPORT_NAME_MAX], text[2 * EXPORT_NAME_MAX + 64], name[EXPORT_NAME_MAX];
	size_t n;

	export_function(side, function);
	line = race_names_lines(race->names, which, 0, &n);
	for (; place && line != place; line++) {
		json_t *where;

		if (!line->file[0] || !line->line || !line->function[0])
			continue;
		export_text(line->function, sizeof(line->function), name);
		where = location(b, &(struct place){line, name, side->symbol.module, name});
		snprintf(text, sizeof(text), "%s(), inlined into %s()", name, function);
		json_put(b, where, "id", json_integer((*id)++));
		json_put(b, where, "message", sarif_message(b, text));
		json_append(b, list, where);
	}
}

json_t *sarif_site(struct json_builder *b, const char *site)
{
	char module[SITE_NAME_MAX], function[SITE_NAME_MAX];
	const char *colon = strchr(site, ':'), *name = colon ? colon + 1 : site;

	snprintf(module, sizeof(module), "%.*s", colon ? (int)(colon - site) : 0, site);
	snprintf(function, sizeof(function), "%.*s", (int)strcspn(name, "+"), name);
	return location(b, &(struct place){NULL, function, module, site});
}

/*
 * Returns the place where the frame `call` was executing: the source line lines[k], in the frame's function or in a function
 * that is inlined there. If `lines` is NULL or the line is unknown, returns the function alone. `name` is a buffer for the
 * function's name.
 */
static struct place place_of(const struct guest_frame *call, const struct source_line *lines, size_t k,
			     char name[EXPORT_NAME_MAX])
{
	const struct source_line *line = lines ? &lines[k] : NULL;

	if (line && line->function[0])
		snprintf(name, EXPORT_NAME_MAX, "%s", line->function);
	else if (call->symbol.name[0])
		snprintf(name, EXPORT_NAME_MAX, "%s", call->symbol.name);
	else
		snprintf(name, EXPORT_NAME_MAX, "0x%" PRIx64, call->pc);
	return (struct place){line && line->file[0] && line->line ? line : NULL, name, call->symbol.module, name};
}

/* Call `each` for every place of a side's calls, innermost first. An inlined function is a place by itself. */
static void each_place(struct json_builder *b, const struct race *race, unsigned which,
		       void (*each)(struct json_builder *b, json_t *list, json_t *where, const char *function), json_t *list)
{
	const struct guest_calls *calls = &race->first.sides[which].calls;
	char name[EXPORT_NAME_MAX];
	size_t n;

	for (unsigned i = 0; i < calls->count; i++) {
		const struct source_line *lines = race_names_lines(race->names, which, i, &n);

		for (size_t k = 0; k < (lines ? n : 1); k++) {
			const struct place p = place_of(&calls->frames[i], lines, k, name);

			each(b, list, location(b, &p), name);
		}
	}
}

/* Append a stack frame object, section 3.45. */
static void add_frame(struct json_builder *b, json_t *list, json_t *where, const char *function)
{
	json_t *frame = json_object();

	(void)function;
	json_put(b, frame, "location", where);
	json_append(b, list, frame);
}

json_t *sarif_stacks(struct json_builder *b, const struct race *race)
{
	json_t *list = json_array();

	for (unsigned which = 0; which < 2; which++) {
		json_t *stack, *frames;

		if (!race->first.sides[which].calls.count)
			continue;
		stack = json_object();
		frames = json_array();
		each_place(b, race, which, add_frame, frames);
		json_put(b, stack, "message", sarif_message(b, which ? "the access in between" : "the access that was held"));
		json_put(b, stack, "frames", frames);
		json_append(b, list, stack);
	}
	return list;
}

/*
 * Add a threadFlowLocation object, section 3.38. The list begins with the outermost step, but steps are added innermost first:
 * insert each at the front.
 */
static void add_step(struct json_builder *b, json_t *list, json_t *where, const char *function)
{
	json_t *step = json_object();
	char text[EXPORT_NAME_MAX + 8];

	snprintf(text, sizeof(text), "in %s", function);
	json_put(b, where, "message", sarif_message(b, text));
	json_put(b, step, "location", where);
	json_put(b, step, "importance", json_string("unimportant"));
	if (json_array_insert_new(list, 0, step) < 0)
		b->failed = true;
}

#define ACCESS_TEXT_MAX (EXPORT_NAME_MAX + 2 * DEVICE_TEXT_MAX + 128)

static void access_text(const struct race *race, unsigned which, char out[ACCESS_TEXT_MAX])
{
	const char *when = which ? "while the other access was held" : "held until the other access was made";
	const struct race_side *side = &race->first.sides[which];
	char name[EXPORT_NAME_MAX], request[DEVICE_TEXT_MAX], thread[DEVICE_TEXT_MAX];

	if (side->kind == RACE_SIDE_DEVICE) {
		device_request(&side->device, request);
		device_thread(&side->device, thread);
		snprintf(out, ACCESS_TEXT_MAX, "%s of %" PRIu32 " bytes at GPA 0x%" PRIx64 " by %s, by %s, %s",
			 access_word(race->rw[which]), side->device.len, side->device.gpa, request, thread, when);
		return;
	}
	export_function(side, name);
	snprintf(out, ACCESS_TEXT_MAX, "%s of %" PRIu32 " bytes in %s on CPU %u, %s", access_word(race->rw[which]), side->size,
		 name, side->cpu, when);
}

/*
 * Returns the location of the access itself, which may be in an inlined function. A thread flow shows the calls that led to the
 * access as steps before the step of the access.
 */
static json_t *innermost(struct json_builder *b, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	size_t n;
	const struct source_line *line = race_names_lines(race->names, which, 0, &n);
	char name[EXPORT_NAME_MAX];

	if (side->kind == RACE_SIDE_DEVICE || !line || !line->file[0] || !line->line)
		return sarif_access(b, race, which);
	export_function(side, name);
	return location(b, &(struct place){line, name, side->symbol.module, race->site[which]});
}

/*
 * Returns the last step of a thread flow: the access. The other side's access is first in the execution order, because it
 * happened while the held side waited.
 */
static json_t *access_step(struct json_builder *b, const struct race *race, unsigned which)
{
	json_t *step = json_object(), *where = innermost(b, race, which);
	char text[ACCESS_TEXT_MAX];

	access_text(race, which, text);
	json_put(b, where, "message", sarif_message(b, text));
	json_put(b, step, "location", where);
	json_put(b, step, "importance", json_string("essential"));
	json_put(b, step, "executionOrder", json_integer(which ? 1 : 2));
	return step;
}

static json_t *thread_flow(struct json_builder *b, const struct race *race, unsigned which)
{
	json_t *o = json_object(), *steps = json_array();

	each_place(b, race, which, add_step, steps);
	/* Replace the innermost step by access_step(), which describes the same place in full. */
	if (json_array_size(steps))
		json_array_remove(steps, json_array_size(steps) - 1);
	json_append(b, steps, access_step(b, race, which));
	json_put(b, o, "id", json_string(which ? "in between" : "held"));
	json_put(b, o, "message", sarif_message(b, which ? "the access in between" : "the access that was held"));
	json_put(b, o, "locations", steps);
	return o;
}

json_t *sarif_code_flow(struct json_builder *b, const struct race *race)
{
	json_t *o = json_object(), *flows = json_array();

	for (unsigned i = 0; i < 2; i++) {
		if (race->first.sides[1 - i].kind != RACE_SIDE_UNSEEN)
			json_append(b, flows, thread_flow(b, race, 1 - i));
	}
	json_put(b, o, "message",
		 sarif_message(b, json_array_size(flows) == 2 ? "two accesses to the same memory at the same time"
							      : "an access whose memory changed meanwhile"));
	json_put(b, o, "threadFlows", flows);
	return o;
}

/*
 * Returns the roots of relative URIs (originalUriBaseIds, section 3.14.14). The objects of the roots have no "uri": the source
 * tree can be in another folder on the machine that exports the report, and the other roots are no folders. If `devices` is
 * false, the root of devices, which is the last one, is left out.
 */
json_t *sarif_roots(struct json_builder *b, bool devices)
{
	static const char *const said[][2] = {
		{SARIF_SOURCES, "The root of the source tree that the guest's kernel was built from."},
		{SARIF_SYMBOLS, "No files: functions of the guest's kernel and modules without a known source line."},
		{SARIF_DEVICES, "No files: the guest's devices, with the kinds of their requests."},
	};
	json_t *o = json_object();

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]) - !devices; i++) {
		json_t *root = json_object();

		json_put(b, root, "description", sarif_message(b, said[i][1]));
		json_put(b, o, said[i][0], root);
	}
	return o;
}
