/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store of campaigns: rounds and their runs, the races and findings of runs, the triage of races by users, and the
 * coverage of all sites. It is an SQLite file, or a database of a PostgreSQL server that several machines share. Both have
 * the same tables and use the same queries. docs/campaigns.md describes the store for users, and says when two observations
 * are one race.
 *
 * A race of the store is not a race of one report. In a report, a race is a pair of instructions of one kernel build. In the
 * store, a race is what stays the same in other builds: two functions, the kinds of their accesses, and the datum. Its id has
 * 12 hexadecimal digits.
 *
 * Each function that writes is one transaction: it happens wholly or not at all, even if the process, the machine or the
 * server dies. A second writer waits for the first. Times are milliseconds since 1970 in UTC, and 0 if unknown; names with
 * _ns are nanoseconds. Functions return 0 unless they say otherwise, or -1 with err set: EXIT_INPUT if the store is locked
 * for longer than wait_ms, read-only, damaged, no store, on a full disk, or on a server that is away; EXIT_INTERNAL if memory
 * runs out. After a failure the store is unchanged, and the caller may try again; a lost connection to a server is then made
 * again.
 *
 * No locks: only one thread at a time may use a `struct store`.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_STORE_H
#define OUTRIDER_CAMPAIGN_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hv/base/err.h"
#include "hv/campaign/store/ends.h"
#include "pruner/rules/verdict.h"

struct store;
struct store_text; /* owns strings */

/* Free a list of items, and its strings. Both may be NULL. */
void store_list_free(void *list, struct store_text *text);

/*
 * Define `struct NAME`, a list of items with the memory of their strings, and NAME_free(), which frees the list and empties it.
 * All zero: an empty list. A function that fails to read a list leaves an empty one.
 */
#define STORE_LIST(name, item)                         \
	struct name {                                  \
		item *list;                            \
		size_t count;                          \
		struct store_text *text;               \
	};                                             \
	static inline void name##_free(struct name *l) \
	{                                              \
		store_list_free(l->list, l->text);     \
		*l = (struct name){0};                 \
	}                                              \
	struct name

#define STORE_UUID_MAX 33	   /* bytes of a uuid: 32 hexadecimal digits and the NUL */
#define STORE_RACE_ID_MAX 13	   /* bytes of a race's id: 12 hexadecimal digits and the NUL */
#define STORE_NUMBER_MAX INT32_MAX /* largest number of a round */
#define STORE_WAIT_MS 30000	   /* milliseconds to wait for another writer by default */

#define STORE_CLASSES (VERDICT_BENIGN + 1)

/* ---- open and close ---- */

enum store_mode {
	STORE_READ,  /* The store must exist. Nothing is written, so the disk may be read-only. */
	STORE_WRITE, /* The store must exist. */
	STORE_MAKE,  /* Make the store, and the folders of its file, if it does not exist. */
};

/*
 * Open the store `where`: the path of an SQLite file, or a URL that begins with postgresql:// or postgres:// (libpq's form). An
 * older version is brought up to date, unless the mode is STORE_READ. A newer version is refused. Each later call waits at most
 * `wait_ms` milliseconds for another writer. Free the store with store_close(). Returns NULL with err set if it cannot be
 * opened.
 */
struct store *store_open(const char *where, enum store_mode mode, unsigned wait_ms, struct err *err);

/* Free the store. `s` may be NULL. All data are on the disk already, so a process that dies without this call loses nothing. */
void store_close(struct store *s);

/* Set the time in milliseconds that later calls wait for another writer. */
void store_set_wait(struct store *s, unsigned wait_ms);

/*
 * Reconnect to a server that was away, without waiting for it. Returns 1 if the store can be used; 0 while the connection is
 * being made, and then the caller calls again soon; or -1 with err set if the server is away, and then the next call starts a
 * new connection.
 */
int store_is_back(struct store *s, struct err *err);

/* Returns the path or URL of the store without a password, for messages. The string belongs to the store. */
const char *store_where(const struct store *s);

/*
 * Returns the default path of a store, from malloc(): ${XDG_DATA_HOME}/outrider/campaigns.db, or the same below ~/.local/share.
 * Returns NULL with err set if neither folder is known.
 */
char *store_default_path(struct err *err);

/*
 * Returns the folder for the files of runs, from malloc(): "runs" beside an SQLite file; for a server, "runs" beside
 * store_default_path(). The folder need not exist. Returns NULL with err set if no folder is known.
 */
char *store_runs_folder(const char *where, struct err *err);

/* Compute a uuid from two texts, such as a round's uuid and a run's key. The same texts always give the same uuid. */
void store_uuid(const char *first, const char *second, char out[STORE_UUID_MAX]);

/* ---- rounds ---- */

/* The properties of a round that begins. A NULL string means "". */
struct store_round_plan {
	const char *campaign;
	/*
	 * NULL: a random uuid. All shards of a round have the same uuid on all machines, so that their stores merge to one
	 * round. If a round with this uuid exists, the shard joins it.
	 */
	const char *uuid;
	uint64_t number;       /* 0: the campaign's next number */
	const char *plan_hash; /* hash of the campaign file, to notice changes of the file */
	const char *shard;     /* "" for the whole round, or "I/N". */
	unsigned planned;      /* number of runs that this shard will do */
};

/* One execution of a campaign, for example of one night. */
struct store_round {
	int64_t id; /* Valid in this store only. */
	char uuid[STORE_UUID_MAX];
	const char *campaign;
	uint64_t number;
	const char *plan_hash;
	int64_t started, ended;	 /* `ended` is 0 until all shards have ended. */
	uint64_t missing_shards; /* shards that the store does not have: they have not begun, or were not merged */
	/* Numbers of runs of all shards, without attempts that were cut off. */
	uint64_t planned, begun, done;
	struct store_ends ends; /* how the runs ended (ends.h) */
	uint64_t cut_off;	/* Attempts that were cut off (see store_is_attempt()). */
	/* Results of the runs that have ended. `races` is the number of different races that these runs saw. */
	uint64_t races, new_races;
	uint64_t findings; /* entries of store_findings() whose kind is a finding (ends_is_finding()) */
	uint64_t hits, windows, conflicts, sampled_ns, sampled_runs;
	/*
	 * `explored`: number of runs that explored a pair of programs. `trials` and `untried`: sums over these runs of their
	 * trials, and of the schedules (orders to force) of candidates that no run had tried by then.
	 */
	uint64_t explored, trials, untried;
	uint64_t of_class[STORE_CLASSES]; /* Numbers of races, by the class of a race's most serious verdict in the round. */
	/*
	 * Share of CPU time that breakpoint handling took, in thousandths: the mean over all runs that report a share, and the
	 * worst run. -1: unknown.
	 */
	int lost_permille, lost_most;
};

STORE_LIST(store_rounds, struct store_round);

/*
 * Begin a round, or join the round with this uuid. `out` becomes a list with this one round. Returns -1 with EXIT_USAGE if
 * another round of the campaign has the number.
 */
int store_round_begin(struct store *s, const struct store_round_plan *plan, struct store_rounds *out, struct err *err);

/*
 * Reserve a number for a round of the campaign that is begun later, in any number of shards. The number is never used for
 * another round, even if the round never begins.
 */
int store_round_number(struct store *s, const char *campaign, uint64_t *number, struct err *err);

/* Mark this shard of the round as ended. */
int store_round_end(struct store *s, int64_t round, const char *shard, struct err *err);

/* The rounds to list. All zero: all rounds. */
struct store_rounds_query {
	const char *campaign; /* NULL: all campaigns. */
	int64_t id;	      /* Only the round with this id. */
	/* Only rounds with this number, or with a uuid that begins with this text of at least 4 characters. NULL: any. */
	const char *name;
	int64_t before;	 /* Only rounds that were started before the round with this id. 0: any. */
	bool unfinished; /* Only rounds whose shard `shard` ("" or NULL: the whole round) has begun and not ended. */
	const char *shard;
	unsigned last; /* At most this number of rounds, the latest ones. 0: no limit. */
};

/*
 * Count how the runs of a round ended (ends.h): those of one shard, or of all shards if `shard` is NULL or "". Attempts that
 * were cut off do not count.
 */
int store_round_ends(struct store *s, int64_t round, const char *shard, struct store_ends *out, struct err *err);

/* List rounds in the order of their starts. An empty list is no error. */
int store_rounds(struct store *s, const struct store_rounds_query *q, struct store_rounds *out, struct err *err);

/* ---- runs ---- */

enum store_state { STORE_RUNNING, STORE_DONE };

/* A run that is about to start. A NULL string means "". */
struct store_run_plan {
	/* name of the run in its round, KERNEL/IMAGE/WORKLOAD/SAMPLING/SEED: the same in every round and on every machine */
	const char *key;
	const char *kernel, *image, *workload, *sampling;
	uint64_t seed;
	const char *engine;  /* "run", "attach" or "explore" */
	const char *command; /* Shell command that repeats the run. */
	const char *folder;  /* The folder of the run's files. */
	const char *shard;
};

/* A finding: something bad in a run that is no race, such as a panic. */
struct store_finding {
	const char *kind; /* The word of an enum store_outcome. */
	const char *line; /* the first line of output that shows the finding */
	const char *file; /* The file with the details, or "". */
};

/* How a run ended. */
struct store_run_result {
	enum store_outcome outcome;
	const char *detail; /* A sentence, or "". */
	int64_t started, ended;
	const struct store_finding *findings;
	size_t finding_count;
	const char *races;    /* The path of the run's report. NULL: there is none. */
	bool explored;	      /* `races` is the result of `outrider explore` as JSON. */
	const char *coverage; /* The path of the run's coverage.json. NULL: there is none. */
	/*
	 * If this is set, the run gives an answer only by a finished report with hits and windows. If the run has no such
	 * report, the store adds a finding of the kind "no-report", "truncated" or "unsampled". This kind becomes the outcome
	 * of a run that is STORE_OK otherwise.
	 */
	bool must_report;
};

/*
 * Record that a run is about to start, and set *id to its id in this store. A run that began and never ended begins again.
 * Returns 1 if the run has ended already; the store is then unchanged.
 */
int store_run_begin(struct store *s, int64_t round, const struct store_run_plan *plan, int64_t *id, struct err *err);

/* Which of a run's two files is invalid: none, races.json or coverage.json. */
enum store_bad { STORE_BAD_NONE, STORE_BAD_RACES, STORE_BAD_COVERAGE };

/*
 * Record the end of a run: its outcome, findings, races and coverage, in one transaction. The files are read before the
 * transaction begins. They are not trusted: an invalid file is EXIT_INPUT with the file's name. Then *bad, unless `bad` is
 * NULL, says which file is invalid, and the caller may end the run without this file; STORE_BAD_NONE means a failure of the
 * store. Returns 1 if the run has ended already; the store is then unchanged.
 */
int store_run_end(struct store *s, int64_t run, const struct store_run_result *result, enum store_bad *bad, struct err *err);

struct store_run {
	int64_t id, round;
	char uuid[STORE_UUID_MAX];
	const char *key, *kernel, *image, *workload, *sampling, *engine, *command, *folder, *shard;
	uint64_t seed;
	enum store_state state;
	enum store_outcome outcome; /* Valid if the run has ended. */
	const char *detail;
	int64_t started, ended;
	const char *build_id; /* Build id of the guest's kernel, in hexadecimal. "": unknown. */
	const char *banner;   /* Version line of the guest's kernel. "": unknown. */
	uint64_t hits, windows, conflicts, sampled_ns;
	int lost_permille;  /* Share of CPU time that breakpoint handling took, in thousandths. -1: unknown. */
	uint64_t races;	    /* number of the store's races that the run saw */
	uint64_t new_races; /* number of these races that no earlier round saw */
};

STORE_LIST(store_runs, struct store_run);

/*
 * Returns whether the key belongs to an attempt that was cut off before the run was finished. The store keeps an attempt as a
 * run of its own. Its key is the run's key with "~" and a number appended; names in a campaign file contain no "~".
 */
bool store_is_attempt(const char *key);

/* List all runs of a round that were begun, by key in byte order. */
int store_runs(struct store *s, int64_t round, struct store_runs *out, struct err *err);

struct store_finding_entry {
	const char *key; /* The key of the run. */
	const char *kind, *line, *file;
	const char *command; /* Shell command that repeats the run. */
	const char *folder;
	uint64_t seed;
	int64_t run;
	bool is_new; /* No earlier round of the campaign has a finding of this kind with this line. */
};

STORE_LIST(store_findings, struct store_finding_entry);

/* List all findings of a round, by run key, then in the order in which the run reported them. */
int store_findings(struct store *s, int64_t round, struct store_findings *out, struct err *err);

/* ---- pairs of programs ---- */

/* Two programs that `outrider explore` explores. The commands are as clean_text() makes them. */
struct store_programs {
	const char *prepare, *program[2];
};

/* What runs tried of a pair. */
struct store_explored_pair {
	struct store_programs pair;
	uint64_t trials;
	/*
	 * Number of candidates that are neither in code that all programs run nor ordered by a lock. The higher it is, the more
	 * data the two programs share. If several runs explored the pair, this is the largest number.
	 */
	uint64_t own;
	uint64_t untried; /* schedules (orders to force) of candidates that no run has tried */
};

STORE_LIST(store_explored, struct store_explored_pair);

/*
 * List the pairs that runs of the campaign explored with the plan's kernel `kernel`, in the build that the last of these runs
 * had. Pairs that were not explored are not in the list.
 */
int store_explored(struct store *s, const char *campaign, const char *kernel, struct store_explored *out, struct err *err);

/*
 * Write the trials of this pair of programs that need not be made again, in all kernel builds, in the format of `outrider
 * explore --skip`. A trial that found something is not written, since each round checks whether it still does. A trial in which
 * program 0 did not come to its access is not written if it was made only once. *again becomes the number of trials that found
 * something in the build of the last run.
 */
int store_tried(struct store *s, const struct store_programs *pair, FILE *out, unsigned *again, struct err *err);

/* ---- races ---- */

enum store_triage {
	STORE_TRIAGE_NEW, /* No user has judged the race. */
	STORE_TRIAGE_KNOWN,
	STORE_TRIAGE_FIXED,
	STORE_TRIAGE_WONTFIX,
	STORE_TRIAGES,
};
const char *store_triage_word(enum store_triage triage);
/* Returns the state with that word, or -1 if there is none. */
int store_triage_from_word(const char *word);

/* How a race changed in the selected rounds, compared with the rounds before. */
enum store_change {
	STORE_CHANGE_NEW, /* No earlier round of any campaign had the race. */
	/* A user marked the race as fixed, and a run that started later saw it in a kernel that has the fix (version.h). */
	STORE_CHANGE_BACK,
	STORE_CHANGE_VERDICT, /* The race's class or rule differs from the last time that it was seen. */
	STORE_CHANGE_GONE,    /* The base round had the race, and no selected round has it. */
	STORE_CHANGE_AGAIN,   /* The base round did not have the race; an earlier round had it with the same verdict. */
	STORE_CHANGE_NONE,    /* The base round had the race, with the same verdict. */
	STORE_CHANGES,
};
/* Returns the word of a change: "new", "back", "changed", "gone", "again", "same". */
const char *store_change_word(enum store_change change);

/*
 * The store keeps an atomicity suspicion (docs/atomicity.md) as a race. These are the kinds of its two sides: the function with
 * the two critical sections, and the function whose section comes in between.
 */
#define STORE_SECTIONS "two sections"
#define STORE_SECTION "section"

/* One of a race's two sides, which are in byte order of function, module and kind. */
struct store_side {
	/*
	 * Without suffixes of the compiler. "unknown" for an unseen writer; "virtio-blk:read" for a device; "raw" or
	 * "image+0x..." for code without a symbol.
	 */
	const char *function;
	const char *module; /* "": the kernel itself. */
	/*
	 * "read", "write" (also for a read-modify-write), or "access" if unknown. The sides of an atomicity suspicion have the
	 * kinds STORE_SECTIONS and STORE_SECTION.
	 */
	const char *kind;
	const char *file; /* The source file, relative to the source tree. "": no build had debug files. */
};

/* A verdict of the pruner on a race. */
struct store_verdict {
	enum verdict_class class;
	int rank;
	const char *rule, *evidence; /* "": the race was not judged */
	const char *suppressed;	     /* The reason of the suppression in the report. "": the race is not suppressed. */
};

struct store_race {
	int64_t id;		      /* Valid in this store only. */
	char name[STORE_RACE_ID_MAX]; /* The race's id for users, the same in every store. */
	struct store_side sides[2];
	const char
		*datum; /* The datum: "struct rq.nr_running", "jiffies_64", or a place such as "mount_lock+0". "": unknown. */
	enum store_change change;
	/* The most serious verdict of the selected rounds. If the race is gone, that of the last earlier round that saw it. */
	struct store_verdict verdict;
	/*
	 * Number of earlier rounds that saw the race, and the most serious verdict of the latest of these rounds. If the race
	 * is gone, `before` equals `verdict`.
	 */
	uint64_t earlier;
	struct store_verdict before;
	enum store_triage triage;
	const char *note, *who;
	/*
	 * For a race that is fixed, the kernel versions that have the fix: "6.1.115, 6.12". "": no versions were given, so the
	 * kernels of all runs that start after `triaged` have the fix.
	 */
	const char *mended;
	int64_t triaged;
	/* In the selected rounds, numbers of: */
	uint64_t seen; /* observations */
	uint64_t runs; /* runs that saw the race */
	/* In all rounds up to the last selected one: */
	int64_t first, last;		  /* start times of the first and the last round that saw the race */
	uint64_t first_round, last_round; /* the numbers of these rounds */
	const char *first_campaign;
	uint64_t total_seen, total_runs, rounds;
	/* In the whole store: */
	uint64_t builds;     /* number of kernel builds in which the race was seen */
	const char *reports; /* the race's ids in reports, separated by blanks, at most 8 */
};

STORE_LIST(store_races, struct store_race);

/* Returns whether the race is an atomicity suspicion. */
bool store_race_is_atomicity(const struct store_race *r);

struct store_races_query {
	int64_t round; /* Select this round. 0: select all rounds; then no race is new or gone. */
	/*
	 * The id of the base round, with which the selected rounds are compared. If this is set, all rounds of the campaign
	 * after the base round, up to `round`, are selected. 0: the base round is the campaign's round before the selected
	 * ones.
	 */
	int64_t since;
	int64_t race; /* Only the race with this id. 0: all races. */
};

/* List races by change, then class (harmful candidates first), rank (highest first), sides, datum and id in byte order. */
int store_races(struct store *s, const struct store_races_query *q, struct store_races *out, struct err *err);

#define STORE_RACE_WORD "race:" /* may stand before the id of a race, to tell it from the number of a round */
#define STORE_ROUND_WORD "round:"

/* Count the races whose id, or whose id in a report, begins with `name`. */
int store_race_count(struct store *s, const char *name, size_t *count, struct err *err);

/*
 * Find the race whose id begins with `name` or, if there is none, the race whose id in a report begins with `name`. `name` may
 * begin with STORE_RACE_WORD. Returns -1 with EXIT_USAGE if there is no such race, or several, which the message lists.
 */
int store_race_find(struct store *s, const char *name, int64_t *race, struct err *err);

/*
 * Returns the JSON object of a race, as docs/report-format.md describes it, as text from malloc(). The object is the record of
 * the first run that saw the race or, with `latest`, of the last run. Returns NULL without err set if the store has no record
 * of the race.
 */
char *store_race_record(struct store *s, int64_t race, bool latest, struct err *err);

/* The last run that saw a race. */
struct store_last_run {
	const char *key, *folder, *command; /* as in struct store_run */
	const char *report;		    /* the race's id in the run's report */
	const char *banner;		    /* version line of the kernel, or "" */
	struct store_text *text;
};
void store_last_run_free(struct store_last_run *r);

/*
 * Get the selected run that saw q->race last. Returns 1; 0, with *out all zero, if no selected run saw it; or -1 with err set.
 */
int store_last_run(struct store *s, const struct store_races_query *q, struct store_last_run *out, struct err *err);

/* A kernel build in which a race was seen. There is one entry for each build and each id that the race has in reports. */
struct store_build {
	const char *build_id, *banner;
	const char *report;  /* The race's id in the report. */
	const char *site[2]; /* The names of the sites in the report, in byte order. Both "" in an atomicity suspicion. */
	uint64_t seen, runs;
	int64_t first, last; /* start times of the first and the last round that saw the race */
	bool now;	     /* A selected round saw the race in this build. */
};

STORE_LIST(store_builds, struct store_build);

/* List the builds of q->race, in the order in which they first saw it. `q` selects rounds as for store_races(). */
int store_builds(struct store *s, const struct store_races_query *q, struct store_builds *out, struct err *err);

/* A round that saw a race. */
struct store_race_round {
	int64_t round, started;
	const char *campaign;
	uint64_t number;
	uint64_t seen, runs;
	/* The most serious verdict of the round. */
	enum verdict_class class;
	int rank;
	const char *rule;
};

STORE_LIST(store_race_rounds, struct store_race_round);

/* List all rounds of all campaigns that saw the race, oldest first. Returns 0, or -1 with err set and an empty list. */
int store_race_rounds(struct store *s, int64_t race, struct store_race_rounds *out, struct err *err);

/* ---- triage of races by users ---- */

/*
 * Add a triage state to a race. The history keeps the earlier states. `note` and `who` may be NULL. `at` is the time in
 * milliseconds since 1970, or 0 for now. `race` is an id from store_races() or store_race_find().
 */
int store_triage_set(struct store *s, int64_t race, enum store_triage triage, const char *note, const char *who, int64_t at,
		     struct err *err);

/*
 * Mark a race as fixed in the `count` kernel versions `mended`, each as version_read() reads it. If an older kernel shows the
 * race afterwards, the race is not back. Otherwise like store_triage_set().
 */
int store_mend_set(struct store *s, int64_t race, const char *const *mended, size_t count, const char *note, const char *who,
		   int64_t at, struct err *err);

/*
 * Find the release of the kernel build that `word` names. `word` has at least 7 hexadecimal digits: it is the beginning of the
 * build id, or a commit that the release ends with ("-gaabbccddeeff"). Returns -1 with EXIT_USAGE if no build in the store has
 * this id or commit, if builds of several releases have it, or if the build's version line is not known.
 */
int store_build_release(struct store *s, const char *word, char *release, size_t size, struct err *err);

struct store_triage_entry {
	enum store_triage triage;
	const char *note, *who;
	const char *mended; /* as in struct store_race */
	int64_t said;	    /* id of the entry; valid in this store only */
	int64_t at;
};

STORE_LIST(store_history, struct store_triage_entry);

/* List all triage states of a race, oldest first. The last state is the valid one. */
int store_history(struct store *s, int64_t race, struct store_history *out, struct err *err);

/* ---- coverage ---- */

/* The coverage of a site in one kernel build, summed over all runs. */
struct store_site {
	const char *name; /* The site's name, as in reports: "module:function+0x1c". Valid only during the call. */
	uint64_t armed, hits, windows, conflicts, talks; /* the members of struct coverage_counts (hv/race/coverage.h) */
	uint64_t runs;					 /* Runs in which the site was armed. */
};

/*
 * Call `each` for every site that was ever armed in the kernel with this build id (hexadecimal), by name in byte order. If
 * `each` returns a value other than 0, stop and return that value. `each` must not use the store.
 */
int store_sites(struct store *s, const char *build_id, int (*each)(void *ctx, const struct store_site *site), void *ctx,
		struct err *err);

/* How often the sites of a race were sampled, in all builds that saw the race. */
struct store_effort {
	int64_t race; /* set by the caller */
	/*
	 * Windows that began at one of the race's sites: in the selected rounds, and in all other rounds of the store. If runs
	 * left no coverage, both are too low.
	 */
	uint64_t since, before;
};

/* Fill in `count` entries of the list. `q` selects rounds as for store_races(); q->race is not used. */
int store_efforts(struct store *s, const struct store_races_query *q, struct store_effort *list, size_t count, struct err *err);

/* A pair of sites of one kernel build that raced. */
struct store_pair {
	/* The names in the report, in byte order. Valid only during the call. */
	const char *site[2];
	/* Number of runs that saw the pair. */
	uint64_t runs;
};

/*
 * Call `each` for every pair that was seen in the kernel with this build id, in no particular order. The rules for `each` are
 * those of store_sites().
 */
int store_each_pair(struct store *s, const char *build_id, int (*each)(void *ctx, const struct store_pair *pair), void *ctx,
		    struct err *err);

/* Counts of the pairs of sites that raced, from which the number of unseen pairs is estimated. */
struct store_pairs {
	uint64_t observed;     /* pairs that at least one run saw */
	uint64_t once, twice;  /* pairs that exactly one run saw, and pairs that exactly two runs saw */
	uint64_t runs;	       /* runs of the kernel that sampled */
	uint64_t observations; /* observations of all pairs */
};

/*
 * Count pairs for the kernel `build_id`, or for all kernels if it is NULL; the same pair in two kernels is two pairs. Ignores
 * runs that started after `until`; 0: all runs.
 */
int store_pairs(struct store *s, const char *build_id, int64_t until, struct store_pairs *out, struct err *err);

/*
 * Coverage of a campaign after one of its runs, for a plot over time. `sampled_ns`, `sites_armed`, `sites_hit`, `pairs`,
 * `once`, `twice` and `races` include the campaign's earlier runs. The other members are of this run alone.
 */
struct store_covered {
	int64_t run, round, started, ended;
	uint64_t number;		 /* number of the round */
	uint64_t sampled_ns;		 /* nanoseconds of sampling */
	uint64_t sites_armed, sites_hit; /* sites of all kernels that were armed, and that were hit */
	uint64_t pairs, once, twice;	 /* pairs of sites that raced in any run, in exactly one, and in exactly two */
	uint64_t races;			 /* races that a run of the campaign saw */
	uint64_t pool;			 /* sites in the pool of this run; 0 if unknown */
	size_t build;			 /* the run's kernel build; builds are numbered from 0 in the order of runs */
};

struct store_coverage {
	struct store_covered *list;
	size_t count;
	size_t builds; /* number of kernel builds */
};
void store_coverage_free(struct store_coverage *c);

/* List the ended runs of a campaign in the order of their starts, up to the round with the id `until` (0: all rounds). */
int store_coverage(struct store *s, const char *campaign, int64_t until, struct store_coverage *out, struct err *err);

/* ---- the store as a whole ---- */

struct store_merged {
	uint64_t rounds, runs, races, triage; /* rows that were not in `into` before */
	uint64_t
		/*
		 * Number of runs whose coverage was not merged. `from` has only the sum of the coverage of a whole round,
		 * because the round was folded. `into` has coverage of the same round and kernel already, so the sum could
		 * count a run twice.
		 */
		coverage_left;
};

/*
 * Merge all data of `from` into `into`, run by run. A run that has ended in `into` is not changed, so a second merge changes
 * nothing. The triage histories are united, and the latest state is the valid one. If the merge fails midway, `into` is
 * consistent, and another merge continues.
 */
int store_merge(struct store *into, struct store *from, struct store_merged *out, struct err *err);

struct store_gc_plan {
	unsigned keep_rounds; /* number of newest rounds of each campaign whose details are kept, at least 1 */
	/* Replace by sums only the details of rounds that started before this time (ms since 1970). 0: no limit. */
	int64_t before;
	bool dry_run; /* Change nothing; only compute what would be replaced by sums. */
};

struct store_freed {
	uint64_t rounds;    /* number of rounds whose details were replaced by sums */
	uint64_t instances; /* number of single observations of races that were removed, and are only counted now */
	uint64_t coverage;  /* number of runs whose coverage is now only in the sum of their round */
	int64_t bytes;	    /* bytes by which the store on the disk became smaller; 0 for a dry run */
};

/*
 * Replace the details of old rounds by sums. The newest rounds and rounds that have not ended stay as they are, and so do the
 * observations of races without a triage state. Lists show the same as before.
 */
int store_gc(struct store *s, const struct store_gc_plan *plan, struct store_freed *out, struct err *err);

#endif
