// SPDX-License-Identifier: GPL-2.0-or-later
/* Learns from the coverage of all earlier runs: writes a file for --prefer with weights of sites for the next run. */
#include "hv/campaign/learn/learn.h"

#include "hv/campaign/learn/weights.h"

/* State for the store's callbacks take_site() and take_pair(). */
struct learning {
	struct weights *weights;
	uint64_t sites;
};

/*
 * take_site() is the callback for store_sites(), and take_pair() that for store_each_pair(). They return -1 if memory runs out,
 * which ends the reading.
 */
static int take_site(void *ctx, const struct store_site *site)
{
	struct learning *l = ctx;
	const struct weights_site counted = {site->name, site->armed, site->hits, site->windows, site->conflicts, site->talks};

	l->sites++;
	return weights_add_site(l->weights, &counted);
}

static int take_pair(void *ctx, const struct store_pair *pair)
{
	struct learning *l = ctx;

	weights_add_pair(l->weights, pair->site[0], pair->site[1]);
	return 0;
}

int learn_prefer(struct store *s, const char *build_id, const char *path, struct err *err)
{
	struct learning l = {.weights = weights_new()};
	int rc = -1;

	/*
	 * After a failure of the store, err is already set, and this call does not change it: err_set() keeps the first error.
	 */
	if (!l.weights || store_sites(s, build_id, take_site, &l, err) < 0 ||
	    store_each_pair(s, build_id, take_pair, &l, err) < 0)
		err_set(err, EXIT_INTERNAL, "out of memory for what was learnt");
	else if (!l.sites)
		rc = 1;
	else
		rc = weights_write(l.weights, build_id, path, err);
	weights_free(l.weights);
	return rc;
}
