/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes and reads the document around the list of races in the JSON file. The parameters of the run come before the list; the
 * kernel, the modules and the summary come after it.
 */
#ifndef OUTRIDER_REPORT_JSON_DOCUMENT_H
#define OUTRIDER_REPORT_JSON_DOCUMENT_H

#include <jansson.h>

#include "hv/race/stats.h"
#include "hv/report/modules.h"
#include "hv/report/run_facts.h"

/* Value of the member "schema". */
#define DOCUMENT_SCHEMA "outrider-races/1"

/* Returns the value of the member "names" in the object "kernel": the words that say where the report's names come from. */
const char *document_names_word(bool debug_files);

/* Returns the text before the first race: `{... "races": [`, from malloc(), or NULL if memory runs out. */
char *document_head(const struct run_facts *run);

/*
 * Returns the text after the last race: `], ...}` and a newline, from malloc(). The text includes the run's kernel and, if the
 * run is finished, how it ended. `stats` are the counters of a finished run, or NULL. `locks` comes from locks_json_text();
 * NULL if locks were not followed. `groups` is the list of groups, or NULL if the races were not judged. Returns NULL if memory
 * runs out.
 */
char *document_tail(const struct run_facts *run, const struct report_modules *modules, const struct detect_stats *stats,
		    const char *locks, json_t *groups);

/*
 * Read the facts about the run from the document of the file at `path`. Free them with run_facts_free(). Members may be
 * missing, since older versions wrote fewer. Returns 0, or -1 with EXIT_INPUT and `out` empty if a member does not match
 * docs/report-format.md.
 */
int document_read(const json_t *document, const char *path, struct run_facts *out, struct err *err);

#endif
