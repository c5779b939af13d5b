// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares and frees the facts about one run apart from its races, and finds out whether the run has sampled anything. */
#include "hv/report/run_facts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hv/base/grow.h"
int run_complaints_add(struct run_complaints *complaints, const struct complaint *c)
{
	struct complaint *to;

	if (complaints->count == RUN_COMPLAINTS_MAX) {
		complaints->left_out++;
		return 0;
	}
	to = list_grow(&complaints->list, &complaints->count, sizeof(*to), NULL);
	if (!to)
		return -1;
	*to = *c;
	return 0;
}

void run_complaints_free(struct run_complaints *complaints)
{
	free(complaints->list);
	*complaints = (struct run_complaints){0};
}

void run_kernel_free(struct run_kernel *kernel)
{
	free(kernel->banner);
	free(kernel->symbols);
	*kernel = (struct run_kernel){0};
}

/*
 * Free a string of a run that was read from a file. The strings are const, because in a run being recorded they belong to the
 * caller.
 */
static void give_up(const void *p)
{
	free((void *)p);
}

void run_facts_free(struct run_facts *facts)
{
	for (size_t i = 0; i < facts->option_count; i++)
		give_up(facts->options[i]);
	give_up(facts->options);
	give_up(facts->tool_version);
	give_up(facts->host.name);
	give_up(facts->host.release);
	give_up(facts->host.cpu);
	give_up(facts->kernel_file);
	give_up(facts->cmdline);
	give_up(facts->sample);
	give_up(facts->module);
	give_up(facts->end);
	run_kernel_free(&facts->kernel);
	run_complaints_free(&facts->complaints);
	*facts = (struct run_facts){0};
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool run_facts_same(const struct run_facts *a, const struct run_facts *b)
{
	if (a->seed != b->seed || strcmp(a->started, b->started) != 0)
		return false;
	if (a->started[0])
		return same_text(a->host.name, b->host.name);
	return a->finished && b->finished && a->sampled_ns && a->sampled_ns == b->sampled_ns;
}

enum run_doubt run_doubt(const struct run_facts *run)
{
	if (!run->finished)
		return RUN_UNFINISHED;
	if (!run->sampled_ns)
		return RUN_NOT_ARMED;
	if (!run->hits)
		return RUN_NO_HIT;
	return run->windows ? RUN_SOUND : RUN_NO_WINDOW;
}

bool run_is_unsampled(const struct run_facts *run)
{
	enum run_doubt doubt = run_doubt(run);

	return doubt != RUN_SOUND && doubt != RUN_UNFINISHED;
}

void run_doubt_text(const struct run_facts *run, char out[RUN_DOUBT_TEXT_MAX])
{
	out[0] = '\0';
	switch (run_doubt(run)) {
	case RUN_UNFINISHED:
		snprintf(out, RUN_DOUBT_TEXT_MAX,
			 "the run is not finished: it goes on or was killed, and only what was found so far is here");
		break;
	case RUN_NOT_ARMED:
		snprintf(out, RUN_DOUBT_TEXT_MAX,
			 "nothing was sampled: no sample point was armed, so this run says nothing about the kernel");
		break;
	case RUN_NO_HIT:
		snprintf(out, RUN_DOUBT_TEXT_MAX,
			 "nothing was sampled: no armed instruction was executed in %.1f s, so this run says nothing about the "
			 "kernel",
			 (double)run->sampled_ns / 1e9);
		break;
	case RUN_NO_WINDOW:
		snprintf(out, RUN_DOUBT_TEXT_MAX,
			 "nothing was sampled: no window was opened at any of %" PRIu64
			 " hits, so this run says nothing about races",
			 run->hits);
		break;
	default:
		break;
	}
}

const char *run_doubt_word(enum run_doubt doubt)
{
	return doubt == RUN_SOUND ? "" : doubt == RUN_UNFINISHED ? "unfinished" : "unsampled";
}

void run_time_now(char out[RUN_TIME_MAX])
{
	struct timespec now;
	struct tm utc;
	char seconds[sizeof("2026-11-22T07:36:55")];

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(out, RUN_TIME_MAX, "%s.%03uZ", seconds, (unsigned)(now.tv_nsec / 1000000) % 1000);
}

bool run_time_valid(const char *text)
{
	static const char form[] = "0000-00-00T00:00:00.000Z";

	for (size_t i = 0; i < sizeof(form); i++) {
		if (form[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != form[i])
			return false;
	}
	return true;
}
