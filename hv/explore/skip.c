// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the list of trials to leave out, and finds trials in it (skip.h). */
#include "hv/explore/skip.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/explore/words.h"

#define WORDS 4u /* in a line */
/* Bytes of the longest line, with its NUL. */
#define LINE_MAX_BYTES (EXPLORE_BUILD_MAX + 2 * SITE_NAME_MAX + 16)

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_trial(const char *line)
{
	unsigned words = 1;

	for (const char *c = line; *c; c++)
		words += *c == ' ';
	return words == WORDS && strlen(line) < LINE_MAX_BYTES;
}

static int add(struct explore_skip *s, const char *line, struct err *err)
{
	char *copy = strdup(line), **to = copy ? list_grow(&s->lines, &s->count, sizeof(*to), NULL) : NULL;

	if (!to) {
		free(copy);
		return err_set(err, EXIT_INTERNAL, "out of memory");
	}
	*to = copy;
	return 0;
}

int explore_skip_read(struct explore_skip *s, const char *path, struct err *err)
{
	FILE *in = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int rc = 0;

	*s = (struct explore_skip){0};
	if (!in)
		return err_set(err, EXIT_INPUT, "%s: %s", path, strerror(errno));
	while (rc == 0 && (len = getline(&line, &size, in)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		rc = is_trial(line) ? add(s, line, err)
				    : err_set(err, EXIT_INPUT, "%s: line %zu is no trial: expected BUILD SITE SITE SCHEDULE",
					      path, s->count + 1);
	}
	if (rc == 0 && ferror(in))
		rc = err_set(err, EXIT_INPUT, "%s: %s", path, strerror(errno));
	free(line);
	fclose(in);
	if (s->count)
		qsort(s->lines, s->count, sizeof(*s->lines), by_text);
	return rc;
}

void explore_skip_free(struct explore_skip *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->lines[i]);
	free(s->lines);
	*s = (struct explore_skip){0};
}

bool explore_skips(const struct explore_skip *s, const char *build_id, const char site[2][SITE_NAME_MAX],
		   enum explore_schedule schedule)
{
	char line[LINE_MAX_BYTES];
	const char *key = line;

	if (!build_id[0] || !s->count)
		return false;
	snprintf(line, sizeof(line), "%s %s %s %s", build_id, site[0], site[1], explore_schedule_word(schedule));
	return bsearch(&key, s->lines, s->count, sizeof(*s->lines), by_text) != NULL;
}

void explore_site_name(const struct explore_side *side, uint64_t slide, char out[SITE_NAME_MAX])
{
	const struct race_side from = {.kind = RACE_SIDE_CPU,
				       .pc = explore_wants(&side->access),
				       .symbol = side->access.caller ? side->caller : side->symbol};

	site_name(&from, slide, out);
}
