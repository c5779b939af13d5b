// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/campaign/store/run_data.h"

#include <stdlib.h>
#include <string.h>

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
	text_free(d->text);
	*d = (struct run_data){0};
}

bool verdict_weighs_more(const struct run_data_verdict *a, const struct run_data_verdict *b)
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
