// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps the end of a run in the file `status` of the run's folder: the outcome of the run, and its findings that are no races.
 */
#include "hv/campaign/runner/ending.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/campaign/runner/spool.h"

#define STATUS "status"

void ending_add(struct ending *e, enum store_outcome kind, const char *file, const char *line)
{
	struct ending_finding *f = &e->findings[e->finding_count];
	struct ending_finding new = {.kind = kind};

	clean_text(line, strlen(line), new.line, sizeof(new.line));
	snprintf(new.file, sizeof(new.file), "%s", file);
	if (ends_is_worse(kind, e->outcome)) {
		e->outcome = kind;
		snprintf(e->detail, sizeof(e->detail), "%s", new.line);
	}
	for (unsigned i = 0; i < e->finding_count; i++) {
		if (e->findings[i].kind == kind && strcmp(e->findings[i].line, new.line) == 0)
			return;
	}
	if (e->finding_count == ENDING_FINDINGS_MAX)
		return;
	*f = new;
	e->finding_count++;
}

bool ending_has(const struct ending *e, enum store_outcome kind)
{
	for (unsigned i = 0; i < e->finding_count; i++) {
		if (e->findings[i].kind == kind)
			return true;
	}
	return false;
}

/* ---- the lines of the file `status` ---- */

int ending_write(const struct ending *e, const char *folder, struct err *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int rc;

	if (!out)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	fprintf(out, "outcome %s\nstarted %" PRId64 "\nended %" PRId64 "\ndetail %s\n", store_outcome_word(e->outcome),
		e->started, e->ended, e->detail);
	for (unsigned i = 0; i < e->finding_count; i++)
		fprintf(out, "finding %s %s %s\n", store_outcome_word(e->findings[i].kind),
			e->findings[i].file[0] ? e->findings[i].file : "-", e->findings[i].line);
	rc = fclose(out) != 0 ? err_set(err, EXIT_INTERNAL, "out of memory") : spool_write(folder, STATUS, text, err);
	free(text);
	return rc;
}

static bool read_finding(struct ending *e, char *value)
{
	char *kind = strsep(&value, " "), *file = value ? strsep(&value, " ") : NULL;
	int outcome = store_outcome_from_word(kind);

	if (!value || outcome < 0 || strchr(file, '/'))
		return false;
	ending_add(e, (enum store_outcome)outcome, strcmp(file, "-") == 0 ? "" : file, value);
	return true;
}

static bool read_line(struct ending *e, char *line, bool *complete)
{
	char *value = line, *word = strsep(&value, " ");
	int outcome;

	if (!value)
		return word[0] == '\0';
	if (strcmp(word, "finding") == 0)
		return read_finding(e, value);
	if (strcmp(word, "started") == 0)
		e->started = strtoll(value, NULL, 10);
	else if (strcmp(word, "ended") == 0)
		e->ended = strtoll(value, NULL, 10);
	else if (strcmp(word, "detail") == 0)
		clean_text(value, strlen(value), e->detail, sizeof(e->detail));
	if (strcmp(word, "outcome") != 0)
		return true;
	outcome = store_outcome_from_word(value);
	if (outcome < 0)
		return false;
	e->outcome = (enum store_outcome)outcome;
	*complete = true;
	return true;
}

bool ending_read(struct ending *e, const char *folder)
{
	char *text = spool_read(folder, STATUS), *rest = text, *line;
	bool complete = false, right = text != NULL;

	*e = (struct ending){0};
	while (right && rest && (line = strsep(&rest, "\n")) != NULL)
		right = read_line(e, line, &complete);
	free(text);
	return right && complete;
}
