// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the weights of sites: the expected number of new pairs of racing sites from one sample point at the site. A weight
 * is computed from four shares, each between 0 and 1 (weights.h): of sample points that a CPU passes, of hits whose memory can
 * be watched, of windows with a conflict, and of conflicts that show a new pair.
 */
#include "hv/campaign/learn/weights.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/grow.h"
#include "hv/race/prefer.h"
#include "hv/report/coverage/prefer_json.h"
#include "hv/report/coverage/site.h"

/*
 * Priors, in observations. A site's share is computed as if, in addition to its own counts, there were `prior` observations
 * with the share of its function. A function's counts are mixed with the kernel's in the same way. How often CPUs pass a site,
 * and whether its memory can be watched, hardly changes: few observations are enough, and PASSED_PRIOR and WATCHED_PRIOR are
 * small. Conflicts are rare: a few windows without one say little, and CONFLICT_PRIOR is large.
 */
#define PASSED_PRIOR 1.0
#define WATCHED_PRIOR 0.5
#define CONFLICT_PRIOR 4.0
#define AGAIN_PRIOR 2.0
/*
 * The shares that are expected of any kernel. A kernel's own counts are mixed with these shares. For this mixing, the priors
 * above are multiplied by KERNEL_PRIOR.
 */
#define KERNEL_PRIOR 20.0
#define PASSED_USUAL 0.3
#define WATCHED_USUAL 0.6
#define CONFLICT_USUAL 0.006
#define AGAIN_USUAL 0.15
/* Measured share: 554 of 5293 windows that a run opened at sites that talk, or at sites near these, had a conflict. */
#define TALKING_USUAL 0.1
/*
 * Least and largest weight of a site. An unknown site has the weight 1. The upper limit bounds the share of all sample points
 * that the best sites get, so that the many unknown sites are still sampled.
 */
#define LEAST 0.02
#define MOST 300.0

struct counts {
	double armed, hits, windows, conflicts;
	/*
	 * `again`: conflicts of a site after its first conflict. `other`: pairs of a site after its first pair, with the site
	 * as the sampled side. For a function or the kernel, both are sums over its sites.
	 */
	double again, other;
};

struct site {
	uint32_t offset;
	struct counts counts;
	/*
	 * A hit of the site touched memory that another CPU had touched lately, and at least one of the two accesses was a
	 * write.
	 */
	bool talks;
	/* The site was the sampled side of a pair. */
	bool raced;
};

struct function {
	char *name;
	struct site *sites;
	size_t count;
	struct counts counts;
};

struct weights {
	struct function *functions;
	size_t count;
	struct counts counts;
	json_t *index; /* the indices of functions by their names */
};

/*
 * The four shares of a site, a function or the kernel. `other` is the share of conflicts, after a site's first one, that show a
 * new pair.
 */
struct shares {
	double passed, watched, conflict, other;
};

struct weights *weights_new(void)
{
	struct weights *w = calloc(1, sizeof(*w));

	if (w && (w->index = json_object()) != NULL)
		return w;
	free(w);
	return NULL;
}

void weights_free(struct weights *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->count; i++) {
		free(w->functions[i].name);
		free(w->functions[i].sites);
	}
	free(w->functions);
	json_decref(w->index);
	free(w);
}

/* ---- counts ---- */

static struct function *find(const struct weights *w, const char *name)
{
	const json_t *index = json_object_get(w->index, name);

	return index ? &w->functions[json_integer_value(index)] : NULL;
}

static struct function *find_or_add(struct weights *w, const char *name)
{
	struct function *fn = find(w, name);

	if (fn)
		return fn;
	fn = list_grow(&w->functions, &w->count, sizeof(*fn), NULL);
	if (fn)
		fn->name = strdup(name);
	if (!fn || !fn->name || json_object_set_new_nocheck(w->index, name, json_integer((json_int_t)w->count - 1)) < 0)
		return NULL;
	return fn;
}

static struct site *find_site(struct function *fn, uint32_t offset)
{
	for (size_t i = 0; i < fn->count; i++) {
		if (fn->sites[i].offset == offset)
			return &fn->sites[i];
	}
	return NULL;
}

static void add(struct counts *to, const struct counts *c)
{
	to->armed += c->armed;
	to->hits += c->hits;
	to->windows += c->windows;
	to->conflicts += c->conflicts;
	to->again += c->again;
	to->other += c->other;
}

int weights_add_site(struct weights *w, const struct weights_site *given)
{
	struct counts counts = {.armed = (double)given->armed,
				.hits = (double)given->hits,
				.windows = (double)given->windows,
				.conflicts = (double)given->conflicts};
	char name[SITE_NAME_MAX];
	struct function *fn;
	struct site *site;
	uint32_t offset;

	if (!site_split(given->name, name, &offset))
		return 0;
	fn = find_or_add(w, name);
	if (!fn)
		return -1;
	site = find_site(fn, offset);
	if (!site) {
		site = list_grow(&fn->sites, &fn->count, sizeof(*site), NULL);
		if (!site)
			return -1;
		site->offset = offset;
	}
	site->talks |= given->talks > 0;
	counts.again = counts.conflicts;
	if (counts.conflicts > 0 && site->counts.conflicts == 0)
		counts.again--;
	add(&site->counts, &counts);
	add(&fn->counts, &counts);
	add(&w->counts, &counts);
	return 0;
}

void weights_add_pair(struct weights *w, const char *sampled, const char *other)
{
	const struct counts counts = {.other = 1};
	const char *const names[] = {sampled, other};
	char name[SITE_NAME_MAX];
	uint32_t offset;

	/* The pair does not say which site was sampled. Take the first of the two sites that has conflicts. */
	for (unsigned i = 0; i < 2; i++) {
		struct function *fn = site_split(names[i], name, &offset) ? find(w, name) : NULL;
		struct site *site = fn ? find_site(fn, offset) : NULL;

		if (!site || site->counts.conflicts == 0)
			continue;
		if (site->raced) {
			add(&site->counts, &counts);
			add(&fn->counts, &counts);
			add(&w->counts, &counts);
		}
		site->raced = true;
		break;
	}
}

/* ---- the rule ---- */

/* Returns the share `counted` / `of`, mixed with the share `expected`, which weighs as much as `prior` observations. */
static double mixed(double counted, double of, double expected, double prior)
{
	double share = (counted + prior * expected) / (of + prior);

	return share < 1 ? share : 1;
}

/*
 * Returns the shares of these counts, mixed with `expected`. `scale` is a factor of the priors. A sample point counts as not
 * passed if it was still armed at the end of the run, or was disarmed to make room.
 */
static struct shares shares_of(const struct counts *c, const struct shares *expected, double scale)
{
	return (struct shares){
		.passed = mixed(c->hits, c->armed, expected->passed, PASSED_PRIOR * scale),
		.watched = mixed(c->windows, c->hits, expected->watched, WATCHED_PRIOR * scale),
		.conflict = mixed(c->conflicts, c->windows, expected->conflict, CONFLICT_PRIOR * scale),
		.other = mixed(c->other, c->again, expected->other, AGAIN_PRIOR * scale),
	};
}

/*
 * Returns the expected number of new pairs from one sample point. A point that no CPU passes costs little, so `passed` counts
 * by its square root. The first conflict of a site shows a new pair. Later conflicts mostly show the same pair, so `other` is a
 * factor for a site that has had a conflict. The last factor prefers sites with few windows: less is known about these.
 */
static double expected_yield(const struct shares *s, const struct counts *c)
{
	return sqrt(s->passed) * s->watched * s->conflict * (c->conflicts > 0 ? s->other : 1) * (1 + 1 / sqrt(1 + c->windows));
}

static double clamped(double weight)
{
	return weight < LEAST ? LEAST : weight > MOST ? MOST : weight;
}

/* ---- the file ---- */

/* Returns `name` as a JSON string without the closing quotation mark, from malloc(), or NULL if memory runs out. */
static char *quoted(const char *name)
{
	json_t *string = json_string(name);
	char *text = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

	json_decref(string);
	if (text)
		text[strlen(text) - 1] = '\0';
	return text;
}

/* State of writing the members of a JSON object. */
struct writer {
	FILE *out;
	bool failed, some;
};

static void put_weight(struct writer *to, const char *name, const uint32_t *offset, double weight)
{
	fprintf(to->out, "%s%s", to->some ? ",\n" : "\n", name);
	if (offset)
		fprintf(to->out, "+0x%x", *offset);
	fprintf(to->out, "\": %.3g", weight);
	to->some = true;
}

/*
 * Returns the share of windows with a conflict at the sites that talk, mixed with TALKING_USUAL. `expected` has the kernel's
 * shares, of which `conflict` is not used.
 */
static double conflict_of_talking(const struct weights *w, const struct shares *expected)
{
	struct shares shares = *expected;
	struct counts talking = {0};

	for (size_t f = 0; f < w->count; f++) {
		for (size_t i = 0; i < w->functions[f].count; i++) {
			if (w->functions[f].sites[i].talks)
				add(&talking, &w->functions[f].sites[i].counts);
		}
	}
	shares.conflict = TALKING_USUAL;
	return shares_of(&talking, &shares, KERNEL_PRIOR).conflict;
}

/*
 * Returns the weight of a site relative to `unknown`, the expected_yield() of a site without observations. `talking` is the
 * share of windows with a conflict at sites that talk. A site that talks is known to access shared memory, so for such a site
 * `talking` replaces the share of the site's function if `talking` is larger.
 */
static double site_weight(const struct site *site, const struct shares *of_function, double talking, double unknown)
{
	struct shares expected = *of_function, shares;

	if (site->talks && talking > expected.conflict)
		expected.conflict = talking;
	shares = shares_of(&site->counts, &expected, 1);
	return clamped(expected_yield(&shares, &site->counts) / unknown);
}

/* Write the members of one of the file's two objects: the weights of functions or, if `sites` is true, the weights of sites. */
static void put_weights(struct writer *to, const struct weights *w, bool sites)
{
	const struct shares usual = {PASSED_USUAL, WATCHED_USUAL, CONFLICT_USUAL, AGAIN_USUAL};
	const struct shares kernel = shares_of(&w->counts, &usual, KERNEL_PRIOR);
	const struct counts nothing = {0};
	double unknown = expected_yield(&kernel, &nothing), talking = conflict_of_talking(w, &kernel);

	to->some = false;
	for (size_t f = 0; f < w->count; f++) {
		const struct function *fn = &w->functions[f];
		const struct shares of_function = shares_of(&fn->counts, &kernel, 1);
		char *name = quoted(fn->name);

		to->failed |= !name;
		if (name && !sites)
			put_weight(to, name, NULL, clamped(expected_yield(&of_function, &nothing) / unknown));
		for (size_t i = 0; name && sites && i < fn->count; i++) {
			put_weight(to, name, &fn->sites[i].offset, site_weight(&fn->sites[i], &of_function, talking, unknown));
		}
		free(name);
	}
}

static int put_document(const struct weights *w, const char *build_id, FILE *out)
{
	struct writer to = {.out = out};

	fprintf(out, "{\"schema\": \"" PREFER_SCHEMA "\",\n");
	/*
	 * Write the build id without escapes, because hexadecimal digits need none. If the build id has any other character,
	 * the program that reads the file refuses the file.
	 */
	if (build_id[0])
		fprintf(out, "\"build_id\": \"%.*s\",\n", 2 * PREFER_BUILD_ID_MAX, build_id);
	fputs("\"weight\": 1,\n\"functions\": {", out);
	put_weights(&to, w, false);
	fputs("},\n\"sites\": {", out);
	put_weights(&to, w, true);
	fputs("}}\n", out);
	return to.failed ? -1 : 0;
}

int weights_write(struct weights *w, const char *build_id, const char *path, struct err *err)
{
	char *next = malloc(strlen(path) + sizeof(".next"));
	FILE *out = NULL;
	int rc = -1, wrong = 0;

	if (next) {
		sprintf(next, "%s.next", path);
		/*
		 * Remove the file, and create it anew with O_EXCL: a run could have put a link here that leads to another file.
		 */
		unlink(next);
		out = fopen(next, "wxe");
	}
	if (!out)
		goto out;
	errno = 0;
	if (put_document(w, build_id, out) < 0)
		errno = ENOMEM;
	else if (!ferror(out) && fflush(out) == 0)
		rc = 0;
	wrong = errno;
	if (fclose(out) != 0 && rc == 0)
		rc = -1;
	if (rc == 0)
		rc = rename(next, path);
	if (rc < 0) {
		wrong = errno ? errno : wrong;
		unlink(next);
		errno = wrong;
	}
out:
	if (rc < 0)
		err_set(err, EXIT_INPUT, "cannot write %s: %s", path, strerror(errno));
	free(next);
	return rc;
}
