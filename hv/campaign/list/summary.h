/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A round summary: what the selected rounds of a campaign (one or several) found, compared with earlier rounds. It has all data
 * that any format shows: fill.h fills it from a store, and each format has a file that writes it (list.h). The base round is
 * the round with which the selected rounds are compared: usually the round before them. A race is gone if the base round saw
 * the race and no selected round did.
 *
 * A struct summary owns its strings. All are printable: clean_text() cleaned the text of guests, and clean_line() the text of
 * users. No locks: only one thread at a time may use a struct summary.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_SUMMARY_H
#define OUTRIDER_CAMPAIGN_LIST_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/campaign/store/store.h"

struct race;

/*
 * The class of a race's verdict by the pruner, the most serious class first. A race with several verdicts has the most serious
 * one.
 */
enum summary_class {
	SUMMARY_HARMFUL,
	SUMMARY_UNCLEAR,
	SUMMARY_UNJUDGED, /* The run ended before the races were judged. */
	SUMMARY_SYNCHRONISATION,
	SUMMARY_BENIGN,
	SUMMARY_CLASSES,
};

struct summary_verdict {
	enum summary_class class;
	int rank;	      /* 0 to 99; within a class, a race of higher rank comes first */
	const char *rule;     /* "": no rule decided */
	const char *evidence; /* one sentence, or "" */
};

/* A kernel build in which at least one round saw the race. */
struct summary_build {
	const char *release;	  /* "6.1.0-56-cloud-amd64", or "" */
	const char *build_id;	  /* hexadecimal, or "" */
	const char *report;	  /* the race's id in reports of this build: 12 hexadecimal digits */
	const char *first, *last; /* start times of the first and the last round that saw the race: "2026-11-22T01:00:00Z" */
	bool now;		  /* A selected round saw the race in this build. */
};

struct summary_race {
	int64_t stored;	       /* the race's id in the store, for further queries */
	const char *id;	       /* 12 hexadecimal digits, the same in every build, store and round */
	const char *side[2];   /* "write in ext4_foo [ext4]" */
	const char *datum;     /* "inode->i_size", or "" */
	const char *subsystem; /* "EXT4 FILE SYSTEM", or a folder of the source, or a module; never "" */
	bool atomicity;	       /* The race is an atomicity suspicion (docs/atomicity.md). */
	enum store_change change;
	struct summary_verdict verdict; /* verdict in the selected rounds, or the last verdict if the race is gone */
	struct summary_verdict before;	/* verdict in the last round before the selected ones that saw the race */
	bool judged_before;		/* `before` is set. */
	enum store_triage triage;
	const char *note, *who, *when; /* note of the last triage, its author, and its time; "": no triage */
	const char *mended;	       /* kernel versions that have the fix of the race, as the user said, or "" */
	bool unmended;		       /* The race is marked as fixed, and only kernels without the fix had it. */
	const char *suppressed;	       /* the reason of the suppression, or "" */
	uint64_t instances;	       /* observations in the selected rounds */
	unsigned runs;		       /* number of runs of the selected rounds that saw the race */
	unsigned rounds;	       /* number of rounds that saw the race, from the first round to the last selected one */
	unsigned first_round;	       /* number of the first round that saw the race */
	/*
	 * Set for a race that is gone. `windows_before`: number of windows at its sites in all other rounds of the store.
	 * `windows_since`: number of windows at its sites in the selected rounds. `missed`: the probability that the windows of
	 * the selected rounds would all miss the race if the kernel still had it (learn_missed()); -1 if the probability is not
	 * known.
	 */
	uint64_t windows_before, windows_since;
	double missed;
	struct summary_build *builds;
	size_t build_count;
};

/*
 * If `missed` is at most this probability, the selected rounds looked for the race: then its absence is evidence that the
 * kernel no longer has it. If `missed` is larger, the absence proves nothing. 5 % is the usual level of such a test.
 */
#define SUMMARY_MISSED_MAX 0.05

/* How a run ended, apart from its races: with a finding, or with the reason why it failed (ends.h). */
struct summary_finding {
	const char *kind;    /* the word of an enum store_outcome: a finding or a failure, as ends.h says */
	const char *run;     /* the run's key */
	const char *line;    /* the first line of output that shows the finding, or "" */
	const char *console; /* the file with the details: the guest's console, or a scenario; or "" */
	const char *folder;  /* the folder of the run's files, or ""; its file "command" has the command */
	const char *command; /* the command that repeats the run, or "" */
	bool is_new;	     /* No earlier round of this campaign has a finding of this kind with this line. */
};

/* The figures of one round. */
struct summary_round {
	unsigned number;
	bool now;		     /* The round is selected. --since can select several rounds. */
	const char *started, *ended; /* "2026-11-22T01:00:00Z"; `ended` is "" if the round has not ended. */
	unsigned runs, done, broken; /* number of runs that were planned, that ended, and that ended other than ok (ends.h) */
	/* Number of attempts that were cut off (store_is_attempt()). `runs` and `done` do not count these attempts. */
	unsigned cut_off;
	unsigned races; /* number of races that the round saw, in total and by class */
	unsigned of_class[SUMMARY_CLASSES];

	unsigned fresh; /* number of these races that no earlier round saw */
	uint64_t hits, windows, conflicts, sampled_ns;
	uint64_t explored, trials, untried; /* as in struct store_round */
	/*
	 * Share of CPU time that breakpoint handling took, in thousandths: the mean of all runs, and the worst run. -1:
	 * unknown.
	 */
	int lost_permille, lost_most;
};

/* The campaign's coverage from its first round up to the end of one run. */
struct summary_point {
	unsigned round;	     /* number of the run's round */
	bool now;	     /* The round is selected. */
	uint64_t sampled_ns; /* nanoseconds of sampling up to the end of this run */
	uint64_t sites;	     /* sites that were hit at least once */
	uint64_t pairs;	     /* pairs of sites that raced */
	/*
	 * Chao1 estimate: a lower bound of the number of pairs that such runs can show, and its 95 % confidence interval. 0:
	 * too little data.
	 */
	double estimate, low, high;
};

/* A race that needs attention and is likely a bug, with the details of this race that the HTML page shows at the page's top. */
struct summary_bug {
	const struct summary_race *race; /* in `races` of the summary */
	struct race *record;		 /* the race in the latest report; NULL: the store has no record */
	const char *run;		 /* key of the run that saw the race last, among the runs of the selected rounds */
	const char *release;		 /* release of the run's kernel, or "" */
	const char *folder;		 /* folder of the run's files, or "" */
	bool explored;			 /* the run was an `outrider explore`, which leaves no report but its text output */
	const char *again;		 /* shell command that aims at the race, or "" */
};

struct summary {
	const char *campaign, *store; /* the campaign's name, and the path or URL of the store */
	const char *version;	      /* version of Outrider that made the summary */
	/* Numbers of the first and the last selected round, and of the base round (0: there is none). */
	unsigned from, to, base;
	bool pair; /* Two rounds are compared only with each other: a race that `base` lacks is new. */
	struct summary_race *races;
	size_t race_count;
	struct summary_finding *findings;
	size_t finding_count;
	struct summary_bug *bugs; /* likely bugs, the most serious first; none unless the query asks for them */
	size_t bug_count;
	size_t more_bugs; /* number of further likely bugs, which `bugs` has no room for (BUGS_MAX in fill_bugs.c) */
	struct summary_round *rounds; /* all rounds of the campaign up to the last selected one, oldest first */
	size_t round_count;
	struct summary_point *points; /* all runs of `rounds`, in the order of their starts */
	size_t point_count;
	struct store_ends ends;	 /* how the runs of the selected rounds ended */
	bool unfinished;	 /* A selected round has not ended, or lacks shards. */
	uint64_t missing_shards; /* of all selected rounds */
	uint64_t pool;		 /* sites of all kernels that can be sampled; 0 if unknown */
	struct summary_texts {
		char **list;
		size_t count;
	} texts; /* all strings of the summary; see summary_text() */
};

/* Free everything in `m`, and zero it. */
void summary_free(struct summary *m);

/*
 * Copy `text` into `m`. summary_text() is for text of guests and files, which clean_text() makes printable. summary_line() is
 * for text of users, in which clean_line() keeps letters of all languages; it cuts the text to CLEAN_FIELD_MAX bytes. NULL
 * means "". Returns NULL with err set if memory runs out.
 */
const char *summary_text(struct summary *m, const char *text, struct err *err);
const char *summary_line(struct summary *m, const char *text, struct err *err);

/* Sort races by change, then by need for attention, class, rank, sides and id. */
void summary_sort(struct summary *m);

/*
 * summary_of() returns the number of races with this change, and summary_of_class() the number of those with this change and
 * class.
 */
size_t summary_of(const struct summary *m, enum store_change change);
size_t summary_of_class(const struct summary *m, enum store_change change, enum summary_class class);

/* Store in of_class[] the number of races of each class that the selected rounds saw. */
void summary_classes(const struct summary *m, unsigned of_class[SUMMARY_CLASSES]);

/* Returns the number of races that are gone although the selected rounds looked for them (SUMMARY_MISSED_MAX). */
size_t summary_looked_for(const struct summary *m);

/* Returns the number of races whose class became more serious. A race that was not judged before does not count. */
size_t summary_worse(const struct summary *m);

/*
 * Returns the figures of all selected rounds as if they were one round. `lost_permille` is the mean of the rounds, weighted by
 * their sampled time. `started` is that of the first round, `ended` that of the last.
 */
struct summary_round summary_total(const struct summary *m);

/*
 * summary_covered() returns the campaign's coverage after the last selected round, and summary_covered_before() the coverage
 * before the first one. All zero if there is none.
 */
struct summary_point summary_covered(const struct summary *m);
struct summary_point summary_covered_before(const struct summary *m);

/*
 * Returns whether a race needs attention: it is new, it is back, or its class became more serious, and none of the following is
 * true: (1) a user marked it as known or wontfix; (2) a user marked it as fixed, and only kernels without the fix had it; (3) a
 * suppression matches it.
 */
bool summary_is_worse(const struct summary_race *r);

/* Returns the word for a class, the same in text and JSON. */
const char *summary_class_word(enum summary_class class);

/*
 * Returns the meaning of a change as a clause: "no earlier round has these". The clause differs if only two rounds are
 * compared.
 */
const char *summary_change_means(const struct summary *m, enum store_change change);

#endif
