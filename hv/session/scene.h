/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario read from its file, with the kernel in its memory, which names what is there. No machine runs.
 *
 * One thread. The scenario may come from an untrusted source, and may contain no kernel that is recognised.
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
	/* The files and folders of --symbols: see symbol_files.h. */
	const char *const *symbols;
	size_t symbol_count;
	/* Fetch debug files from the user's debuginfod servers. */
	bool debuginfod;
	/* Messages: `note` gets the debug files that cannot be used, `found` the ones that are used. `found` may be NULL. */
	void (*note)(void *ctx, const char *line);
	void (*found)(void *ctx, const char *line);
	void *ctx;
};

/* Must not be moved. */
struct scene {
	bool opened; /* `scenario` is valid. */
	struct scenario scenario;
	struct vm_state_facts machine;
	struct image image;
	struct replay_rendezvous rendezvous;
	struct debug_images *images;
	struct guest *guest;
	/* The kernel was found, and has symbols. If false there are no names, and `why_not` has the reason. */
	bool known;
	char why_not[sizeof(((struct err *)0)->text)];
};

/*
 * Read the scenario and find its kernel. Returns 0, or -1 with `err` set: EXIT_INPUT when the scenario or a symbol file cannot
 * be used. scene_close() may be called in either case.
 */
int scene_open(struct scene *s, const struct scene_config *config, struct err *err);

/* Free all of it. */
void scene_close(struct scene *s);

/* Name the differences that have no name yet, from the memory at the rendezvous. */
void scene_name(struct scene *s, struct replay_instance *instance);

/* Find the source line of a side's access in debug files. Returns false if there is none. */
bool scene_source(struct scene *s, unsigned side, struct source_line *out);

/* Give `say` each gdb command that loads the symbols of the kernel, and of the modules that the two sides are in. */
void scene_gdb_symbols(struct scene *s, void (*say)(void *ctx, const char *line), void *ctx);

/* What a vmcore's reader must know of the kernel. Returns 0, or -1 with `err` set when a part is unknown. */
int scene_core(const struct scene *s, struct vmcore_kernel *out, struct err *err);

/*
 * The PID of the task on a CPU with these registers, read from the scenario's RAM in this process. In the process of a replay,
 * that is the copy's RAM. -1: unknown.
 */
int32_t scene_pid(const struct scene *s, const struct replay_cpu *cpu);

#endif
