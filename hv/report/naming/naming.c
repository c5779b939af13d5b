// SPDX-License-Identifier: GPL-2.0-or-later
/* Names a race by debug files: the source lines of its call stacks, and its datum. */
#include "hv/report/naming/naming.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/report/nearby.h"
#include "hv/race/printable.h"
#include "hv/report/naming/datum.h"

/* Returns the length of the longest common folder of `file` and `folder`, without its trailing slash. */
static size_t common_folder(const char *file, const char *folder)
{
	size_t common = 0;

	for (size_t i = 0; file[i]; i++) {
		if (file[i] == '/' && (folder[i] == '/' || !folder[i]))
			common = i;
		if (!folder[i] || file[i] != folder[i])
			break;
	}
	return common;
}

/*
 * Write the file's path relative to the source tree. Builds pass source paths to the compiler in different ways. The common
 * part of the file's path and the compilation folder is the location of the tree on the build machine, so it is removed.
 */
static void put_file(const struct debuginfo_frame *frame, char out[SOURCE_FILE_MAX])
{
	const char *file = frame->file ? frame->file : "";
	size_t common = frame->comp_dir ? common_folder(file, frame->comp_dir) : 0;
	char *at;

	if (common)
		file += common + 1;
	while (strncmp(file, "./", 2) == 0)
		file += 2;
	snprintf(out, SOURCE_FILE_MAX, "%s", file);
	while ((at = strstr(out, "/./")))
		memmove(at, at + 2, strlen(at + 2) + 1);
}

void naming_line(const struct debuginfo_frame *frame, struct source_line *line)
{
	line->line = frame->line;
	line->column = frame->column;
	snprintf(line->function, sizeof(line->function), "%s", frame->function ? frame->function : "");
	put_file(frame, line->file);
}

/*
 * From now on, the report may read the source file of this frame, which a debug file of the user names. `name` is the file's
 * name in the report.
 */
static void allow_file(const struct naming *n, const struct debuginfo_frame *frame, const char *name)
{
	char path[PATH_MAX];
	const char *file = frame->file;

	if (file && file[0] != '/') {
		if (!frame->comp_dir || snprintf(path, sizeof(path), "%s/%s", frame->comp_dir, file) >= (int)sizeof(path))
			return;
		file = path;
	}
	if (file)
		sources_allow(n->sources, name, file);
}

static int add_lines(const struct naming *n, const struct debug_image *image, const struct debuginfo_frame *frames, int count,
		     unsigned side, unsigned call, struct race_names *names, struct err *err)
{
	bool users = n->sources && debug_images_is_users(n->images, image);

	for (int i = 0; i < count; i++) {
		struct source_line *line = race_names_add(names, err);

		if (!line)
			return -1;
		line->side = (uint8_t)side;
		line->frame = (uint8_t)call;
		line->inlined = frames[i].inlined;
		naming_line(&frames[i], line);
		if (users)
			allow_file(n, &frames[i], line->file);
	}
	return 0;
}

/* Name frame `call` of a side. For a return address, `pc` is the address minus 1, which lies in the call instruction. */
static int name_call(const struct naming *n, const struct race *race, unsigned side, unsigned call, uint64_t pc,
		     struct race_names *names, struct err *err)
{
	struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES];
	struct debug_image image;
	struct err own = {0};
	struct debuginfo *di;
	int count;

	if (!naming_image(n, race, pc, &image))
		return 0;
	di = debug_images_of(n->images, &image);
	if (!di)
		return 0;
	count = debuginfo_lines(di, pc, frames, &own);
	if (count < 0)
		debug_images_failed(n->images, &image, &own);
	return add_lines(n, &image, frames, count, side, call, names, err);
}

static int name_side(const struct naming *n, const struct race *race, unsigned side, struct race_names *names, struct err *err)
{
	const struct race_side *s = &race->first.sides[side];
	int rc = 0;

	/* A side whose stack was not unwound has only one frame: the place of the access. */
	if (s->calls.count == 0)
		return name_call(n, race, side, 0, site_address(s), names, err);
	for (unsigned i = 0; i < s->calls.count && rc == 0; i++) {
		const struct guest_frame *frame = &s->calls.frames[i];

		rc = name_call(n, race, side, i, frame->kind == UNWIND_CALL ? frame->pc - 1 : frame->pc, names, err);
	}
	return rc;
}

/* Name the innermost source line of each instruction near the access. */
static int name_code(const struct naming *n, const struct race *race, unsigned which, struct race_names *names, struct err *err)
{
	const struct race_side *side = &race->first.sides[which];
	struct debuginfo_frame frames[DEBUGINFO_MAX_FRAMES];
	struct debug_image image;
	struct debuginfo *di;
	struct nearby nearby;
	struct err own = {0};
	int rc = 0;

	if (side->kind != RACE_SIDE_CPU || !naming_image(n, race, site_address(side), &image))
		return 0;
	di = debug_images_of(n->images, &image);
	if (!di)
		return 0;
	nearby_find(n->decoder, side, &nearby);
	for (unsigned i = 0; i < nearby.count && rc == 0; i++) {
		char file[SOURCE_FILE_MAX];
		int count = debuginfo_lines(di, side->code_gva + nearby.at[i], frames, &own);

		if (count < 0)
			debug_images_failed(n->images, &image, &own);
		if (count <= 0 || !frames[0].line)
			continue;
		put_file(&frames[0], file);
		if (n->sources && debug_images_is_users(n->images, &image))
			allow_file(n, &frames[0], file);
		rc = race_names_add_code(names, which, nearby.at[i], file, frames[0].line, err);
	}
	return rc;
}

int naming_race(const struct naming *n, struct race *race, struct err *err)
{
	struct race_names *names = calloc(1, sizeof(*names));
	int rc = names ? 0 : err_set(err, EXIT_INTERNAL, "out of memory while naming a race");

	for (unsigned side = 0; side < 2 && rc == 0; side++) {
		if (race->first.sides[side].kind == RACE_SIDE_CPU)
			rc = name_side(n, race, side, names, err);
		if (rc == 0 && n->code_lines)
			rc = name_code(n, race, side, names, err);
	}
	if (rc < 0) {
		race_names_free(names);
		return -1;
	}
	naming_datum(n, race, names);
	printable_names(names);
	/* Keep existing names with more source lines: they were made with more debug files. */
	if (race->names && race->names->count > names->count) {
		race_names_move_code(race->names, names);
		race_names_free(names);
		return 0;
	}
	race_names_free(race->names);
	race->names = names;
	return 0;
}
