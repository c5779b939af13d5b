/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario (docs/glossary.md) that was read from its file. The kernel in the scenario's memory is found, to name the sites
 * and data. No machine runs. All functions are called on one thread.
 *
 * The scenario may come from an untrusted source, and may contain no kernel that is recognised.
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
	/*
	 * Receivers of messages. `message` gets one message for each debug file that cannot be used, `found` one for each that
	 * is used. `found` may be NULL.
	 */
	void (*message)(void *ctx, const char *line);
	void (*found)(void *ctx, const char *line);
	void *ctx;
};

/* A scene. It must not be moved. */
struct scene {
	bool opened; /* `scenario` is valid. */
	struct scenario scenario;
	struct vm_state_facts machine;
	struct image image;
	struct replay_rendezvous rendezvous;
	struct debug_images *images;
	struct guest *guest;
	/* The kernel was found, and has symbols. If false, nothing can be named, and `why_not` has the reason. */
	bool known;
	char why_not[sizeof(((struct err *)0)->text)];
};

/*
 * Read the scenario and find its kernel. Returns 0, or -1 with `err` set: EXIT_INPUT if the scenario or a symbol file cannot be
 * used. scene_close() may be called in both cases.
 */
int scene_open(struct scene *s, const struct scene_config *config, struct err *err);

/* Free the scene's memory and close its files. */
void scene_close(struct scene *s);

/* Name the differences that have no name yet, from the guest's memory at the rendezvous. */
void scene_name(struct scene *s, struct replay_instance *instance);

/* Find the source line of a side's access in debug files. Returns false if there is none. */
bool scene_source(struct scene *s, unsigned side, struct source_line *out);

/* Call `say` with each gdb command that loads the symbols of the kernel, and of the modules that the two sides are in. */
void scene_gdb_symbols(struct scene *s, void (*say)(void *ctx, const char *line), void *ctx);

/* Set *out to the facts about the kernel that a vmcore's reader needs. Returns 0, or -1 with `err` set if a fact is unknown. */
int scene_core(const struct scene *s, struct vmcore_kernel *out, struct err *err);

/*
 * Returns the PID of the task on a CPU with these registers, or -1 if it is unknown. Reads the RAM in the memory of the calling
 * process: the scenario's RAM or, in the process of a replay, the copy's RAM.
 */
int32_t scene_pid(const struct scene *s, const struct replay_cpu *cpu);

#endif
