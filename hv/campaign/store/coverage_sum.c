// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds the coverage of several runs in bounded memory. */
#include "hv/campaign/store/coverage_sum.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/internal.h"

void coverage_sum_free(struct coverage_sum *p)
{
	for (size_t i = 0; i < p->text_count; i++)
		free(p->texts[i]);
	free(p->texts);
	free(p->sites);
	*p = (struct coverage_sum){.room = p->room};
}

static int by_name(const void *left, const void *right)
{
	const struct coverage_text_site *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* Returns a + b, at most INT64_MAX: the counts of a foreign store can have any value. */
static int64_t sum(int64_t a, int64_t b)
{
	return a > INT64_MAX - b ? INT64_MAX : a + b;
}

char *coverage_sum_text(struct coverage_sum *p, size_t *len, struct err *err)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (p->site_count)
		qsort(p->sites, p->site_count, sizeof(*p->sites), by_name);
	for (size_t i = 0, end; out && i < p->site_count; i = end) {
		struct coverage_text_site all = p->sites[i];

		for (end = i + 1; end < p->site_count && by_name(&all, &p->sites[end]) == 0; end++) {
			all.armed = sum(all.armed, p->sites[end].armed);
			all.hits = sum(all.hits, p->sites[end].hits);
			all.windows = sum(all.windows, p->sites[end].windows);
			all.conflicts = sum(all.conflicts, p->sites[end].conflicts);
			all.talks = sum(all.talks, p->sites[end].talks);
		}
		fprintf(out, "%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", all.name, all.armed, all.hits,
			all.windows, all.conflicts, all.talks);
	}
	if (out && fclose(out) == 0)
		return text;
	err_set(err, EXIT_INTERNAL, "out of memory");
	free(text);
	return NULL;
}

static int put(struct coverage_sum *p, char *text, struct err *err)
{
	char **place = list_grow(&p->texts, &p->text_count, sizeof(*place), err);
	struct coverage_text_site site;

	if (!place) {
		free(text);
		return -1;
	}
	*place = text;
	p->held += strlen(text);
	while (coverage_text_next(&text, &site)) {
		struct coverage_text_site *to = list_grow(&p->sites, &p->site_count, sizeof(*to), err);

		if (!to)
			return -1;
		*to = site;
	}
	return 0;
}

int coverage_sum_add(struct coverage_sum *p, char *text, struct err *err)
{
	size_t len;

	if (put(p, text, err) < 0)
		return -1;
	/*
	 * Sum the texts up only if they have more than `room` bytes, and more than twice the bytes of the text that the last
	 * summing made. Without the second condition, texts whose sum is larger than `room` would be summed up again for each
	 * new text.
	 */
	if (p->held <= p->room || p->held <= 2 * p->summed)
		return 0;
	text = coverage_sum_text(p, &len, err);
	if (!text)
		return -1;
	coverage_sum_free(p);
	p->summed = len;
	return put(p, text, err);
}
