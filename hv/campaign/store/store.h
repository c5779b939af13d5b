/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store of campaigns: which runs there were, which races and findings they gave, what people said of the races, and which
 * sites were ever sampled. It is an SQLite file, or a database of a PostgreSQL server that several machines share. Both have
 * the same tables and are asked by the same text. docs/campaigns.md describes the store for its users, and argues when two
 * observations are one race.
 *
 * A race here is not the race of one report. A report's race is a pair of instructions of one build of the kernel. A race of
 * the store is what stays when the kernel is built anew: two functions, what each does, and the datum. It has an id of its own,
 * 12 hexadecimal digits.
 *
 * Each function that writes is one transaction: it happens wholly or not at all, whatever kills this process, the machine or
 * the server. Two processes may write at once; one waits for the other. All times are milliseconds since 1970 in UTC, 0 for a
 * time that is not known, unless their name says _ns. Each function returns 0 unless it says otherwise; or -1 with EXIT_INPUT
 * when the store cannot do it (it is locked for longer than was allowed, is read-only, its disk is full, its server is away, it
 * is no store or damaged) or with EXIT_INTERNAL when memory ran out. After a failure the store is what it was, and the caller
 * may try the same again: a server that was away is called anew.
 *
 * No locks: one thread at a time uses a `struct store`.
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_STORE_H
#define OUTRIDER_CAMPAIGN_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"
#include "pruner/verdict.h"

struct store;

#define STORE_UUID_MAX 33	   /* bytes of a uuid, 32 hexadecimal digits and the NUL */
#define STORE_RACE_ID_MAX 13	   /* bytes of the id of a race, 12 hexadecimal digits and the NUL */
#define STORE_NUMBER_MAX INT32_MAX /* of a round */
#define STORE_WAIT_MS 30000	   /* how long to wait for others that write, where nobody asks for another time */

#define STORE_CLASSES (VERDICT_BENIGN + 1)

/* ---- open and close ---- */

enum store_mode {
	STORE_READ,  /* The store must exist. Nothing is written, so a store on a read-only disk can be read. */
	STORE_WRITE, /* The store must exist. */
	STORE_MAKE,  /* The store is made when it is not there, and the folder of its file too. */
};

/*
 * Open the store `where`: the path of an SQLite file, or a URL that begins with postgresql:// or postgres://, as libpq has it.
 * A store of an older version is brought up to date, unless it is only read. One of a newer version is refused. `wait_ms` is
 * how long each function may wait for others that write. NULL: it cannot be opened.
 */
struct store *store_open(const char *where, enum store_mode mode, unsigned wait_ms, struct err *err);

/* Nothing is lost when this is not called. NULL is allowed. */
void store_close(struct store *s);

/* From now on each function may wait so long for others that write. */
void store_set_wait(struct store *s, unsigned wait_ms);

/*
 * Whether a store that could not be reached can be asked again. Returns 1; 0 when its server has not answered yet: ask again
 * soon; or -1 with err set: it is away, and the next question calls it anew. It never waits for the server.
 */
int store_is_back(struct store *s, struct err *err);

/* The place that the store was opened at, fit to be shown: without a password. It belongs to the store. */
const char *store_where(const struct store *s);

/* The place where nobody names one: ${XDG_DATA_HOME}/outrider/campaigns.db, or below ~/.local/share. From malloc(); NULL: none.
 */
char *store_default_place(struct err *err);

/*
 * The folder for the files of runs beside the store `where`: "runs" in the folder of the SQLite file, and for a server "runs"
 * in the folder of store_default_place(). It need not exist. From malloc(); NULL: none.
 */
char *store_runs_folder(const char *where, struct err *err);

/* The uuid that two texts always have, such as a round's uuid and a run's key. */
void store_uuid(const char *first, const char *second, char out[STORE_UUID_MAX]);

/* ---- rounds ---- */

/* What a round is begun with. Strings may be NULL where "" will do. */
struct store_round_plan {
	const char *campaign; /* The campaign's name. */
	/*
	 * NULL: a random one. Shards of one round have one uuid on whatever machine they run, so that their stores merge to one
	 * round. A round that has this uuid already is joined.
	 */
	const char *uuid;
	uint64_t number;       /* 0: one more than the campaign's last round has. */
	const char *plan_hash; /* Tells whether the campaign file has changed. */
	const char *shard;     /* "" for the whole, or "I/N". */
	unsigned planned;      /* Runs that this shard is to do. */
};

/* One execution of a campaign. */
struct store_round {
	int64_t id; /* Of this store only. */
	char uuid[STORE_UUID_MAX];
	const char *campaign;
	uint64_t number;
	const char *plan_hash;
	int64_t started, ended; /* `ended` is 0 while some shard of it has not ended. */
	/* The runs of it. `planned` is over all shards. An attempt that was cut off is none of these. */
	uint64_t planned, begun, done, ok;
	uint64_t cut_off; /* Attempts that were cut off: see store_is_attempt(). */
	/* What runs that are done gave. `races` are those of the store, each counted once. */
	uint64_t races, new_races, findings;
	uint64_t hits, windows, conflicts, sampled_ns, sampled_runs;
	uint64_t of_class[STORE_CLASSES]; /* How many of the races have a verdict of each enum verdict_class, the weightiest
					     one. */
	/* How much of the sampled time the guests stood still, in thousandths: over all runs that say, and the worst run. -1:
	 * none. */
	int lost_permille, lost_most;
};

/* A list, and the memory of its strings. All zero: empty. */
struct store_rounds {
	struct store_round *list;
	size_t count;
	struct store_text *text;
};
void store_rounds_free(struct store_rounds *r);

/*
 * Begin a round, or join the one with this uuid. What there is of it then is put in `out`, whose list has one round.
 * EXIT_USAGE: another round of the campaign has the number that is asked for.
 */
int store_round_begin(struct store *s, const struct store_round_plan *plan, struct store_rounds *out, struct err *err);

/*
 * Give out a number for a round of the campaign that somebody begins later, in any number of shards. Nobody is given it again,
 * also when the round is never begun.
 */
int store_round_number(struct store *s, const char *campaign, uint64_t *number, struct err *err);

/* This shard has done all its runs. */
int store_round_end(struct store *s, int64_t round, const char *shard, struct err *err);

/* Which rounds are asked for. All zero: all rounds. */
struct store_rounds_query {
	const char *campaign; /* NULL: all campaigns. */
	int64_t id;	      /* Only the round with this id. */
	const char
		*name;	 /* Only the round with this number, or with a uuid that begins so (4 characters or more). NULL: any. */
	int64_t before;	 /* Only rounds that were started before the round with this id. */
	bool unfinished; /* Only rounds of which the shard `shard` ("" or NULL: the whole) has begun and not ended. */
	const char *shard;
	unsigned last; /* At most so many, the latest ones. 0: no limit. */
};

/* The rounds in the order in which they were started. No rounds is no error. */
int store_rounds(struct store *s, const struct store_rounds_query *q, struct store_rounds *out, struct err *err);

/* ---- runs ---- */

enum store_outcome {
	STORE_OK,     /* The run ended as it was asked to. */
	STORE_PANIC,  /* The guest's kernel panicked or the guest died. */
	STORE_HANG,   /* The guest's heartbeat stopped. */
	STORE_LOCKUP, /* The guest's kernel reported a lockup. */
	STORE_CRASH,  /* outrider itself died. */
	STORE_LIMIT,  /* A limit was exceeded. */
	STORE_FAILED, /* It could not be run, as by a file that is missing. */
	STORE_OUTCOMES,
};

enum store_state { STORE_RUNNING, STORE_DONE };

/* "ok", "panic", ... */
const char *store_outcome_word(enum store_outcome outcome);
/* Returns the outcome of that word, or -1. */
int store_outcome_from_word(const char *word);

/* A cell of the matrix that is about to be run. Strings may be NULL where "" will do. */
struct store_run_plan {
	const char *key; /* Names the cell: the same in every round and on every machine. */
	const char *kernel, *image, *workload, *sampling;
	uint64_t seed;
	const char *engine;  /* "run" or "attach" */
	const char *command; /* What repeats it, for a shell. */
	const char *folder;  /* Where its files are. */
	const char *shard;
};

/* What a run ended with that is not a race. */
struct store_finding {
	const char *kind; /* enum store_outcome as a word */
	const char *line; /* The first line that says so. */
	const char *file; /* The file that has more, or "". */
};

/* How a run ended. */
struct store_run_result {
	enum store_outcome outcome;
	const char *detail; /* A sentence, or "". */
	int64_t started, ended;
	const struct store_finding *findings;
	size_t finding_count;
	const char *races;    /* The path of the run's races.json. NULL: there is none. */
	const char *coverage; /* The path of the run's coverage.json. NULL: there is none. */
};

/*
 * A run is about to start. *id becomes its id in this store. Returns 1 when the run was done already: nothing is changed then.
 * A run that was begun and never ended begins again.
 */
int store_run_begin(struct store *s, int64_t round, const struct store_run_plan *plan, int64_t *id, struct err *err);

/* Which file of a run cannot be taken. */
enum store_bad { STORE_BAD_NONE, STORE_BAD_RACES, STORE_BAD_COVERAGE };

/*
 * A run has ended: its outcome, findings, races and coverage come into the store, in one transaction. The files are read before
 * the transaction begins, and are not trusted: what is wrong in them is EXIT_INPUT with the file's name. *bad, unless it is
 * NULL, tells this from a failure of the store: it names a file with which the same will fail again, and the caller may end the
 * run without this file. Returns 1 when the run was done already: nothing is changed then.
 */
int store_run_end(struct store *s, int64_t run, const struct store_run_result *result, enum store_bad *bad, struct err *err);

struct store_run {
	int64_t id, round;
	char uuid[STORE_UUID_MAX];
	const char *key, *kernel, *image, *workload, *sampling, *engine, *command, *folder, *shard;
	uint64_t seed;
	enum store_state state;
	enum store_outcome outcome; /* Of a run that is done. */
	const char *detail;
	int64_t started, ended;
	const char *build_id; /* Of the guest's kernel, in hexadecimal. "": it is not known. */
	const char *banner;   /* The guest's kernel's version line. "": it is not known. */
	uint64_t hits, windows, conflicts, sampled_ns;
	int lost_permille;  /* -1: not known. */
	uint64_t races;	    /* Races of the store that it saw. */
	uint64_t new_races; /* Those of them that no run of an earlier round had seen. */
};

struct store_runs {
	struct store_run *list;
	size_t count;
	struct store_text *text;
};
void store_runs_free(struct store_runs *r);

/*
 * Whether the key is that of an attempt of a run that was cut off before the run was finished. The store has it as a run of its
 * own, whose key is the run's with "~" and a number behind it. No name of a campaign file has this sign.
 */
bool store_is_attempt(const char *key);

/* All runs of a round that were begun, by their keys in byte order. */
int store_runs(struct store *s, int64_t round, struct store_runs *out, struct err *err);

struct store_found {
	const char *key; /* The run's. */
	const char *kind, *line, *file;
	const char *command; /* What repeats it. */
	const char *folder;
	uint64_t seed;
	int64_t run;
	bool is_new; /* No earlier round of the campaign has a finding of this kind with this line. */
};

struct store_findings {
	struct store_found *list;
	size_t count;
	struct store_text *text;
};
void store_findings_free(struct store_findings *f);

/* All findings of a round, by the runs' keys and in the order in which each run gave them. */
int store_findings(struct store *s, int64_t round, struct store_findings *out, struct err *err);

/* ---- races ---- */

enum store_triage {
	STORE_TRIAGE_NEW, /* Nobody has said anything. */
	STORE_TRIAGE_KNOWN,
	STORE_TRIAGE_FIXED,
	STORE_TRIAGE_WONTFIX,
	STORE_TRIAGES,
};
const char *store_triage_word(enum store_triage triage);
/* Returns the state of that word, or -1. */
int store_triage_from_word(const char *word);

/* What a race is in the rounds that are looked at, against those before. */
enum store_change {
	STORE_CHANGE_NEW,     /* No round before had it, of any campaign in the store. */
	STORE_CHANGE_BACK,    /* Somebody said that it was fixed, and a run that was started later saw it. */
	STORE_CHANGE_VERDICT, /* When it was last seen before it had another class or rule. */
	STORE_CHANGE_GONE,    /* The round before had it, and it was not seen now. */
	STORE_CHANGE_AGAIN,   /* The round before did not have it, but an earlier one, with the same verdict. */
	STORE_CHANGE_NONE,    /* The round before had it, with the same verdict. */
	STORE_CHANGES,
};
/* "new", "back", "changed", "gone", "again", "same" */
const char *store_change_word(enum store_change change);

/* One of a race's two sides. They stand in byte order of function and kind. */
struct store_side {
	const char
		*function;  /* Without what compilers append. "unknown" when nobody was seen; "virtio-blk:read" for a device. */
	const char *module; /* "": the kernel itself. */
	const char *kind;   /* "read", "write", or "access" when it is not known. */
	const char *file;   /* The source file, relative to the source tree. "": no build's debug files told. */
};

struct store_race {
	int64_t id;		      /* Of this store only. */
	char name[STORE_RACE_ID_MAX]; /* The race's id for people, the same in every store. */
	struct store_side sides[2];
	const char *datum; /* What the race is on: "struct rq.nr_running", "jiffies", ... "": not known. */
	enum store_change change;
	/* The weightiest verdict of the rounds that are looked at; of one that is gone, when it was last seen. */
	enum verdict_class class;
	const char *rule, *evidence;
	int rank;
	const char *suppressed; /* The reason in the report that has it. "": it is not suppressed. */
	/* How many rounds before saw it, and the weightiest verdict of the latest of them. Of one that is gone it is the same.
	 */
	uint64_t earlier;
	enum verdict_class before_class;
	const char *before_rule, *before_evidence;
	int before_rank;
	enum store_triage triage;
	const char *note, *who;
	int64_t triaged;
	/* Over the rounds that are looked at. */
	uint64_t seen; /* Observations. */
	uint64_t runs; /* Runs that saw it. */
	/* Over all rounds up to the last one that is looked at. */
	int64_t first, last;		  /* When the rounds were started that saw it first and last. */
	uint64_t first_round, last_round; /* Their numbers. */
	const char *first_campaign;
	uint64_t total_seen, total_runs, rounds;
	/* Over the whole store. */
	uint64_t builds;     /* Builds of the kernel in which it was seen. */
	const char *reports; /* The ids that reports give it, with blanks between, at most 8. */
};

struct store_races {
	struct store_race *list;
	size_t count;
	struct store_text *text;
};
void store_races_free(struct store_races *r);

struct store_races_query {
	int64_t round; /* Look at this round. 0: at all rounds, and then nothing is gone and no race is new. */
	/*
	 * Look at the rounds of the same campaign that were started after this one, too, and compare with it. 0: compare with
	 * the round of the same campaign that was started before.
	 */
	int64_t since;
	int64_t race; /* Only the race with this id. 0: all. */
};

/* Races by change, then by class (harmful candidates first), rank (highest first), and sides, datum and id in byte order. */
int store_races(struct store *s, const struct store_races_query *q, struct store_races *out, struct err *err);

/*
 * Find the one race whose id begins with `name`; or else the one that has a report's race with an id that begins so.
 * EXIT_USAGE: there is none, or there are several, which the message names.
 */
int store_race_find(struct store *s, const char *name, int64_t *race, struct err *err);

/*
 * One race in full, as docs/report-format.md has it: the JSON text of the object. `latest` asks for the record of the run that
 * was started last, else it is that of the first. From malloc(). NULL without err set: none was kept.
 */
char *store_race_record(struct store *s, int64_t race, bool latest, struct err *err);

/* Where a race was seen: one for each build of the kernel and each id that reports give it. */
struct store_build {
	const char *build_id, *banner;
	const char *report;  /* The report's id. */
	const char *site[2]; /* The report's names of the sites, in byte order. */
	uint64_t seen, runs;
	int64_t first, last; /* When the rounds were started that saw it first and last. */
	bool now;	     /* One of the rounds that are looked at saw it. */
};

struct store_builds {
	struct store_build *list;
	size_t count;
	struct store_text *text;
};
void store_builds_free(struct store_builds *b);

/* The builds of q->race, the one that was seen first in front. The rounds that are looked at are those of store_races(). */
int store_builds(struct store *s, const struct store_races_query *q, struct store_builds *out, struct err *err);

/* ---- what people say of races ---- */

/*
 * Say of a race what it is. `note` and `who` may be NULL. The history keeps what was said before. `at` is 0 for now. *race may
 * name any race that store_races() or store_race_find() gave.
 */
int store_triage_set(struct store *s, int64_t race, enum store_triage triage, const char *note, const char *who, int64_t at,
		     struct err *err);

struct store_said {
	enum store_triage triage;
	const char *note, *who;
	int64_t at;
};

struct store_history {
	struct store_said *list;
	size_t count;
	struct store_text *text;
};
void store_history_free(struct store_history *h);

/* All that was said of a race, the oldest first. The last one holds. */
int store_history(struct store *s, int64_t race, struct store_history *out, struct err *err);

/* ---- coverage ---- */

/* A site of one build of the kernel, over all runs. */
struct store_site {
	const char *name; /* As in reports: "module:function+0x1c". Valid during the call only. */
	uint64_t armed, hits, windows, conflicts;
	uint64_t runs; /* Runs in which it was armed. */
};

/*
 * Call `each` for every site that was ever armed in the kernel with this build id (hexadecimal), by name in byte order. A value
 * other than 0 ends it, and is returned. `each` must not use the store.
 */
int store_sites(struct store *s, const char *build_id, int (*each)(void *ctx, const struct store_site *site), void *ctx,
		struct err *err);

/* A pair of sites that raced, in one build of the kernel. */
struct store_pair {
	/* As the report names them, in byte order. Valid during the call only. */
	const char *site[2];
	/* How many runs saw it. */
	uint64_t runs;
};

/* Call `each` for every pair that was seen in the kernel with this build id, in no order, as store_sites() does. */
int store_each_pair(struct store *s, const char *build_id, int (*each)(void *ctx, const struct store_pair *pair), void *ctx,
		    struct err *err);

/* How often the pairs of sites were seen that are known of a kernel: what estimates of those not seen yet are made of. */
struct store_pairs {
	uint64_t observed;     /* Pairs that were ever seen. */
	uint64_t once, twice;  /* Those seen in exactly one run, and in two. */
	uint64_t runs;	       /* Runs of that kernel that sampled. */
	uint64_t observations; /* How often pairs were seen, over all. */
};

/* `build_id` NULL: over all kernels; then a pair of each is a pair. `until` 0: over all runs; else over those started until
 * then. */
int store_pairs(struct store *s, const char *build_id, int64_t until, struct store_pairs *out, struct err *err);

/* What was covered by the end of a run, for a picture over time. All but `pool` count what came before in the campaign, too. */
struct store_covered {
	int64_t run, round, ended;
	uint64_t number;		 /* The round's. */
	uint64_t sampled_ns;		 /* All sampling. */
	uint64_t sites_armed, sites_hit; /* Sites that were armed, and hit, at least once, over all kernels. */
	uint64_t pairs, once, twice;	 /* Pairs of sites that raced; those that did in exactly one run, and in two. */
	uint64_t races;			 /* Races of the store. */
	uint64_t pool;			 /* Sites that the run could have sampled. 0: not known. */
	size_t build;			 /* Which build of the kernel it ran: they are numbered from 0 as they come. */
};

struct store_coverage {
	struct store_covered *list;
	size_t count;
	size_t builds; /* How many there are. */
};
void store_coverage_free(struct store_coverage *c);

/* The runs of a campaign that are done, in the order in which they started, up to the round with the id `until`, or all for 0.
 */
int store_coverage(struct store *s, const char *campaign, int64_t until, struct store_coverage *out, struct err *err);

/* ---- the store as a whole ---- */

struct store_merged {
	uint64_t rounds, runs, races, triage; /* What was not in `into` before. */
	uint64_t
		coverage_left; /* Runs whose coverage was folded with that of runs that `into` had already, and was left out. */
};

/*
 * Bring all that `from` has into `into`, run by run. Runs that `into` has already done are left as they are, so merging twice
 * changes nothing. What was said of races is kept in the history of both, and the later one holds. When it fails in the middle,
 * what is in `into` is right, and merging again goes on.
 */
int store_merge(struct store *into, struct store *from, struct store_merged *out, struct err *err);

struct store_gc_plan {
	unsigned keep_rounds; /* The newest rounds of each campaign that are not touched, at least 1. */
	int64_t before;	      /* Only rounds that were started before this are touched. 0: any. */
	bool dry_run;	      /* Only say what would be done. */
};

struct store_freed {
	uint64_t rounds;    /* Rounds of which something is folded. */
	uint64_t instances; /* Single observations that are now only counted. */
	uint64_t coverage;  /* Runs whose coverage is now only in the sums of their round. */
	int64_t bytes;	    /* What the store became smaller by on the disk; 0 for a dry run. */
};

/*
 * Fold what old rounds have in detail into sums. Never touched are a round that has not ended, the newest rounds, and what
 * belongs to races of which nobody has said anything. Lists stay what they are.
 */
int store_gc(struct store *s, const struct store_gc_plan *plan, struct store_freed *out, struct err *err);

#endif
