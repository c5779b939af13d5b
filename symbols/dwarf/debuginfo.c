/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening and closing, placing, and what every query begins and ends with. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/dwarf/debuginfo.h"
#include "symbols/dwarf/origin.h"
#include "symbols/dwarf/unit.h"

struct di_strings {
	void *root; /* of tsearch(3) */
};

struct debuginfo *debuginfo_open(const char *path, struct err *err)
{
	struct debuginfo *di = calloc(1, sizeof(*di));
	bool found = false;

	if (!di) {
		err_set(err, EXIT_INTERNAL, "%s: out of memory", path);
		return NULL;
	}
	if (di_file_open(&di->file, path, err))
		goto out;
	for (size_t i = 1; i < di->file.count; i++)
		found = found || (di->file.sections[i].bytes && !strcmp(di->file.sections[i].name, ".debug_info"));
	if (!found) {
		err_set(err, EXIT_INPUT, "%s: no debug information (.debug_info) in it; the -dbg package has the full file",
			path);
		goto out;
	}
	return di;
out:
	debuginfo_close(di);
	return NULL;
}

void debuginfo_close(struct debuginfo *di)
{
	if (!di)
		return;
	while (di->units) {
		struct di_unit *u = di->units;

		di->units = u->next;
		di_unit_close(u);
	}
	di_ranges_free(&di->addresses);
	di_strings_free(di->strings);
	free(di->heads);
	free(di->variables);
	di_sweep_free(di->sweep);
	di_file_close(&di->file);
	free(di);
}

size_t debuginfo_build_id(const struct debuginfo *di, const uint8_t **id)
{
	*id = di->file.build_id;
	return di->file.build_id_len;
}

void debuginfo_slide(struct debuginfo *di, uint64_t slide)
{
	di->file.slide = slide;
}

int debuginfo_place(struct debuginfo *di, const char *section, uint64_t addr)
{
	for (size_t i = 1; di->file.relocatable && i < di->file.count; i++) {
		struct di_section *s = &di->file.sections[i];

		if (s->alloc && !strcmp(s->name, section)) {
			s->run = addr;
			s->placed = true;
			return 0;
		}
	}
	return -1;
}

/* Close what was used longest ago, until the cache has its size again. */
static void trim_cache(struct debuginfo *di)
{
	while (di->n_units > DI_CACHE_UNITS) {
		struct di_unit **oldest = &di->units, *u;

		for (struct di_unit **p = &di->units; *p; p = &(*p)->next) {
			if ((*p)->used < (*oldest)->used)
				oldest = p;
		}
		u = *oldest;
		*oldest = u->next;
		di->n_units--;
		di_unit_close(u);
	}
}

void di_begin(struct debuginfo *di, struct di_query *q, struct err *err)
{
	const uint64_t most = 4000000;

	q->local = (struct err){0};
	q->err = err;
	di->err = &q->local;
	/* No honest question reads every entry of a unit more than a few times; each takes a byte at least. */
	di->budget = 10000 + 4 * (uint64_t)di->file.map_size;
	if (di->budget > most)
		di->budget = most;
	di->searches = 40;
	trim_cache(di);
	/* Pages read for a unit that is closed by now are of no more use, and the kernel maps 16 for each that was touched. */
	if (di->opened > DI_CACHE_UNITS) {
		di->opened = 0;
		di_file_release(&di->file);
	}
}

int di_end(struct debuginfo *di, struct di_query *q, int n)
{
	di->err = NULL;
	if (q->local.code == EXIT_OK)
		return n;
	return err_set(q->err, q->local.code, "%s", q->local.text);
}

int di_corrupt(struct di_unit *u, const char *what, Dwarf_Error e)
{
	err_set(u->di->err, EXIT_INPUT, "%s: corrupt DWARF in the unit at 0x%lx, %s%s%.200s", u->di->file.path,
		(unsigned long)u->head->offset, what, e ? ": " : "", e ? dwarf_errmsg(e) : "");
	if (e)
		dwarf_dealloc_error(u->dbg, e);
	return -1;
}

int di_memory(struct debuginfo *di)
{
	return err_set(di->err, EXIT_INTERNAL, "%s: out of memory", di->file.path);
}

bool di_spend(struct debuginfo *di, uint64_t n)
{
	if (n <= di->budget) {
		di->budget -= n;
		return true;
	}
	di->budget = 0;
	err_set(di->err, EXIT_INPUT, "%s: DWARF that leads in circles: corrupt", di->file.path);
	return false;
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

const char *di_string_keep(struct debuginfo *di, const char *s)
{
	char **node, *copy;

	if (!di->strings)
		di->strings = calloc(1, sizeof(*di->strings));
	node = di->strings ? tfind(s, &di->strings->root, compare) : NULL;
	if (node)
		return *node;
	copy = strdup(s);
	node = copy && di->strings ? tsearch(copy, &di->strings->root, compare) : NULL;
	if (!node) {
		free(copy);
		di_memory(di);
		return NULL;
	}
	return *node;
}

void di_strings_free(struct di_strings *s)
{
	if (s)
		tdestroy(s->root, free);
	free(s);
}
