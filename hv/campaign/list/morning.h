/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a round of a campaign found, against a round before it. This is all that the list of a morning shows, in whatever
 * format: one file fills it from a store (fill.h), and one file a format shows it (list.h).
 *
 * A struct morning owns all of its strings, which are printable: those of guests went through clean_text(), and those of people
 * through clean_line(). No locks: one thread uses a struct morning.
 */
#ifndef OUTRIDER_CAMPAIGN_LIST_MORNING_H
#define OUTRIDER_CAMPAIGN_LIST_MORNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

/* How a race of this round stands to the rounds before it. The list shows races in this order. */
enum morning_change {
	MORNING_NEW,	 /* No earlier round has it. */
	MORNING_BACK,	 /* Somebody had said that it is fixed, and then this round saw it again. */
	MORNING_CHANGED, /* It is judged otherwise than when it was last seen. */
	MORNING_GONE,	 /* The round before has it, and this one does not. */
	MORNING_AGAIN,	 /* An earlier round has it, though not the round before, and it is judged as then. */
	MORNING_SAME,	 /* The round before has it, and it is judged as then. */
	MORNING_CHANGES,
};

/* What the pruner says, the worst first. A race that several runs judge differently has the worst of their verdicts. */
enum morning_class {
	MORNING_HARMFUL,
	MORNING_UNCLEAR,
	MORNING_UNJUDGED, /* The run ended before the races were judged. */
	MORNING_SYNCHRONISATION,
	MORNING_BENIGN,
	MORNING_CLASSES,
};

struct morning_verdict {
	enum morning_class class;
	int rank;	      /* 0 to 99; what weighs more comes first */
	const char *rule;     /* "": no rule decided */
	const char *evidence; /* one sentence, or "" */
};

/* A build of a kernel in which a race was seen, in whatever round. */
struct morning_build {
	const char *release;	  /* "6.1.0-56-cloud-amd64", or "" */
	const char *build_id;	  /* hexadecimal, or "" */
	const char *report;	  /* The race's id in reports of this build: 12 hexadecimal digits. */
	const char *first, *last; /* When the rounds were started that saw it first and last: "2026-11-22T01:00:00Z". */
	bool now;		  /* This round saw the race in this build. */
};

enum morning_triage { TRIAGE_NEW, TRIAGE_KNOWN, TRIAGE_FIXED, TRIAGE_WONTFIX, TRIAGE_STATES };

struct morning_race {
	const char *id;	       /* 12 hexadecimal digits, the same in every build, store and round. */
	const char *side[2];   /* "write in ext4_foo [ext4]" */
	const char *datum;     /* "inode->i_size", or "" */
	const char *subsystem; /* "EXT4 FILE SYSTEM", or a folder of the source, or a module; never "" */
	enum morning_change change;
	struct morning_verdict verdict; /* Of this round, or of the last one that saw the race. */
	struct morning_verdict before;	/* Of the last round before this one that saw it. */
	bool judged_before;		/* `before` is set. */
	enum morning_triage triage;
	const char *note, *who, *when; /* Of the triage; "" where there is none. */
	const char *suppressed;	       /* The reason that a list of suppressions gave, or "". */
	uint64_t instances;	       /* How often this round saw it. */
	unsigned runs;		       /* How many runs of this round saw it. */
	unsigned rounds;	       /* How many rounds saw it, up to this one. */
	unsigned first_round;	       /* The number of the first round that saw it. */
	struct morning_build *builds;
	size_t build_count;
};

/* What a run ended with that is no race. */
struct morning_finding {
	const char *kind;    /* panic, hang, lockup, crash, limit or failed */
	const char *run;     /* The run's key. */
	const char *line;    /* The first line that tells of it, or "". */
	const char *console; /* The file that has the guest's console, or "". */
	const char *folder;  /* The folder of the run's files, of which "command" is the command in a line, or "". */
	const char *command; /* The command that repeats the run, or "". */
	bool is_new;	     /* No earlier round of this campaign has a finding of this kind with this line. */
};

/* The figures of one round. */
struct morning_round {
	unsigned number;
	bool now;		     /* It is looked at. With --since there may be several. */
	const char *started, *ended; /* "2026-11-22T01:00:00Z"; `ended` is "" while the round is not finished. */
	unsigned runs, done, broken; /* Planned; ended; ended with a finding. */
	unsigned cut_off;	     /* Attempts of runs that were cut off, and are no runs of the plan. */
	unsigned races;		     /* How many races it saw; and of each class. */
	unsigned of_class[MORNING_CLASSES];

	unsigned fresh; /* How many of them no earlier round had seen. */
	uint64_t hits, windows, conflicts, sampled_ns;
	int lost_permille, lost_most; /* How much of the time CPUs were stopped, and in the worst run. -1: no run says. */
};

/* What is covered after a run, counted from the first round on. */
struct morning_point {
	unsigned round;	     /* The number of the run's round. */
	bool now;	     /* That round is looked at. */
	uint64_t sampled_ns; /* All sampling up to the end of this run. */
	uint64_t sites;	     /* Sites that were hit at least once. */
	uint64_t pairs;	     /* Pairs of sites that raced. */
	/* Chao1 of the pairs: about so many there are at least to be seen in this way, and the interval that holds the number
	 * with 95 %. An estimate. 0: too little is known. */
	double estimate, low, high;
};

struct morning {
	const char *campaign, *store; /* The campaign's name, and where the store is. */
	const char *version;	      /* The version of outrider that made the list. */
	/* The rounds that are "this round": more than one with --since. `base` is 0 where there is none before. */
	unsigned from, to, base;
	bool pair; /* Two rounds are compared, and nothing else: what `base` lacks is new. */
	struct morning_race *races;
	size_t race_count;
	struct morning_finding *findings;
	size_t finding_count;
	struct morning_round *rounds; /* All of the campaign up to this one, the oldest first. */
	size_t round_count;
	struct morning_point *points; /* All runs of these rounds, in the order in which they ended. */
	size_t point_count;
	uint64_t pool; /* Sites that could be sampled, over all kernels. 0: it is not known. */
	struct morning_texts {
		char **list;
		size_t count;
	} texts; /* All strings above; see morning_text(). */
};

/* Free all that `m` has, and make it empty. */
void morning_free(struct morning *m);

/*
 * A copy of `text` that lasts as long as `m`: of a guest's or a file's, made printable by clean_text(); or of a person's, which
 * keeps letters of any language, by clean_line(). NULL stands for "". Returns NULL with err set when memory ran out.
 */
const char *morning_text(struct morning *m, const char *text, struct err *err);
const char *morning_line(struct morning *m, const char *text, struct err *err);

/* Put the races into the order of the list: by change, what is worse before what is not, then by side. */
void morning_sort(struct morning *m);

/* How many races there are of a change; and of a change and a class. */
size_t morning_of(const struct morning *m, enum morning_change change);
size_t morning_of_class(const struct morning *m, enum morning_change change, enum morning_class class);

/* How many races this round saw of each class. */
void morning_classes(const struct morning *m, unsigned of_class[MORNING_CLASSES]);

/* How many races changed to a worse class than they had. */
size_t morning_worse(const struct morning *m);

/* The rounds that are looked at put together, as if they were one. `started` is that of the first and `ended` that of the last.
 */
struct morning_round morning_total(const struct morning *m);

/* What was covered after the rounds that are looked at, and before them. All zero where there is nothing. */
struct morning_point morning_covered(const struct morning *m);
struct morning_point morning_covered_before(const struct morning *m);

/*
 * Returns whether a race calls for a look: it is new, it is back, or its class is worse than before; and nobody has said that
 * it is known or that it will not be fixed, nor suppressed it.
 */
bool morning_is_worse(const struct morning_race *r);

/* The words for these, as the formats show them and as JSON has them. */
const char *morning_change_word(enum morning_change change);
const char *morning_class_word(enum morning_class class);
const char *morning_triage_word(enum morning_triage state);

/* What one change means, as a clause: "no earlier round has these". It depends on what is compared. */
const char *morning_change_means(const struct morning *m, enum morning_change change);

#endif
