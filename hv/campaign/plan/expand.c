// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Expands the matrix to a list of runs, each with its command-line options. The parts of a cell are the elements of the
 * campaign file that give its settings: <machine>, and one <os>, <image>, <workload> and <sampling>. A later part overrides an
 * earlier one.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/base/rng.h"
#include "hv/base/siphash.h"
#include "hv/campaign/plan/internal.h"

#define VCPUS_DEFAULT 2
#define MEMORY_DEFAULT (UINT64_C(512) << 20)
#define TRIALS_DEFAULT 100
#define DURATION_DEFAULT UINT64_C(60000000000) /* ns */
#define OPTIONS_MAX 4096

struct expand {
	const struct plan *plan;
	struct plan_text *text;
	struct err *err;
	/* The options of the current cell: `count` of them. */
	const char **options;
	size_t count;
};

/* ---- options ---- */

/*
 * Make the list of runs the owner of `string`, which is then freed with the list, and return `string`. An error stays in
 * e->err.
 */
static const char *own(struct expand *e, char *string)
{
	return plan_copy(e->text, string, e->err);
}

static void add(struct expand *e, const char *word)
{
	if (word && e->count < OPTIONS_MAX)
		e->options[e->count++] = word;
	else
		err_set(e->err, EXIT_INPUT, "%s:1: a run has more than %d options: expected fewer", e->plan->path, OPTIONS_MAX);
}

static void add_option(struct expand *e, const char *option, const char *value)
{
	add(e, option);
	add(e, value);
}

static void add_number(struct expand *e, const char *option, uint64_t value, const char *unit)
{
	add_option(e, option, plan_printf(e->text, e->err, "%" PRIu64 "%s", value, unit));
}

static const char *file_of(struct expand *e, const struct plan_cell *cell, const struct plan_value *value)
{
	return value ? own(e, plan_file(e->plan, cell, value->text)) : NULL;
}

/* Returns the value of --disk. A comma in the file name is doubled, since --disk takes a single comma as a separator. */
static const char *disk_of(struct expand *e, const struct plan_cell *cell, const struct plan_value *disk)
{
	const char *path = file_of(e, cell, disk);
	char *out = path ? malloc(2 * strlen(path) + strlen(disk->more) + 1) : NULL, *to = out;

	for (; out && *path; path++) {
		*to++ = *path;
		if (*path == ',')
			*to++ = ',';
	}
	if (out)
		strcpy(to, disk->more);
	return own(e, out);
}

/* Add the options that may be given several times, from each part of the cell. */
static void add_lists(struct expand *e, const struct plan_cell *cell)
{
	static const struct {
		const char *option;
		size_t member;
	} lists[] = {{"--symbols", PLAN_MEMBER(symbols)},
		     {"--sources", PLAN_MEMBER(sources)},
		     {"--rules", PLAN_MEMBER(rules)},
		     {"--suppress", PLAN_MEMBER(suppress)}};
	const struct plan_part *part;

	for (size_t i = 0; (part = plan_part_of(e->plan, cell, i)) != NULL; i++) {
		for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
			const struct plan_values *values = (const void *)((const char *)part + lists[k].member);

			for (size_t n = 0; n < values->count; n++)
				add_option(e, lists[k].option, file_of(e, cell, &values->list[n]));
		}
	}
}

/*
 * Returns the kernel's command line: the words of all parts, from <machine> to the workload. Returns NULL if no part has words
 * for it.
 */
static const char *cmdline_of(struct expand *e, const struct plan_cell *cell)
{
	const struct plan_part *part;
	const char *line = NULL;

	for (size_t i = 0; (part = plan_part_of(e->plan, cell, i)) != NULL; i++) {
		const char *words;

		if (!part->cmdline.text || !part->cmdline.text[0])
			continue;
		words = own(e, plan_fill_in(cell, part->cmdline.text));
		if (words)
			line = plan_printf(e->text, e->err, "%s%s%s", line ? line : "", line ? " " : "", words);
	}
	return line;
}

/* Add the machine's options that `outrider run` and `outrider explore` have in common. */
static void add_basics(struct expand *e, const struct plan_cell *cell, const struct plan_run *run, const char *cmdline)
{
	const struct plan_value *initrd = plan_value_of(e->plan, cell, PLAN_MEMBER(initrd));

	add_option(e, "--kernel", file_of(e, cell, plan_value_of(e->plan, cell, PLAN_MEMBER(kernel))));
	if (initrd)
		add_option(e, "--initrd", file_of(e, cell, initrd));
	if (cmdline)
		add_option(e, "--append", cmdline);
	add_number(e, "--cpus", run->vcpus, "");
	add_number(e, "--memory", run->memory >> 20, "M");
}

static void add_machine(struct expand *e, const struct plan_cell *cell, const struct plan_run *run)
{
	const struct plan_value *net = plan_value_of(e->plan, cell, PLAN_MEMBER(net));
	const struct plan_part *part;
	bool rng = false;

	add_basics(e, cell, run, cmdline_of(e, cell));
	for (size_t i = 0; (part = plan_part_of(e->plan, cell, i)) != NULL; i++) {
		rng |= part->rng;
		for (size_t k = 0; k < part->disks.count; k++)
			add_option(e, "--disk", disk_of(e, cell, &part->disks.list[k]));
	}
	if (net)
		add_option(e, "--net", net->text);
	if (rng)
		add(e, "--rng");
}

/* ---- pairs ---- */

/* Returns the kernel's command line. Its last word is `pair`, which the guest agent reads. */
static const char *pair_cmdline(struct expand *e, const struct plan_cell *cell)
{
	const char *line = cmdline_of(e, cell);

	return plan_printf(e->text, e->err, "%s%s pair", line ? line : "quiet", line && strstr(line, "-- ") ? "" : " --");
}

static void add_pair(struct expand *e, const struct plan_cell *cell, const struct plan_run *run)
{
	const struct plan_pair *pair = &cell->parts[PLAN_WORKLOAD]->pair;

	add_basics(e, cell, run, pair_cmdline(e, cell));
	if (pair->prepare[0])
		add_option(e, "--prepare", pair->prepare);
	add_option(e, "--a", pair->command[0]);
	add_option(e, "--b", pair->command[1]);
	if (pair->steps)
		add_number(e, "--steps", pair->steps, "");
}

static const struct plan_run_pair *pair_of(struct expand *e, const struct plan_cell *cell)
{
	const struct plan_pair *from = &cell->parts[PLAN_WORKLOAD]->pair;
	struct plan_run_pair *pair = (struct plan_run_pair *)(void *)own(e, (char *)calloc(1, sizeof(struct plan_run_pair)));

	if (!pair)
		return NULL;
	pair->prepare = own(e, clean_copy(from->prepare, strlen(from->prepare)));
	for (size_t i = 0; i < 2; i++)
		pair->command[i] = own(e, clean_copy(from->command[i], strlen(from->command[i])));
	pair->trials = from->trials ? from->trials : TRIALS_DEFAULT;
	return pair;
}

static void add_sampling(struct expand *e, const struct plan_cell *cell)
{
	const struct plan_part *s = cell->parts[PLAN_SAMPLING];

	if (s->functions.text)
		add_option(e, "--sample", s->functions.text);
	if (s->module.text)
		add_option(e, "--module", s->module.text);
	/* The value of this option must be in the same argument. */
	if (s->callees)
		add(e, plan_printf(e->text, e->err, "--sample-with-callees=%" PRIu64, s->callees));
	if (s->percpu)
		add(e, "--per-cpu");
	if (s->rate)
		add_number(e, "--rate", s->rate, "");
	if (s->delay_us)
		add_number(e, "--delay", s->delay_us, "");
	if (s->overhead)
		add_number(e, "--overhead", s->overhead, "");
}

/* ---- machines ---- */

/*
 * Fill in the vCPUs, memory and duration of the run. Each value is that of the cell's last part that sets it. If no part sets
 * it, it is the default.
 */
static void set_numbers(const struct expand *e, const struct plan_cell *cell, struct plan_run *run)
{
	const struct plan_part *part;

	run->duration_ns = DURATION_DEFAULT;
	for (size_t i = 0; (part = plan_part_of(e->plan, cell, i)) != NULL; i++) {
		if (part->vcpus)
			run->vcpus = part->vcpus;
		if (part->bytes)
			run->memory = part->bytes;
		if (part->duration_ns)
			run->duration_ns = part->duration_ns;
	}
	if (!run->vcpus)
		run->vcpus = VCPUS_DEFAULT;
	if (!run->memory && !run->attach)
		run->memory = MEMORY_DEFAULT;
}

static const struct plan_domain *domain_of(struct expand *e, const struct plan_cell *cell)
{
	const struct plan_part *image = cell->parts[PLAN_IMAGE];
	struct plan_domain *d = (struct plan_domain *)(void *)own(e, (char *)calloc(1, sizeof(struct plan_domain)));

	if (!d)
		return NULL;
	d->uri = image->uri.text;
	d->name = image->domain_name.text;
	if (!image->domain_file.text)
		return d;
	d->file = own(e, plan_file(e->plan, NULL, image->domain_file.text));
	d->kernel = file_of(e, cell, plan_value_of(e->plan, cell, PLAN_MEMBER(kernel)));
	d->initrd = file_of(e, cell, plan_value_of(e->plan, cell, PLAN_MEMBER(initrd)));
	d->cmdline = cmdline_of(e, cell);
	return d;
}

/* Returns a run with the settings that all runs of a cell share. */
static struct plan_run run_of_cell(struct expand *e, const struct plan_cell *cell)
{
	const struct plan_part *image = cell->parts[PLAN_IMAGE];
	struct plan_run run = {.kernel = cell->parts[PLAN_KERNEL]->name,
			       .image = image->name,
			       .workload = cell->parts[PLAN_WORKLOAD]->name,
			       .sampling = cell->parts[PLAN_SAMPLING]->name,
			       .attach = image->domain_file.text || image->domain_name.text,
			       .limits = e->plan->limits};

	e->count = 0;
	set_numbers(e, cell, &run);
	if (plan_is_pair(cell->parts[PLAN_WORKLOAD]))
		run.pair = pair_of(e, cell);
	/* Watch neither the console nor the heartbeat: the guest of a pair prints nothing after its boot, and has no vsock. */
	if (run.pair)
		run.limits.silence_ns = run.limits.heartbeat_ns = 0;
	run.agent = run.limits.heartbeat_ns && !run.attach;
	if (run.attach)
		run.domain = domain_of(e, cell);
	if (run.attach && image->uri.text)
		add_option(e, "--connect", image->uri.text);
	if (run.pair) {
		add_pair(e, cell, &run);
	} else {
		if (!run.attach)
			add_machine(e, cell, &run);
		add_sampling(e, cell);
		add_lists(e, cell);
	}
	run.argc = e->count;
	run.argv = (const char *const *)(void *)own(e, (char *)calloc(e->count + 1, sizeof(char *)));
	if (run.argv)
		memcpy((void *)(uintptr_t)run.argv, e->options, e->count * sizeof(char *));
	return run;
}

/* ---- seeds and order ---- */

static uint64_t hash_of(const struct plan *p, unsigned round, const char *what)
{
	const struct siphash_key key = {{round, 0}};
	uint64_t seed = siphash(&key, p->name, strlen(p->name));

	return siphash(&(struct siphash_key){{round, seed}}, what, strlen(what));
}

static void set_seed(struct expand *e, struct plan_run *run, unsigned round, unsigned index)
{
	const struct plan *p = e->plan;

	run->key = plan_printf(e->text, e->err, "%s/%s/%s/%s/%s%" PRIu64, run->kernel, run->image, run->workload, run->sampling,
			       p->drawn ? "#" : "", p->drawn ? index + 1 : p->seed_from + index);
	/* A computed seed has only 32 bits, so that users can type it. */
	run->seed = p->drawn && run->key ? (uint32_t)hash_of(p, round, run->key) : p->seed_from + index;
}

static void shuffle(struct plan_run *list, size_t count, uint64_t seed)
{
	struct rng rng = {seed};

	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)rng_below(&rng, i);
		struct plan_run other = list[i - 1];

		list[i - 1] = list[k];
		list[k] = other;
	}
}

/* ---- expansion ---- */

static void fill(struct expand *e, const struct plan_cell *cells, size_t count, unsigned round, struct plan_runs *runs)
{
	for (size_t i = 0; i < count && e->err->code == EXIT_OK; i++)
		runs->list[i] = run_of_cell(e, &cells[i]);
	shuffle(runs->list, count, hash_of(e->plan, round, "order"));
	/*
	 * The first `count` entries are one run for each cell. Go backwards, so that each of them stays unchanged until the
	 * cell's runs with the other seeds are made from it.
	 */
	for (size_t i = runs->count; i-- > 0 && e->err->code == EXIT_OK;) {
		runs->list[i] = runs->list[i % count];
		set_seed(e, &runs->list[i], round, (unsigned)(i / count));
	}
}

int plan_expand(const struct plan *p, unsigned round, struct plan_runs *runs, struct err *err)
{
	struct expand e = {.plan = p, .err = err};
	size_t count;
	struct plan_cell *cells = plan_cells(p, &count, err);

	*runs = (struct plan_runs){0};
	if (!cells)
		return -1;
	runs->count = count * p->seed_count;
	runs->list = calloc(runs->count, sizeof(*runs->list));
	runs->text = e.text = calloc(1, sizeof(*runs->text));
	e.options = calloc(OPTIONS_MAX, sizeof(*e.options));
	if (!runs->list || !runs->text || !e.options)
		err_set(err, EXIT_INTERNAL, "out of memory");
	else
		fill(&e, cells, count, round, runs);
	free(e.options);
	free(cells);
	if (err->code == EXIT_OK)
		return 0;
	plan_runs_free(runs);
	return -1;
}

void plan_runs_free(struct plan_runs *runs)
{
	if (runs->text)
		plan_text_free(runs->text);
	free(runs->text);
	free(runs->list);
	*runs = (struct plan_runs){0};
}
