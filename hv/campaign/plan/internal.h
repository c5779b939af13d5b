/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the plan share. Only hv/campaign/plan/ uses this header. */
#ifndef OUTRIDER_CAMPAIGN_PLAN_INTERNAL_H
#define OUTRIDER_CAMPAIGN_PLAN_INTERNAL_H

#include "hv/campaign/plan/document.h"
#include "hv/campaign/plan/plan.h"

#define PLAN_CELLS_MAX 10000 /* limit of kernels x images x workloads x samplings */
#define PLAN_RUNS_MAX 100000 /* limit of cells x seeds */
/* Maximum number of programs of a <pair>. 140 programs make 9730 pairs, so the pairs alone stay below PLAN_CELLS_MAX. */
#define PLAN_PROGRAMS_MAX 140

/* A list of strings that are freed together. All zero: an empty list. */
struct plan_text {
	char **list;
	size_t count;
};

/* ---- text.c ---- */

/*
 * Make `t` the owner of a string from malloc(). `string` is NULL if memory ran out. Returns the string, or NULL with err set.
 */
char *plan_copy(struct plan_text *t, char *string, struct err *err);

/* Returns a string made by a printf() format, which belongs to `t`, or NULL with err set if memory runs out. */
char *plan_printf(struct plan_text *t, struct err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void plan_text_free(struct plan_text *t);

/* A value in the campaign file, and its line number. `text` is NULL if the file does not have the value. */
struct plan_value {
	const char *text;
	long line;
	const char *more; /* for a disk: ",ro", ",overlay" or "" */
};

struct plan_values {
	struct plan_value *list;
	size_t count;
};

/* Two programs of a <pair>, for `outrider explore`. */
struct plan_pair {
	/* the name of the <workload>; the name of the part is this name, followed by the names of both programs */
	const char *workload;
	const char *prepare, *command[2];
	unsigned trials; /* 0: TRIALS_DEFAULT of expand.c */
	uint64_t steps;	 /* 0: the default of `outrider explore --steps` */
};

/*
 * The settings of one element: <machine>, <os>, <image>, <workload> or <sampling>. A number is 0 if the element does not set
 * the number.
 */
struct plan_part {
	const char *name; /* "" for <machine> */
	long line;
	struct plan_value kernel, initrd, cmdline, net, module, functions;
	struct plan_value domain_file, domain_name, uri;
	struct plan_values disks, symbols, sources, rules, suppress;
	struct plan_value vcpu, memory; /* their numbers are in `vcpus` and `bytes` */
	unsigned vcpus;			/* number of vCPUs; without <vcpu>, that of the image's domain_file */
	uint64_t bytes;
	uint64_t duration_ns;
	uint64_t rate, delay_us, overhead, callees;
	bool rng, percpu;
	struct plan_pair pair; /* `workload` is NULL for a part that is no pair */
};

struct plan_parts {
	struct plan_part *list;
	size_t count;
};

/* The axes of the matrix without the seeds, in the order of a run's key. */
enum plan_axis { PLAN_KERNEL, PLAN_IMAGE, PLAN_WORKLOAD, PLAN_SAMPLING, PLAN_AXES };

struct plan_exclude {
	struct plan_value names[PLAN_AXES];
	long line;
};

struct plan {
	struct plan_text text;
	char hash[DOCUMENT_HASH_MAX];
	const char *path, *folder, *name;
	struct plan_value emulator;
	const char *program; /* the emulator's path, or NULL */
	struct plan_limits limits;
	struct plan_part machine;
	struct plan_parts axes[PLAN_AXES];
	struct plan_exclude *excludes;
	size_t exclude_count;
	uint64_t budget_ns;
	unsigned jobs, failures;
	bool learns;
	bool drawn; /* Each round computes its own seeds. */
	uint64_t seed_from;
	unsigned seed_count;
	long seeds_line;
};

/* One cell of the matrix. */
struct plan_cell {
	const struct plan_part *parts[PLAN_AXES];
};

/* "kernel", "image", ...: the attributes of <exclude>. */
extern const char *const plan_axis_words[PLAN_AXES];

/* ---- parse.c: reads a valid document ---- */
int plan_parse(struct plan *p, const xmlDoc *doc, struct err *err);

/* ---- check.c: checks beyond the grammar ---- */
int plan_check(const struct plan *p, struct err *err);

/* Returns whether the part is a pair of programs. A <workload> with a <pair> gives one part for every two of its programs. */
static inline bool plan_is_pair(const struct plan_part *part)
{
	return part->pair.workload != NULL;
}

/* ---- domain.c ---- */

/* For each image that does not set its number of vCPUs, read the number from its domain XML. Returns 0, or -1 with err set. */
int plan_read_domains(struct plan *p, struct err *err);

/* ---- cells.c ---- */

/* Returns the cells that are not excluded: an array of at least one cell from malloc(), or NULL with err set. */
struct plan_cell *plan_cells(const struct plan *p, size_t *count, struct err *err);

/*
 * Returns whether `name` in an <exclude> means the part: it is the part's name or, if the part is a pair, the name of its
 * <workload>.
 */
bool plan_is_named(const struct plan_part *part, const char *name);

#define PLAN_MEMBER(member) offsetof(struct plan_part, member)

/*
 * Returns the value of a member (see PLAN_MEMBER) in the last part of the cell that sets it, or NULL. <machine> is the first
 * part.
 */
const struct plan_value *plan_value_of(const struct plan *p, const struct plan_cell *cell, size_t member);

/* Returns part `i` of the cell, in the order in which later parts override earlier ones. Returns NULL after the last part. */
const struct plan_part *plan_part_of(const struct plan *p, const struct plan_cell *cell, size_t i);

/*
 * Returns a copy of `text` from malloc(), in which the names of the cell's parts replace {kernel}, {image}, {workload} and
 * {sampling}. Returns NULL if memory runs out.
 */
char *plan_fill_in(const struct plan_cell *cell, const char *text);

/*
 * Returns the path of the file `name`, from malloc(), or NULL if memory runs out. Fills in the cell's names as plan_fill_in()
 * does, unless `cell` is NULL. A relative name is relative to the folder of the campaign file.
 */
char *plan_file(const struct plan *p, const struct plan_cell *cell, const char *name);

#endif
