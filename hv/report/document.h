/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands around the list of races in the JSON file: run and kernel in front of it or behind it, the summary at the end. */
#ifndef OUTRIDER_REPORT_DOCUMENT_H
#define OUTRIDER_REPORT_DOCUMENT_H

#include "hv/report/report.h"

struct document_kernel {
	char *banner, *symbols; /* NULL until known */
	uint64_t slide;
};

/* "{... "races":[" and "\n]...}\n" as text from malloc(); NULL when memory ran out. */
char *document_head(const struct report_config *config);

/* `end` NULL: the run goes on, and the document says that it is not complete. */
char *document_tail(const struct document_kernel *kernel, const struct detect_stats *stats, const char *end);

#endif
