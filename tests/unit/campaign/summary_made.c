// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/campaign/summary_made.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

/* Append a zeroed element to a list of `count` elements. Returns its address. */
#define GROW(list, count)                                                                                       \
	((list) = realloc((list), ((count) + 1) * sizeof(*(list))), memset(&(list)[count], 0, sizeof(*(list))), \
	 &(list)[(count)++])

struct summary_race *summary_made_race(struct summary *m, enum store_change change, enum summary_class class, const char *id)
{
	struct summary_race *r = GROW(m->races, m->race_count);
	struct summary_verdict verdict = {.class = class, .rank = 90 - 20 * (int)class, .rule = "", .evidence = ""};

	*r = (struct summary_race){.id = id,
				   .side = {"write in ext4_foo [ext4]", "read in ext4_bar [ext4]"},
				   .datum = "",
				   .subsystem = "fs/ext4",
				   .change = change,
				   .verdict = verdict,
				   .before = verdict,
				   .note = "",
				   .who = "",
				   .mended = "",
				   .when = "",
				   .suppressed = "",
				   .instances = change == STORE_CHANGE_GONE ? 0 : 14,
				   .runs = change == STORE_CHANGE_GONE ? 0 : 3,
				   .rounds = change == STORE_CHANGE_NEW ? 1 : 2,
				   .judged_before = change != STORE_CHANGE_NEW,
				   .windows_before = change == STORE_CHANGE_GONE ? 1200 : 0,
				   .windows_since = change == STORE_CHANGE_GONE ? 420 : 0,
				   .missed = change == STORE_CHANGE_GONE ? 0.1234 : -1,
				   .first_round = change == STORE_CHANGE_NEW ? 3 : 1};
	r->builds = calloc(2, sizeof(*r->builds));
	assert_non_null(r->builds);
	r->build_count = 2;
	r->builds[0] = (struct summary_build){"6.1.0-55-cloud-amd64", "aa55", "0123456789ab", "2026-11-19T01:00:07Z",
					      "2026-11-20T02:00:07Z", false};
	r->builds[1] = (struct summary_build){"6.1.0-56-cloud-amd64", "aa56",
					      "ba9876543210",	      "2026-11-20T03:00:07Z",
					      "2026-11-21T22:00:07Z", change != STORE_CHANGE_GONE};
	return r;
}

static void add_races(struct summary *m)
{
	struct summary_race *r = summary_made_race(m, STORE_CHANGE_NONE, SUMMARY_BENIGN, "000000000005");

	r->subsystem = "SCHEDULER";
	r = summary_made_race(m, STORE_CHANGE_GONE, SUMMARY_UNCLEAR, "000000000004");
	r->subsystem = "net/core";
	r = summary_made_race(m, STORE_CHANGE_VERDICT, SUMMARY_HARMFUL, "000000000003");
	r->before.class = SUMMARY_BENIGN;
	r->before.rule = "safe-flag-update";
	r->verdict.rule = "no-benign-pattern";
	r = summary_made_race(m, STORE_CHANGE_BACK, SUMMARY_UNCLEAR, "000000000002");
	r->triage = STORE_TRIAGE_FIXED;
	r->mended = "6.1.115, 6.12";
	r->who = "ada";
	r->when = "2026-11-20T09:00:00Z";
	r->note = "by the patch of Tuesday";
	r = summary_made_race(m, STORE_CHANGE_NEW, SUMMARY_HARMFUL, "000000000001");
	r->datum = "inode->i_size";
	r->verdict.rule = "lock-on-one-side";
	r->verdict.evidence = "no benign pattern fits inode->i_size; ext4_foo holds a lock, and ext4_bar holds none";
}

static void add_rounds(struct summary *m)
{
	static const char *const started[] = {"2026-11-19T01:00:00Z", "2026-11-20T01:00:00Z", "2026-11-21T22:00:00Z"};
	static const char *const ended[] = {"2026-11-19T06:58:00Z", "2026-11-20T06:59:00Z", "2026-11-22T04:01:00Z"};

	for (unsigned i = 0; i < 3; i++) {
		struct summary_round *r = GROW(m->rounds, m->round_count);

		*r = (struct summary_round){.number = i + 1,
					    .now = i == 2,
					    .started = started[i],
					    .ended = ended[i],
					    .runs = 12,
					    .done = 12 - (i == 2),
					    .broken = i == 2,
					    .cut_off = i == 2,
					    .races = 13 + 2 * i,
					    .of_class = {i, 2, 0, 1, 10 + i},
					    .fresh = i ? 1 : 13,
					    .hits = 412000 + i,
					    .windows = 201000,
					    .conflicts = 60,
					    .sampled_ns = 18720 * SECOND,
					    .lost_permille = 40 + 5 * i,
					    .lost_most = 90};
		*GROW(m->points, m->point_count) = (struct summary_point){.round = i + 1,
									  .now = i == 2,
									  .sampled_ns = (i + 1) * 18720 * SECOND,
									  .sites = 40000 - 5000 / (i + 1) / (i + 1),
									  .pairs = 30 - 18 / (i + 1),
									  .estimate = 34.6 - 6.0 / (i + 1),
									  .low = 25,
									  .high = 60};
	}
}

struct summary summary_made(void)
{
	struct summary m = {.campaign = "nightly", .store = "/var/lib/outrider/campaigns.db", .version = "0.1.0"};
	struct summary_finding *f = GROW(m.findings, m.finding_count);

	m.from = m.to = 3;
	m.base = 2;
	m.pool = 425869;
	m.ends = (struct store_ends){.ended = 11, .ok = 10, .broke = 1};
	*f = (struct summary_finding){.kind = "panic",
				      .run = "6.1/cloud/syscalls/default/17",
				      .line = "Kernel panic - not syncing: Fatal exception",
				      .console = "/var/lib/outrider/runs/3/17/console.log",
				      .folder = "/var/lib/outrider/runs/3/17",
				      .command = "outrider run --kernel vmlinuz --seed 17",
				      .is_new = true};
	add_races(&m);
	add_rounds(&m);
	summary_sort(&m);
	return m;
}
