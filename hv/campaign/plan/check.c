// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks a campaign file for errors that a grammar cannot express: duplicate and missing names, missing files, and sizes. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/campaign/plan/internal.h"

#define MIB (UINT64_C(1) << 20)
#define MEMORY_MIN (64 * MIB)
#define MEMORY_MAX (UINT64_C(1) << 40)

/* The names of the elements that define the parts of each axis. */
static const char *const elements[PLAN_AXES] = {"os", "image", "workload", "sampling"};

/* ---- names ---- */

static int check_names(const struct plan *p, enum plan_axis axis, struct err *err)
{
	const struct plan_parts *parts = &p->axes[axis];

	for (size_t i = 0; i < parts->count; i++) {
		for (size_t k = 0; k < i; k++) {
			if (strcmp(parts->list[i].name, parts->list[k].name) == 0)
				return err_set(err, EXIT_INPUT,
					       "%s:%ld: <%s> has the name '%s' of line %ld: expected another name", p->path,
					       parts->list[i].line, elements[axis], parts->list[i].name, parts->list[k].line);
		}
	}
	return 0;
}

static bool is_name(const struct plan_parts *parts, const char *name)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (plan_is_named(&parts->list[i], name))
			return true;
	}
	return false;
}

static int check_exclude(const struct plan *p, const struct plan_exclude *e, struct err *err)
{
	unsigned given = 0;

	for (size_t i = 0; i < PLAN_AXES; i++) {
		given += e->names[i].text != NULL;
		if (e->names[i].text && !is_name(&p->axes[i], e->names[i].text))
			return err_set(err, EXIT_INPUT,
				       "%s:%ld: <exclude> has %s='%s', but no <%s> has that name: expected the name of one in "
				       "this file",
				       p->path, e->line, plan_axis_words[i], e->names[i].text, elements[i]);
	}
	if (!given)
		return err_set(
			err, EXIT_INPUT,
			"%s:%ld: <exclude> names nothing; expected kernel='...', image='...', workload='...' or sampling='...'",
			p->path, e->line);
	return 0;
}

/* ---- files ---- */

enum wanted { WANT_FILE, WANT_ANY, WANT_PROGRAM };

static int check_file(const struct plan *p, const struct plan_cell *cell, const struct plan_value *value, enum wanted wanted,
		      const char *what, struct err *err)
{
	char *path = plan_file(p, cell, value->text);
	struct stat st;

	if (!path)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	if (stat(path, &st) < 0 || access(path, wanted == WANT_PROGRAM ? X_OK : R_OK) < 0)
		err_set(err, EXIT_INPUT, "%s:%ld: %s %s: %s", p->path, value->line, what, path, strerror(errno));
	else if (wanted != WANT_ANY && S_ISDIR(st.st_mode))
		err_set(err, EXIT_INPUT, "%s:%ld: %s %s is a folder: expected a file", p->path, value->line, what, path);
	free(path);
	return err->code == EXIT_OK ? 0 : -1;
}

static int check_files(const struct plan *p, const struct plan_cell *cell, const struct plan_values *values, enum wanted wanted,
		       const char *what, struct err *err)
{
	for (size_t i = 0; i < values->count; i++) {
		if (check_file(p, cell, &values->list[i], wanted, what, err) < 0)
			return -1;
	}
	return 0;
}

static int check_part_files(const struct plan *p, const struct plan_cell *cell, const struct plan_part *part, struct err *err)
{
	if (part->kernel.text && check_file(p, cell, &part->kernel, WANT_FILE, "the kernel", err) < 0)
		return -1;
	if (part->initrd.text && check_file(p, cell, &part->initrd, WANT_FILE, "the initial RAM disk", err) < 0)
		return -1;
	if (part->domain_file.text && check_file(p, NULL, &part->domain_file, WANT_FILE, "the domain's XML", err) < 0)
		return -1;
	if (check_files(p, cell, &part->disks, WANT_FILE, "the image of a disk", err) < 0 ||
	    check_files(p, cell, &part->symbols, WANT_ANY, "symbols", err) < 0 ||
	    check_files(p, cell, &part->sources, WANT_ANY, "sources", err) < 0)
		return -1;
	return check_files(p, cell, &part->rules, WANT_FILE, "rules", err) < 0 ||
			       check_files(p, cell, &part->suppress, WANT_FILE, "known races", err) < 0
		       ? -1
		       : 0;
}

/* ---- machines ---- */

static int check_part(const struct plan *p, const struct plan_part *part, struct err *err)
{
	if (part->memory.text && (part->bytes < MEMORY_MIN || part->bytes > MEMORY_MAX || part->bytes % MIB != 0))
		return err_set(err, EXIT_INPUT, "%s:%ld: <memory> is %llu bytes; expected 64 MiB to 1 TiB, in whole MiB",
			       p->path, part->memory.line, (unsigned long long)part->bytes);
	if (part->delay_us > 1000000)
		return err_set(err, EXIT_INPUT,
			       "%s:%ld: <delay> of <sampling> is more than a second; expected at most a second", p->path,
			       part->line);
	if (part->callees && !part->functions.text && !part->module.text)
		return err_set(err, EXIT_INPUT,
			       "%s:%ld: <callees> of <sampling> needs functions whose callees are meant; expected <function> "
			       "or <module>, too",
			       p->path, part->line);
	return 0;
}

/* Check the machine of a pair: `outrider explore` needs an initrd and at least two vCPUs, and cannot run a libvirt domain. */
static int check_pair(const struct plan *p, const struct plan_cell *cell, struct err *err)
{
	const struct plan_part *image = cell->parts[PLAN_IMAGE], *pair = cell->parts[PLAN_WORKLOAD], *part;
	unsigned vcpus = 0;

	if (image->domain_file.text || image->domain_name.text)
		return err_set(
			err, EXIT_INPUT,
			"%s:%ld: <workload name='%s'> has a <pair>, which cannot run in the domain of the image '%s': expected "
			"an <exclude>, or another image",
			p->path, pair->line, pair->pair.workload, image->name);
	if (!plan_value_of(p, cell, PLAN_MEMBER(initrd)))
		return err_set(err, EXIT_INPUT,
			       "%s:%ld: <workload name='%s'> has a <pair>, but the image '%s' has no initial RAM disk: "
			       "expected <initrd>",
			       p->path, pair->line, pair->pair.workload, image->name);
	for (size_t i = 0; (part = plan_part_of(p, cell, i)) != NULL; i++)
		vcpus = part->vcpus ? part->vcpus : vcpus;
	return vcpus == 1 ? err_set(err, EXIT_INPUT,
				    "%s:%ld: <workload name='%s'> has a <pair>, but its machine has one vCPU: expected at "
				    "least two",
				    p->path, pair->line, pair->pair.workload)
			  : 0;
}

static int check_cell(const struct plan *p, const struct plan_cell *cell, struct err *err)
{
	const struct plan_part *os = cell->parts[PLAN_KERNEL], *image = cell->parts[PLAN_IMAGE], *part;
	bool attached = image->domain_file.text || image->domain_name.text;

	if (!attached && !os->kernel.text)
		return err_set(err, EXIT_INPUT, "%s:%ld: <os name='%s'> has no kernel for the image '%s'; expected <kernel>",
			       p->path, os->line, os->name, image->name);
	if (plan_is_pair(cell->parts[PLAN_WORKLOAD]) && check_pair(p, cell, err) < 0)
		return -1;
	for (size_t i = 0; (part = plan_part_of(p, cell, i)) != NULL; i++) {
		if (check_part(p, part, err) < 0 || check_part_files(p, cell, part, err) < 0)
			return -1;
	}
	return 0;
}

static int check_cells(const struct plan *p, struct err *err)
{
	size_t count;
	struct plan_cell *cells = plan_cells(p, &count, err);

	if (cells && count * (uint64_t)p->seed_count > PLAN_RUNS_MAX)
		err_set(err, EXIT_INPUT, "%s:%ld: the matrix with all seeds of <seeds> has more than %d runs: expected fewer",
			p->path, p->seeds_line, PLAN_RUNS_MAX);
	for (size_t i = 0; cells && err->code == EXIT_OK && i < count; i++)
		check_cell(p, &cells[i], err);
	free(cells);
	return err->code == EXIT_OK ? 0 : -1;
}

/* ---- the whole plan ---- */

int plan_check(const struct plan *p, struct err *err)
{
	for (size_t i = 0; i < PLAN_AXES; i++) {
		if (check_names(p, (enum plan_axis)i, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < p->exclude_count; i++) {
		if (check_exclude(p, &p->excludes[i], err) < 0)
			return -1;
	}
	if (p->emulator.text && check_file(p, NULL, &p->emulator, WANT_PROGRAM, "the program", err) < 0)
		return -1;
	return check_cells(p, err);
}
