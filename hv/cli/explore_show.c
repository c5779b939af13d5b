// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the result of `outrider explore` as text. */
#include "hv/cli/explore_show.h"

#include <inttypes.h>
#include <limits.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/report/datum.h"
#include "hv/report/words.h"

#define NS_PER_S 1e9
/* If no candidate was tried, the output lists at most this many candidates. */
#define LISTED 40

double explore_trials_per_minute(const struct explore_result *r)
{
	return r->trials_ns ? 60.0 * r->trial_count / ((double)r->trials_ns / NS_PER_S) : 0;
}

void explore_site(const struct explore_side *side, char out[EXPLORE_SITE_MAX])
{
	const struct guest_symbol *s = side->access.caller ? &side->caller : &side->symbol;
	uint64_t pc = explore_wants(&side->access);

	if (!s->name[0])
		snprintf(out, EXPLORE_SITE_MAX, "0x%" PRIx64, pc);
	else if (s->module[0])
		snprintf(out, EXPLORE_SITE_MAX, "%s+0x%" PRIx64 " [%s]", s->name, pc - s->addr, s->module);
	else
		snprintf(out, EXPLORE_SITE_MAX, "%s+0x%" PRIx64, s->name, pc - s->addr);
	clean_field(out, EXPLORE_SITE_MAX);
}

static void show_recordings(const struct explore_config *config, const struct explore_result *r)
{
	static const char *const ends[] = {
		[EXPLORE_TO_ITS_END] = "to its end",
		[EXPLORE_STEPS] = "up to --steps",
		[EXPLORE_FULL] = "until the memory for accesses was full",
		[EXPLORE_TIME] = "up to --record-time",
		[EXPLORE_LOST] = "until its machine was lost",
	};

	if (r->banner[0])
		printf("guest       %.*s\n", (int)strcspn(r->banner, "("), r->banner);
	for (unsigned side = 0; side < 2; side++) {
		const struct explore_recording *e = &r->recording[side];

		printf("program %c   %s\n", EXPLORE_SIDE_NAMES[side], config->command[side]);
		printf("            recorded %s: %" PRIu64 " instructions of the kernel in %" PRIu64 " system calls, %" PRIu64
		       " accesses, %.1f s\n",
		       ends[e->end] ? ends[e->end] : "not", e->steps, e->entries, e->accesses, (double)e->ns / NS_PER_S);
		for (unsigned i = 0; i < EXPLORE_ALSO_MAX && config->also[side][i]; i++)
			printf("            other calls of %s on its CPU: %" PRIu64 "\n", config->also[side][i], e->calls[i]);
	}
	printf("candidates  %u\n", r->candidate_count);
}

static const char *locked_phrase(const struct explore_candidate *c)
{
	if (explore_both_locked(c))
		return "  both instructions are locked";
	return c->locked ? "  one instruction is locked" : "";
}

static void show_candidate(const struct explore_result *r, unsigned index)
{
	const struct explore_candidate *c = &r->candidates[index];
	char site[EXPLORE_SITE_MAX], datum[DATUM_TEXT_MAX];

	printf("candidate %u", index + 1);
	if (datum_memory_path(&c->memory, datum))
		printf("  %s", datum);
	printf("%s%s%s%s%s\n", c->common_lock ? "  common lock" : "", locked_phrase(c),
	       c->serves_all ? "  serves the whole kernel" : "", c->fresh ? "  each program's own object" : "",
	       c->baseline == 2 ? "  code of the baseline program" : "");
	if (c->after >= 0)
		printf("  seen only while %c is held after its access of candidate %d\n", EXPLORE_SIDE_NAMES[c->held],
		       c->after + 1);
	for (unsigned side = 0; side < 2; side++) {
		const struct explore_access *a = &c->side[side].access;

		explore_site(&c->side[side], site);
		printf("  %c  %s, %s, %" PRIu32 " bytes at 0x%016" PRIx64 ", instruction executed %" PRIu64 " time%s\n",
		       EXPLORE_SIDE_NAMES[side], site, access_word(a->rw), a->size, a->gva, c->side[side].times,
		       c->side[side].times == 1 ? "" : "s");
	}
}

static const char *schedule_phrase(enum explore_schedule schedule)
{
	static const char *const phrases[EXPLORE_SCHEDULES] = {
		[EXPLORE_SERIAL_AB] = "A runs to its end, then B",
		[EXPLORE_SERIAL_BA] = "B runs to its end, then A",
		[EXPLORE_FLIP_A] = "A runs up to its access, B makes its access, A makes its access, both go on",
		[EXPLORE_FLIP_B] = "B runs up to its access, A makes its access, B makes its access, both go on",
		[EXPLORE_PAUSE_A] = "A makes its access, B runs to its end, A goes on",
		[EXPLORE_PAUSE_B] = "B makes its access, A runs to its end, B goes on",
		[EXPLORE_WALK] = "random",
	};

	return phrases[schedule];
}

/*
 * Write a name for the memory at e->gva. The name comes from the first candidate that has a name for its memory and whose
 * access by program A covers e->gva. If there is none, write the address.
 */
static void end_name(const struct explore_result *r, const struct explore_end *e, char out[DATUM_TEXT_MAX])
{
	for (unsigned i = 0; i < r->candidate_count; i++)
		if (e->gva - r->candidates[i].side[0].access.gva < r->candidates[i].side[0].access.size &&
		    datum_memory_path(&r->candidates[i].memory, out))
			return;
	snprintf(out, DATUM_TEXT_MAX, "memory at 0x%016" PRIx64, e->gva);
}

static void value_phrase(uint64_t value, char out[32])
{
	if (value == EXPLORE_SOME_ADDRESS)
		snprintf(out, 32, "an address");
	else
		snprintf(out, 32, value < 10 ? "%" PRIu64 : "0x%" PRIx64, value);
}

static void state_phrase(const struct explore_result *r, const struct explore_end *e, char out[512])
{
	char name[DATUM_TEXT_MAX], value[3][32];

	end_name(r, e, name);
	value_phrase(e->value, value[0]);
	for (unsigned i = 0; i < 2; i++)
		value_phrase(e->serial[i], value[1 + i]);
	if (e->serial[0] == e->serial[1])
		snprintf(out, 512, "%.200s (%u bytes) ends as %s, but as %s after both serial orders", name, e->size, value[0],
			 value[1]);
	else
		snprintf(out, 512, "%.200s (%u bytes) ends as %s, but as %s or %s after the serial orders", name, e->size,
			 value[0], value[1], value[2]);
}

void explore_call_name(int number, char out[EXPLORE_CALL_MAX])
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_X86_64, number);

	if (name)
		snprintf(out, EXPLORE_CALL_MAX, "%s", name);
	else
		snprintf(out, EXPLORE_CALL_MAX, "%d", number);
	free(name);
}

static void result_phrase(int64_t value, char out[32])
{
	const char *name = value < 0 && value >= -INT_MAX ? strerrorname_np((int)-value) : NULL;

	if (value == EXPLORE_NO_CALL)
		snprintf(out, 32, "no such call");
	else if (name)
		snprintf(out, 32, "-%s", name);
	else
		snprintf(out, 32, "%" PRId64, value);
}

/* Print the calls of a trial that return what no serial order gives. */
static void show_returns(const struct explore_trial *t)
{
	char name[EXPLORE_CALL_MAX], value[3][32];

	for (unsigned side = 0; side < 2; side++) {
		const struct explore_return *e = &t->returns[side];

		if (!e->call)
			continue;
		explore_call_name(e->number, name);
		result_phrase(e->value, value[0]);
		for (unsigned i = 0; i < 2; i++)
			result_phrase(e->serial[i], value[1 + i]);
		printf("  %c  call %u, %s: %s; %s if A runs first, %s if B runs first\n", EXPLORE_SIDE_NAMES[side], e->call,
		       name, value[0], value[1], value[2]);
	}
}

static void leak_phrase(const struct explore_object *l, char out[512])
{
	char holds[EXPLORE_SITE_MAX] = "", serial[64] = "none";

	if (l->holds.name[0])
		snprintf(holds, sizeof(holds), ", which holds the address of %s", l->holds.name);
	if (l->serial)
		snprintf(serial, sizeof(serial), "%" PRIu32 " at most", l->serial);
	snprintf(out, 512,
		 "a memory leak: nothing points any more to %" PRIu32 " object%s (of %" PRIu32
		 " bytes, cache %s; after the serial orders: %s); one is at 0x%016" PRIx64 "%s",
		 l->count, l->count == 1 ? "" : "s", l->size, l->cache[0] ? l->cache : "(unknown)", serial, l->gva, holds);
}

static void freed_twice_phrase(const struct explore_object *l, char out[512])
{
	snprintf(out, 512,
		 "an object of %" PRIu32 " bytes of the cache %s is freed twice: at 0x%016" PRIx64
		 ", which is on the kernel's lists of free objects twice",
		 l->size, l->cache[0] ? l->cache : "(unknown)", l->gva);
}

static void outcome_phrase(const struct explore_result *r, const struct explore_trial *t, char out[512])
{
	const char *how = t->machine == REPLAY_MACHINE_PANIC	      ? "the kernel panicked"
			  : t->machine == REPLAY_MACHINE_TRIPLE_FAULT ? "the machine died of a triple fault"
								      : "the kernel complained";

	switch (t->outcome) {
	case EXPLORE_COMPLAINT:
		snprintf(out, 512, "%s%s%s", how, t->text[0] ? ": " : "", t->text);
		return;
	case EXPLORE_HANG:
		snprintf(out, 512, "a hang: %s",
			 t->status[0] >= 0   ? "B does not end"
			 : t->status[1] >= 0 ? "A does not end"
					     : "neither program ends");
		return;
	case EXPLORE_KILLED:
		snprintf(out, 512, "the kernel kills a program that no serial order kills: exit statuses %d of A and %d of B",
			 t->status[0], t->status[1]);
		return;
	case EXPLORE_STATUS:
		snprintf(out, 512, "exit statuses %d of A and %d of B, which no serial order gives", t->status[0],
			 t->status[1]);
		return;
	case EXPLORE_LEAK:
		leak_phrase(&t->object, out);
		return;
	case EXPLORE_FREED_TWICE:
		freed_twice_phrase(&t->object, out);
		return;
	case EXPLORE_STATE:
		state_phrase(r, &t->end, out);
		return;
	case EXPLORE_RETURNS:
		snprintf(out, 512, "results of system calls that no serial order gives");
		return;
	case EXPLORE_FAILED:
		snprintf(out, 512, "the trial could not be run: %s", t->text);
		return;
	case EXPLORE_SAME:
		snprintf(out, 512, "as in a serial order");
		return;
	}
}

void explore_scenario(const struct explore_config *config, const struct explore_trial *t, char out[EXPLORE_PATH_MAX])
{
	snprintf(out, EXPLORE_PATH_MAX, "%s/%s", config->folder, t->scenario);
}

static void show_scenario(const struct explore_config *config, const struct explore_trial *t)
{
	char path[EXPLORE_PATH_MAX];

	if (!t->scenario[0])
		return;
	explore_scenario(config, t, path);
	printf("  scenario  %s\n", path);
	printf("            %s\n", t->again ? "`outrider replay` runs it: its first order ends in trouble again"
					    : "`outrider replay` runs it, but its first order ends without trouble");
}

static void show_walk(const struct explore_walk *w)
{
	char site[EXPLORE_SITE_MAX];

	printf("  %c runs at first; a change point lets the other program run:\n", EXPLORE_SIDE_NAMES[w->first]);
	for (unsigned i = 0; i < w->count; i++) {
		const struct explore_point *p = &w->point[i];

		explore_site(&p->at, site);
		printf("  before %c  %s, %s, %" PRIu32 " bytes at 0x%016" PRIx64 "\n", EXPLORE_SIDE_NAMES[p->side], site,
		       access_word(p->at.access.rw), p->at.access.size, p->at.access.gva);
	}
}

static void show_finding(const struct explore_config *config, const struct explore_result *r, const struct explore_trial *t)
{
	char phrase[512];

	outcome_phrase(r, t, phrase);
	printf("FOUND in trial %u  %s\n", t->number, phrase);
	printf("  schedule  %s%s\n", schedule_phrase(t->schedule),
	       t->forced == EXPLORE_FORCED ? "" : " (only a part of the schedule was forced)");
	if (t->split)
		printf("            %c's access is a read-modify-write without LOCK prefix: %c reads, %c makes its access, %c "
		       "writes\n",
		       EXPLORE_SIDE_NAMES[explore_first(t->schedule)], EXPLORE_SIDE_NAMES[explore_first(t->schedule)],
		       EXPLORE_SIDE_NAMES[!explore_first(t->schedule)], EXPLORE_SIDE_NAMES[explore_first(t->schedule)]);
	if (t->outcome == EXPLORE_RETURNS)
		show_returns(t);
	if (t->schedule == EXPLORE_WALK) {
		show_walk(&t->walk);
		return;
	}
	show_scenario(config, t);
	show_candidate(r, t->candidate);
}

/*
 * Returns whether the two trials have the same outcome, and agree in what this outcome is about: the exit statuses, the place
 * of the value that differs from the serial orders, the cache and size of the object that was lost or freed twice, or the calls
 * that return something else.
 */
static bool is_alike(const struct explore_trial *a, const struct explore_trial *b)
{
	if (a->outcome != b->outcome)
		return false;
	if (a->outcome == EXPLORE_STATUS)
		return memcmp(a->status, b->status, sizeof(a->status)) == 0;
	if (a->outcome == EXPLORE_STATE)
		return a->end.gva == b->end.gva && a->end.size == b->end.size;
	if (explore_harms_memory(a))
		return strcmp(a->object.cache, b->object.cache) == 0 && a->object.size == b->object.size;
	return memcmp(a->returns, b->returns, sizeof(a->returns)) == 0;
}

/* Returns whether the trial is to be shown: only the first one of those that are alike. */
static bool is_shown(const struct explore_result *r, unsigned index)
{
	const struct explore_trial *t = &r->trials[index];

	if (t->outcome != EXPLORE_STATE && t->outcome != EXPLORE_RETURNS && t->outcome != EXPLORE_STATUS &&
	    !explore_harms_memory(t))
		return explore_found(t);
	for (unsigned i = 0; i < index; i++)
		if (is_alike(&r->trials[i], t))
			return false;
	return true;
}

static bool is_raced(const struct explore_trial *t)
{
	return explore_flips(t->schedule) && t->forced == EXPLORE_FORCED;
}

/* Returns the number of candidates for which a trial held A before its access and B before its access at the same time. */
static unsigned count_raced(const struct explore_result *r)
{
	bool *counted = calloc(r->candidate_count + 1u, sizeof(*counted));
	unsigned count = 0;

	for (unsigned i = 0; counted && i < r->trial_count; i++) {
		const struct explore_trial *t = &r->trials[i];

		if (!is_raced(t) || counted[t->candidate])
			continue;
		counted[t->candidate] = true;
		count++;
	}
	free(counted);
	return count;
}

static void show_between(const struct explore_result *r)
{
	const struct explore_trial *t = &r->between;
	unsigned first = explore_first(t->schedule);
	char phrase[512];

	outcome_phrase(r, t, phrase);
	printf("FOUND in a run of whole system calls, beside trial %u  %s\n", t->number, phrase);
	printf("  schedule  %c makes %u system calls, %c runs to its end, %c goes on\n", EXPLORE_SIDE_NAMES[first],
	       t->calls[first], EXPLORE_SIDE_NAMES[!first], EXPLORE_SIDE_NAMES[first]);
}

static void show_trials(const struct explore_config *config, const struct explore_result *r)
{
	unsigned outcomes[EXPLORE_FAILED + 1] = {0}, forced[EXPLORE_BLOCKED + 1] = {0};

	for (unsigned i = 0; i < r->trial_count; i++) {
		outcomes[r->trials[i].outcome]++;
		forced[r->trials[i].forced]++;
	}
	for (unsigned i = 0; i < 2; i++)
		printf("serial      %s: exit statuses %d and %d\n", schedule_phrase(r->serial[i].schedule),
		       r->serial[i].status[0], r->serial[i].status[1]);
	printf("trials      %u of at most %u, %.1f a minute: %u forced, %u did not reach the first access, %u blocked\n",
	       r->trial_count, config->trials + config->walks, explore_trials_per_minute(r), forced[EXPLORE_FORCED],
	       forced[EXPLORE_NOT_REACHED], forced[EXPLORE_BLOCKED]);
	if (config->walks)
		printf("walks       at most %u random schedules with %u of %zu places as change points: each hits a given "
		       "fault of depth %u "
		       "with a probability of at least %.2g\n",
		       config->walks, config->depth - 1, r->places, config->depth, r->probability);
	if (r->skipped)
		printf("left out    %u trials that --skip lists\n", r->skipped);
	printf("raced       %u candidates: both programs stood before their accesses at once\n", count_raced(r));
	printf("outcomes    %u complaints, %u hangs, %u killed, %u other exit statuses, %u leaks, %u freed twice, "
	       "%u mixed values, %u other results, %u as in a serial order, %u could not be run\n",
	       outcomes[EXPLORE_COMPLAINT], outcomes[EXPLORE_HANG], outcomes[EXPLORE_KILLED], outcomes[EXPLORE_STATUS],
	       outcomes[EXPLORE_LEAK], outcomes[EXPLORE_FREED_TWICE], outcomes[EXPLORE_STATE], outcomes[EXPLORE_RETURNS],
	       outcomes[EXPLORE_SAME], outcomes[EXPLORE_FAILED]);
	for (unsigned i = 0; i < r->trial_count; i++)
		if (is_shown(r, i))
			show_finding(config, r, &r->trials[i]);
	if (r->has_between)
		show_between(r);
	if (!explore_result_is_found(r))
		printf("nothing found\n");
}

void explore_show(const struct explore_config *config, const struct explore_result *r)
{
	show_recordings(config, r);
	if (config->trials) {
		show_trials(config, r);
		return;
	}
	for (unsigned i = 0; i < r->candidate_count && i < LISTED; i++)
		show_candidate(r, i);
	if (r->candidate_count > LISTED)
		printf("and %u more\n", r->candidate_count - LISTED);
}
