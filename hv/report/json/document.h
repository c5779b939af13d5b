/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands around the list of races in the JSON file. What the run was asked to do stands in front of the list; the kernel,
 * the modules and the summary stand behind it.
 */
#ifndef OUTRIDER_REPORT_JSON_DOCUMENT_H
#define OUTRIDER_REPORT_JSON_DOCUMENT_H

#include <jansson.h>

#include "hv/race/stats.h"
#include "hv/report/modules.h"
#include "hv/report/run_facts.h"

/* The value of member "schema". */
#define DOCUMENT_SCHEMA "outrider-races/1"

/* The value of member "names" of the kernel's object: where names are from. */
const char *document_names_word(bool debug_files);

/* The text in front of the first race: `{... "races": [`. From malloc(). NULL: memory ran out. */
char *document_head(const struct run_facts *run);

/*
 * The text behind the last race: `], ...}` and a newline. It has the run's kernel and, if the run is finished, its end. `stats`
 * are the figures of a finished run and may be NULL. `locks` is locks_json_text(), or NULL where no locks were followed. From
 * malloc(). NULL: memory ran out.
 */
char *document_tail(const struct run_facts *run, const struct report_modules *modules, const struct detect_stats *stats,
		    const char *locks);

/*
 * Read back what the document of the file at `path` says of the run, for run_facts_free(). Members may be missing: older
 * versions wrote less. 0, or -1 with EXIT_INPUT: a member is not as docs/report-format.md says. Then `out` is empty.
 */
int document_read(const json_t *document, const char *path, struct run_facts *out, struct err *err);

#endif
