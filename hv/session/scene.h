/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario that was read from its file, and the kernel in its memory, which gives names to what is there. No machine runs.
 *
 * One thread. A scenario is another's: nothing in it is trusted, and it may have no kernel that is known.
 */
#ifndef OUTRIDER_SESSION_SCENE_H
#define OUTRIDER_SESSION_SCENE_H

#include "hv/guest/guest.h"
#include "hv/race/names.h"
#include "hv/race/race.h"
#include "hv/replay/image.h"
#include "hv/replay/scenario/scenario.h"
#include "hv/replay/vmcore/vmcore.h"
#include "hv/session/replay_names.h"
#include "symbols/files/debug_images.h"

struct scene_config {
	const char *path;
	/* The files and folders of --symbols; see symbol_files.h. */
	const char *const *symbols;
	size_t symbol_count;
	/* Fetch debug files from the user's debuginfod servers. */
	bool debuginfod;
	/* Takes notes: what debug files cannot be used, or, with `found`, which are used; `found` may be NULL. */
	void (*note)(void *ctx, const char *line);
	void (*found)(void *ctx, const char *line);
	void *ctx;
};

/* It must not be moved. */
struct scene {
	bool opened; /* `scenario` is there. */
	struct scenario scenario;
	struct vm_state_facts machine;
	struct image image;
	struct replay_meeting met;
	struct debug_images *images;
	struct guest *guest;
	/* The kernel is found, and has symbols. Without it there are no names, and `why_not` says why. */
	bool known;
	char why_not[sizeof(((struct err *)0)->text)];
};

/*
 * Read the scenario and find its kernel. Returns 0, or -1 with `err` set: EXIT_INPUT when the scenario or a file of symbols
 * cannot be used. scene_close() may follow either way.
 */
int scene_open(struct scene *s, const struct scene_config *config, struct err *err);

/* Free all of it. */
void scene_close(struct scene *s);

/* Name the differences that have no name yet, as they were at the meeting. */
void scene_name(struct scene *s, struct replay_instance *instance);

/* The source line of a side's access, by debug files. False: it is not known. */
bool scene_source(struct scene *s, unsigned side, struct source_line *out);

/* Say each command by which gdb learns where the kernel is, and where the modules of both sides are. */
void scene_gdb_symbols(struct scene *s, void (*say)(void *ctx, const char *line), void *ctx);

/* What the reader of a core has to know of the kernel. Returns 0, or -1 with `err` set when that is not all known. */
int scene_core(const struct scene *s, struct vmcore_kernel *out, struct err *err);

/*
 * The PID of the task that runs on a CPU with these registers, in the scenario's RAM as it is in this process: in the process
 * of a run it is that of the copy. -1: it is not known.
 */
int32_t scene_pid(const struct scene *s, const struct replay_cpu *cpu);

#endif
