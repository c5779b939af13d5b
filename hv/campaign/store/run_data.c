// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/run_data.h"

#include <stdlib.h>
#include <string.h>

#include "hv/campaign/store/compress.h"

int run_data_init(struct run_data *d, struct err *err)
{
	*d = (struct run_data){.build_id = "", .banner = "", .lost_permille = -1};
	d->text = text_new(err);
	return d->text ? 0 : -1;
}

void run_data_free(struct run_data *d)
{
	for (size_t i = 0; i < d->race_count; i++) {
		free(d->races[i].places);
		free(d->races[i].instances);
		free(d->races[i].record);
	}
	free(d->races);
	free(d->complaints);
	free(d->coverage.text);
	free(d->explored.data);
	text_free(d->text);
	*d = (struct run_data){0};
}

int run_data_keep(struct run_data_race *race, json_t *object, struct err *err)
{
	char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;

	json_decref(object);
	if (!text)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	race->record = record_compress(text, strlen(text), &race->record_size, err);
	free(text);
	return race->record ? 0 : -1;
}

bool verdict_weighs_more(const struct store_verdict *a, const struct store_verdict *b)
{
	int order;

	if (a->class != b->class)
		return a->class < b->class;
	if (a->rank != b->rank)
		return a->rank > b->rank;
	order = strcmp(a->rule, b->rule);
	if (!order)
		order = strcmp(a->evidence, b->evidence);
	return order ? order < 0 : strcmp(a->suppressed, b->suppressed) < 0;
}

static int by_identity(const void *left, const void *right)
{
	const struct run_data_race *a = left, *b = right;
	int order = strcmp(a->key.identity, b->key.identity);

	return order ? order : strcmp(a->report, b->report);
}

/* Keep only the first of several races with the same identity and id. */
static void drop_doubles(struct run_data *d)
{
	size_t count = 0;

	for (size_t i = 0; i < d->race_count; i++) {
		if (count && by_identity(&d->races[count - 1], &d->races[i]) == 0) {
			free(d->races[i].instances);
			free(d->races[i].record);
			continue;
		}
		d->races[count++] = d->races[i];
	}
	d->race_count = count;
}

void run_data_sort(struct run_data *d)
{
	if (!d->race_count)
		return;
	qsort(d->races, d->race_count, sizeof(*d->races), by_identity);
	drop_doubles(d);
}
