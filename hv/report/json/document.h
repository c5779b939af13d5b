/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands around the list of races in the JSON file. What the run was asked to do stands in front of the list; the kernel,
 * the modules and the summary stand behind it.
 */
#ifndef OUTRIDER_REPORT_JSON_DOCUMENT_H
#define OUTRIDER_REPORT_JSON_DOCUMENT_H

#include "hv/race/stats.h"
#include "hv/report/config.h"
#include "hv/report/modules.h"

/* The guest's kernel. All zero until it is known. */
struct document_kernel {
	/* The kernel's own version line. NULL until it is known. */
	char *banner;
	/* Where the kernel's symbols are from. NULL until that is known. */
	char *symbols;
	/* KASLR slide of the kernel's image. */
	uint64_t slide;
	/* Build id of the kernel, of build_id_len bytes. */
	uint8_t build_id[REPORT_BUILD_ID_MAX];
	/* 0: the build id is not known. */
	size_t build_id_len;
	/* Some races are named by debug files. Else all are named by the guest's own tables. */
	bool debug_files;
};

/* The value of member "schema". */
#define DOCUMENT_SCHEMA "outrider-races/1"

/* The value of member "names" of the kernel's object: where names are from. */
const char *document_names_word(bool debug_files);

/* The text in front of the first race: `{... "races": [`. From malloc(). NULL: memory ran out. */
char *document_head(const struct report_config *config);

/*
 * The text behind the last race: `], ...}` and a newline. `end` NULL: the run goes on, and the document says that it is not
 * complete. `stats` may be NULL. From malloc(). NULL: memory ran out.
 */
char *document_tail(const struct document_kernel *kernel, const struct report_modules *modules,
		    const struct detect_stats *stats, const char *end);

#endif
