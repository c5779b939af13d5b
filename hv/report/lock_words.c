// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/lock_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const kinds[LOCK_KINDS] = {
	[LOCK_SPIN] = "spin",		[LOCK_RWLOCK] = "rwlock", [LOCK_MUTEX] = "mutex", [LOCK_RTMUTEX] = "rtmutex",
	[LOCK_SEMAPHORE] = "semaphore", [LOCK_RWSEM] = "rwsem",	  [LOCK_SEQ] = "seq",	  [LOCK_BIT] = "bit",
	[LOCK_CALLBACK] = "callback"};

static const char *const suspicions[] = {
	[SUSPICION_UNPROTECTED] = "unprotected", [SUSPICION_INTERRUPT] = "interrupt", [SUSPICION_ATOMICITY] = "atomicity"};

static const char *const patterns[ATOMICITY_PATTERNS] = {
	[ATOMICITY_CHECK_ACT] = "check-then-act",    [ATOMICITY_UPDATE] = "read-then-update",
	[ATOMICITY_READ_BACK] = "write-then-read",   [ATOMICITY_HALF_DONE] = "half-done-update",
	[ATOMICITY_PUBLISH] = "publish-before-init",
};

static const struct {
	const char *word, *phrase;
} told[ATOMICITY_TOLD] = {
	[ATOMICITY_CHECKED_AGAIN] = {"checked-again", "whose second one checks again"},
	[ATOMICITY_VERSION] = {"version", "whose second one checks a version or another datum that changes with it"},
	[ATOMICITY_EXCHANGE] = {"exchange", "whose second one exchanges atomically"},
	[ATOMICITY_COUNTER] = {"counter", "that each update the value they find"},
	[ATOMICITY_REPLACED] = {"replaced", "where the section that reads the value overwrites it, too"},
	[ATOMICITY_SNAPSHOT] = {"snapshot", "that only read"},
	[ATOMICITY_BATCH] = {"batch", "of one loop"},
	[ATOMICITY_STATE] = {"state", "whose state in between others check"},
	[ATOMICITY_CLAIMED] = {"claimed", "on data that the first one claims"},
	[ATOMICITY_OUTER] = {"outer-lock", "under another lock that all hold"},
	[ATOMICITY_OWN_STEPS] = {"own-steps", "of two functions whose caller decides nothing by the first one"},
	[ATOMICITY_OBJECTS] = {"several-objects", "of loops over several objects"},
	[ATOMICITY_ELSEWHERE] = {"elsewhere", "whose second one changes other data than the first one checks"},
	[ATOMICITY_EITHER] = {"either-way", "whose second one may follow or not, whatever the first one finds"},
	[ATOMICITY_UNCHANGED] = {"unchanged", "whose first one checks bits that others do not change"},
	[ATOMICITY_ONCE] = {"seen-once",
			    "that another section came between in one of many cases, without a change that was seen"},
	[ATOMICITY_ORDERED] = {"ordered", "with a wait for a hand-over in between"},
	[ATOMICITY_NEVER] = {"never-between", "that no other section ever came in between"},
	[ATOMICITY_APART] = {"apart", "of functions never seen at the same time"},
};

static const char *const confirms[] = {
	[CONFIRM_NONE] = "none", [CONFIRM_OPEN] = "open", [CONFIRM_SEEN] = "seen", [CONFIRM_GIVEN_UP] = "given-up"};

static const struct {
	const char *word, *phrase;
} reasons[PROTECT_LEFT_OUT] = {
	[PROTECT_UNPUBLISHED] = {"unpublished", "of objects that are not published yet"},
	[PROTECT_PER_CPU] = {"per-cpu", "of per-CPU data"},
	[PROTECT_MARKED] = {"marked", "marked as intended"},
	[PROTECT_RCU] = {"rcu", "under RCU"},
	[PROTECT_APART] = {"apart", "of functions never seen at the same time"},
	[PROTECT_MAYBE] = {"maybe", "with a lock that may have been held"},
	[PROTECT_HANDED] = {"handed-over", "of data that was handed over"},
	[PROTECT_ORDERED] = {"ordered", "ordered by completions, work items, timers or the like"},
};

static int find(const char *const *words, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++) {
		if (words[i] && strcmp(words[i], word) == 0)
			return (int)i;
	}
	return -1;
}

const char *lock_kind_word(uint8_t kind)
{
	return kind < LOCK_KINDS ? kinds[kind] : "unknown";
}

const char *suspicion_kind_word(enum suspicion_kind kind)
{
	return suspicions[kind];
}

const char *atomicity_pattern_word(enum atomicity_pattern pattern)
{
	return patterns[pattern];
}

const char *atomicity_told_word(enum atomicity_told reason)
{
	return told[reason].word;
}

const char *atomicity_told_phrase(enum atomicity_told reason)
{
	return told[reason].phrase;
}

const char *confirm_word(enum confirm_state state)
{
	return confirms[state];
}

const char *left_out_word(enum protect_left_out reason)
{
	return reasons[reason].word;
}

const char *left_out_phrase(enum protect_left_out reason)
{
	return reasons[reason].phrase;
}

int lock_kind_from_word(const char *word)
{
	return find(kinds, COUNT(kinds), word);
}

int suspicion_kind_from_word(const char *word)
{
	return find(suspicions, COUNT(suspicions), word);
}

int atomicity_pattern_from_word(const char *word)
{
	return find(patterns, COUNT(patterns), word);
}

int atomicity_told_from_word(const char *word)
{
	for (int i = 0; i < ATOMICITY_TOLD; i++) {
		if (strcmp(told[i].word, word) == 0)
			return i;
	}
	return -1;
}

const char *atomicity_step_words(enum atomicity_pattern pattern, unsigned step)
{
	static const char *const words[ATOMICITY_PATTERNS][ATOMICITY_STEPS] = {
		[ATOMICITY_CHECK_ACT] = {"checks it", "changes it", "acts on it, without checking again"},
		[ATOMICITY_UPDATE] = {"reads it", "changes it", "stores what follows from the old value"},
		[ATOMICITY_READ_BACK] = {"stores it", "overwrites it", "reads it back"},
		[ATOMICITY_HALF_DONE] = {"stores a value", "uses the value", "replaces the value"},
		[ATOMICITY_PUBLISH] = {"sets the flag or pointer that announces it", "uses it", "sets it"},
	};

	return words[pattern][step];
}

const char *atomicity_step_when(unsigned step)
{
	static const char *const when[ATOMICITY_STEPS] = {"first", "in between", "second"};

	return when[step];
}

int confirm_from_word(const char *word)
{
	return find(confirms, COUNT(confirms), word);
}

void confirm_text(const struct suspicion *s, char out[CONFIRM_TEXT_MAX])
{
	static const char *const verdicts[SECTION_VERDICTS] = {
		[SECTION_VERDICT_NONE] = "the outcome was not compared",
		[SECTION_VERDICT_UNKNOWN] = "copies did not tell the outcome",
		[SECTION_VERDICT_NOT_CONFIRMED] = "not confirmed: the outcome was that of a serial order",
		[SECTION_VERDICT_CONFIRMED] = "confirmed: the outcome is that of no serial order",
	};
	const char *outcome = s->confirm == CONFIRM_OPEN ? "not confirmed before the run ended" : "not confirmed";

	if (s->kind == SUSPICION_ATOMICITY)
		snprintf(out, CONFIRM_TEXT_MAX, "%s; %s", s->held ? "the other section came in between" : "not seen in between",
			 verdicts[s->verdict]);
	else if (s->confirm == CONFIRM_NONE)
		snprintf(out, CONFIRM_TEXT_MAX, "not tried to confirm");
	else if (s->confirm == CONFIRM_SEEN)
		snprintf(out, CONFIRM_TEXT_MAX, "confirmed: it is race %s now", s->id);
	else
		snprintf(out, CONFIRM_TEXT_MAX, "%s; vCPUs reached the sites %" PRIu64 " and %" PRIu64 " times", outcome,
			 s->reached[0], s->reached[1]);
}

void side_locks_text(const struct race_locks *locks, char out[SIDE_LOCKS_TEXT_MAX])
{
	char name[CLEAN_MAX(LOCK_NAME_MAX)];
	size_t len = 0;

	out[0] = '\0';
	if (!locks->set.count && locks->complete)
		snprintf(out, SIDE_LOCKS_TEXT_MAX, "no lock");
	for (unsigned i = 0; i < locks->set.count; i++) {
		const struct held_lock *held = &locks->set.held[i];

		clean_text(locks->name[i], sizeof(locks->name[i]), name, sizeof(name));
		len += (size_t)snprintf(out + len, SIDE_LOCKS_TEXT_MAX - len, "%s%s%s%s", i ? ", " : "",
					held->maybe ? "perhaps " : "", name, held->shared ? " (as a reader)" : "");
	}
}
