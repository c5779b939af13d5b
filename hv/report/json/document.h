/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands around the list of races in the JSON file: run and kernel in front of it or behind it, the summary at the end. */
#ifndef OUTRIDER_REPORT_JSON_DOCUMENT_H
#define OUTRIDER_REPORT_JSON_DOCUMENT_H

#include "hv/race/stats.h"
#include "hv/report/config.h"
#include "hv/report/modules.h"

struct document_kernel {
	char *banner, *symbols; /* NULL until known */
	uint64_t slide;
	uint8_t build_id[REPORT_BUILD_ID_MAX];
	size_t build_id_len; /* 0: not known */
	bool debug_files;    /* some races are named by them; else by the guest's own tables alone */
};

#define DOCUMENT_SCHEMA "outrider-races/1"

/* Where names are from: kernel.names in the document. */
const char *document_names_word(bool debug_files);

/* "{... "races":[" and "\n]...}\n" as text from malloc(); NULL when memory ran out. */
char *document_head(const struct report_config *config);

/* `end` NULL: the run goes on, and the document says that it is not complete. */
char *document_tail(const struct document_kernel *kernel, const struct report_modules *modules,
		    const struct detect_stats *stats, const char *end);

#endif
