// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A store from another machine, as an SQLite file. The input changes its pages, or its rows, which may have values of any type
 * and size. The target lists it in all ways, folds it, and merges it into a store of ours. Ours must be as whole after that as
 * before.
 *
 * fuzz: slow: an input runs up to some hundred SQL statements over 22 tables, and then compares the stores and their schema
 */
#include <endian.h>
#include <sqlite3.h>
#include <string.h>

#include "hv/campaign/list/fill.h"
#include "hv/campaign/list/list.h"
#include "hv/campaign/list/race_history.h"
#include "hv/campaign/store/db_backend.h"
#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/compress.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/sqlite_files.h"

#define PIECE 0x10000 /* bytes of a file that a change can reach from where it begins */
#define TEXT_MAX 40   /* bytes of a text that is put into a row */
#define VALUE_MAX 96  /* bytes of a value in SQL */

/* What the first byte of an input selects. Its last bits select the race to show, or the list to make. */
enum { CHANGE_ROWS = 1, TO_WRITE = 2, TO_MERGE = 4, TO_LIST = 8, OPEN_ANEW = 16, WHICH = 5 };

static const char rows_sql[] =
	"INSERT INTO kernel VALUES (1, 'aabb', 'Linux version 6.1.0-1'), (2, 'ccdd', '');"
	"INSERT INTO round VALUES (1, '11112222333344445555666677778888', 'nightly', 1, 'h', 1000), "
	"(2, '21112222333344445555666677778888', 'nightly', 2, 'h', 2000), "
	"(3, '31112222333344445555666677778888', 'nightly', 3, 'h', 3000);"
	"INSERT INTO part VALUES (1, '', 1, 1000, 1500), (2, '1/2', 1, 2000, 2500), (3, '', 2, 3000, 3500);"
	"INSERT INTO run VALUES "
	"(1, 'a1', 1, 'k/i/w/s/1', 'k', 'i', 'w', 's', '1', 'run', 'c', 'f', '', 1, 0, '', 1000, 1400, 1, 9, 8, 7, 6000000000, "
	"20, 50), "
	"(2, 'a2', 2, 'k/i/w/s/1', 'k', 'i', 'w', 's', '1', 'run', 'c', 'f', '1/2', 1, 1, 'd', 2000, 2400, 2, 9, 8, 7, "
	"6000000000, 20, 50), "
	"(3, 'a3', 3, 'k/i/w/s/1', 'k', 'i', 'w', 's', '1', 'run', 'c', 'f', '', 0, 0, '', 3000, 0, 0, 0, 0, 0, 0, -1, 0), "
	"(4, 'a4', 3, 'k/i/w/s/2', 'k', 'i', 'w', 's', '2', 'run', 'c', 'f', '', 1, 0, '', 3000, 3400, 1, 9, 8, 7, 6000000000, "
	"20, 50);"
	"INSERT INTO race VALUES (1, '0123456789ab', 'one', 'x', 'r', '', 'read', 'fs/a.c', 'w', 'm', 'write', '', 'v', '', "
	"1), "
	"(2, '1123456789ab', 'two', 'x', 'r', '', 'read', '', 'w', 'm', 'write', '', '', 'p', 1), "
	"(3, '2123456789ab', 'three', 'y', 'q', '', 'read', '', 'w', '', 'write', '', '', '', 3);"
	"INSERT INTO race_place VALUES (1, 'p');"
	"INSERT INTO build_race VALUES (1, 1, 1, '0011', 'r+0x1', 'w+0x2'), (2, 2, 2, '0022', 'r+0x1', 'w+0x2'), "
	"(3, 3, 1, '0033', 'q+0x1', 'w+0x2');"
	"INSERT INTO verdict VALUES (1, 0, 70, 'no-pattern', 'e', ''), (2, 3, 20, 'flag', 'e', 's');"
	"INSERT INTO sighting VALUES (1, 1, 1, 1, 1, 3, 5, 6), (2, 2, 2, 2, 2, 3, 5, 6), (3, 1, 4, 3, 1, 3, 5, 6), (4, 3, 4, "
	"3, 2, 1, 5, 6);"
	"INSERT INTO instance VALUES (1, 0, 0, 0, 1, 5, 6), (3, 0, 1, 1, -1, 5, 6);"
	"INSERT INTO race_round VALUES (1, 1, 3, 1, 1), (2, 2, 3, 1, 2), (1, 3, 3, 1, 1), (3, 3, 1, 1, 2);"
	"INSERT INTO said VALUES (1, 1, 1500, 1, 'who', 'note'), (2, 3, 1600, 2, '', '');"
	"INSERT INTO finding VALUES (2, 0, 'panic', '[ 1.0] Kernel panic', 'console.log'), (4, 0, 'panic', '[ 2.0] Kernel "
	"panic', '');"
	"INSERT INTO site VALUES (1, 'r+0x1', 2, 1, 1, 1, 2, 1000, 1000), (1, 'w+0x2', 2, 0, 0, 0, 2, 1000, 0), (2, 'r+0x1', "
	"1, 1, 0, 0, 1, 2000, "
	"2000);"
	"INSERT INTO given VALUES ('nightly', 4);"
	"INSERT INTO mended VALUES (2, '6.1.115'), (2, '6.12');";

/* What a row can be made to have. */
static const char *const columns[][2] = {
	{"kernel", "build_id"},
	{"kernel", "banner"},
	{"round", "uuid"},
	{"round", "campaign"},
	{"round", "number"},
	{"round", "plan_hash"},
	{"round", "started"},
	{"part", "shard"},
	{"part", "planned"},
	{"part", "started"},
	{"part", "ended"},
	{"run", "uuid"},
	{"run", "round_id"},
	{"run", "cell"},
	{"run", "seed"},
	{"run", "command"},
	{"run", "state"},
	{"run", "outcome"},
	{"run", "detail"},
	{"run", "started"},
	{"run", "ended"},
	{"run", "kernel_id"},
	{"run", "hits"},
	{"run", "sampled_ns"},
	{"run", "lost_permille"},
	{"run", "pool"},
	{"race", "name"},
	{"race", "identity"},
	{"race", "sides"},
	{"race", "function0"},
	{"race", "kind1"},
	{"race", "file0"},
	{"race", "datum"},
	{"race", "place"},
	{"race", "line"},
	{"race_place", "race_id"},
	{"race_place", "place"},
	{"build_race", "race_id"},
	{"build_race", "kernel_id"},
	{"build_race", "report"},
	{"build_race", "site0"},
	{"verdict", "class"},
	{"verdict", "rank"},
	{"verdict", "rule"},
	{"verdict", "evidence"},
	{"verdict", "suppressed"},
	{"sighting", "run_id"},
	{"sighting", "round_id"},
	{"sighting", "verdict_id"},
	{"sighting", "seen"},
	{"sighting", "first_ns"},
	{"instance", "how"},
	{"instance", "cpu0"},
	{"instance", "time_ns"},
	{"instance", "number"},
	{"record", "started"},
	{"record", "run_uuid"},
	{"record", "data"},
	{"record", "latest"},
	{"race_round", "seen"},
	{"race_round", "runs"},
	{"race_round", "verdict_id"},
	{"said", "at"},
	{"said", "state"},
	{"said", "note"},
	{"finding", "kind"},
	{"finding", "line"},
	{"finding", "file"},
	{"finding", "number"},
	{"site", "name"},
	{"site", "armed"},
	{"site", "hits"},
	{"site", "first_armed"},
	{"site", "kernel_id"},
	{"cover", "runs"},
	{"cover", "run_id"},
	{"cover", "data"},
	{"given", "number"},
	{"mended", "said_id"},
	{"mended", "version"},
};

static const char *const values[] = {
	"0",
	"1",
	"2",
	"3",
	"4",
	"-1",
	"9223372036854775807",
	"-9223372036854775808",
	"1e300",
	"'a'",
	"''",
	"x''",
	"x'00ff0a'",
	"zeroblob(100000)",
	"printf('%.100000c', 'x')",
	"char(10, 27, 0, 65)",
	"'~'",
	"65536",
};

struct world {
	char folder[64], path[80], into[80];
	struct fuzz_files files;
	uint32_t changes; /* of files, so far */
	/* Stores that stay open: to open one and to prepare its statements takes four times as long as to ask them. The first
	 * two are of `path`, to read and to write. */
	struct store *kept[2], *target;
	sqlite3 *changer;
	uint8_t *file, *empty; /* the store that is right, and one without a row */
	size_t size, empty_size;
};

static void remove_world(void)
{
	char command[96];
	const char *folder = getenv("OUTRIDER_FUZZ_STORE");

	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	if (folder && system(command) != 0)
		perror(folder);
}

/* SQLite's files are in memory. What looks whether there is one finds an empty one. */
static void make_place(const struct world *w, const char *name, char path[80])
{
	FILE *f;

	snprintf(path, 80, "%s/%s", w->folder, name);
	f = fopen(path, "w");
	fuzz_require(f);
	fclose(f);
}

static uint8_t *copy_of(struct fuzz_files *files, const char *path, size_t *size)
{
	const uint8_t *there = fuzz_files_get(files, path, size);
	uint8_t *bytes = malloc(*size + 1);

	fuzz_require(there && bytes);
	return memcpy(bytes, there, *size);
}

static void fill(struct store *s)
{
	static const char record[] = "{\"id\": \"0011\"}", cover[] = "r+0x1 1 1 1 1\nw+0x2 1 0 0 0\n";
	struct err err = {0};
	size_t record_size, cover_size;
	void *r = record_compress(record, strlen(record), &record_size, &err),
	     *c = record_compress(cover, strlen(cover), &cover_size, &err);

	fuzz_require(r && c && db_begin(s->db, true, &err) == 0 && db_script(s->db, rows_sql, &err) == 0);
	for (int64_t i = 0; i < 2; i++)
		fuzz_require(db_run(s->db, &err, "INSERT INTO record VALUES (1, $1, 1000, 'a1', '0011', $2)", "ib", i, r,
				    record_size) == 1);
	fuzz_require(db_run(s->db, &err, "INSERT INTO cover VALUES (1, 1, 1, 1, $1), (2, 0, 2, 1, $1), (3, 4, 1, 1, $1)", "b",
			    c, cover_size) == 3);
	fuzz_require(db_commit(s->db, &err) == 0);
	free(r);
	free(c);
}

static void make_world(struct world *w)
{
	struct err err = {0};
	struct store *s;

	snprintf(w->folder, sizeof(w->folder), "/dev/shm/outrider-fuzz.XXXXXX");
	fuzz_require(mkdtemp(w->folder));
	setenv("OUTRIDER_FUZZ_STORE", w->folder, 1);
	atexit(remove_world);
	make_place(w, "s.db", w->path);
	make_place(w, "i.db", w->into);
	fuzz_files_init(&w->files);
	s = store_open(w->path, STORE_MAKE, 0, &err);
	fuzz_require(s);
	store_close(s);
	w->empty = copy_of(&w->files, w->path, &w->empty_size);
	s = store_open(w->path, STORE_WRITE, 0, &err);
	fuzz_require(s);
	fill(s);
	store_close(s);
	w->file = copy_of(&w->files, w->path, &w->size);
	for (int i = 0; i < 2; i++) {
		w->kept[i] = store_open(w->path, i ? STORE_WRITE : STORE_READ, 0, &err);
		fuzz_require(w->kept[i]);
	}
	fuzz_files_put(&w->files, w->into, w->empty, w->empty_size);
	w->target = store_open(w->into, STORE_WRITE, 0, &err);
	fuzz_require(w->target && sqlite3_open(w->path, &w->changer) == SQLITE_OK);
	/* Nothing is ever on a disk. */
	fuzz_require(db_script(w->target->db, "PRAGMA synchronous=OFF", &err) == 0 &&
		     db_script(w->kept[1]->db, "PRAGMA synchronous=OFF", &err) == 0);
	sqlite3_exec(w->changer, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY", NULL, NULL, NULL);
}

/* ---- what is changed ---- */

/*
 * The first page of a file says how often the file was changed, so that SQLite drops what it has read. In a store that stays
 * open the schema must be the one that the store compared: only the owner of the file can change it under an open store.
 */
static void put(struct world *w, const char *path, uint8_t *bytes, size_t size, const uint8_t *right)
{
	enum { CHANGES = 24, COOKIE = 40, VALID_FOR = 92 };
	uint32_t count = htobe32(++w->changes);

	memcpy(bytes + CHANGES, &count, sizeof(count));
	memcpy(bytes + VALID_FOR, &count, sizeof(count));
	memcpy(bytes + COOKIE, right + COOKIE, sizeof(count));
	fuzz_files_put(&w->files, path, bytes, size);
}

static void change_pages(struct world *w, const uint8_t *data, size_t size)
{
	struct fuzz_range ranges[16];
	uint8_t *bytes = malloc(w->size);
	size_t count = 0;

	fuzz_require(bytes);
	memcpy(bytes, w->file, w->size);
	for (size_t at = 0; at < w->size && count < 16; at += PIECE, count++)
		ranges[count] = (struct fuzz_range){bytes + at, w->size - at < PIECE ? w->size - at : PIECE};
	fuzz_patch(ranges, count, data, size);
	put(w, w->path, bytes, w->size, w->file);
	free(bytes);
}

/* Three bytes for each change: the column, the row, and the value. */
static void change_rows(struct world *w, const uint8_t *data, size_t size)
{
	char sql[VALUE_MAX + 128];
	sqlite3 *db = w->changer;

	put(w, w->path, w->file, w->size, w->file);
	sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	for (; size >= 3; data += 3, size -= 3) {
		const char *const *column = columns[data[0] % (sizeof(columns) / sizeof(columns[0]))];

		snprintf(sql, sizeof(sql),
			 "UPDATE OR IGNORE %s SET %s = %s WHERE %u = 0 OR %s IN (SELECT %s FROM %s LIMIT 1 OFFSET %u)",
			 column[0], column[1], values[data[2] % (sizeof(values) / sizeof(values[0]))], data[1] % 5u, column[1],
			 column[1], column[0], data[1] % 5u);
		sqlite3_exec(db, sql, NULL, NULL, NULL);
	}
	fuzz_require(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
}

/* ---- what is done with it ---- */

static void said(int rc, struct err *err)
{
	if (rc < 0)
		fuzz_refused(err);
	*err = (struct err){0};
}

static int each_site(void *ctx, const struct store_site *site)
{
	*(uint64_t *)ctx += site->hits + strlen(site->name);
	return 0;
}

static int each_pair(void *ctx, const struct store_pair *pair)
{
	*(uint64_t *)ctx += pair->runs + strlen(pair->site[0]) + strlen(pair->site[1]);
	return 0;
}

/* A stream for output that is not read. It keeps the same memory, as allocating it anew took longer than all writes to it. */
static FILE *open_sink(void)
{
	static char sink[1 << 18];
	FILE *out = fmemopen(sink, sizeof(sink), "w");

	fuzz_require(out);
	return out;
}

static void look_at_race(struct store *s, int64_t race)
{
	struct store_history triage;
	struct err err = {0};
	struct race_history *history = race_history_get(s, race, NULL, "0", &err);
	FILE *out = open_sink();

	said(history ? 0 : -1, &err);
	if (history)
		said(race_history_text(out, history, &(struct list_style){0}, &err), &err);
	if (history)
		said(race_history_json(out, history, &err), &err);
	race_history_free(history);
	fclose(out);
	said(store_history(s, race, &triage, &err), &err);
	store_history_free(&triage);
}

static void look(struct store *s, unsigned which)
{
	struct store_races races = {0};
	struct store_runs runs;
	struct store_pairs pairs;
	struct err err = {0};
	uint64_t sum = 0;
	int64_t race;

	said(store_races(s, &(struct store_races_query){0}, &races, &err), &err);
	if (races.count)
		look_at_race(s, races.list[which % races.count].id);
	store_races_free(&races);
	said(store_race_find(s, "0", &race, &err), &err);
	said(store_runs(s, 3, &runs, &err), &err);
	store_runs_free(&runs);
	said(store_pairs(s, NULL, 0, &pairs, &err), &err);
	said(store_sites(s, "aabb", each_site, &sum, &err), &err);
	said(store_each_pair(s, "aabb", each_pair, &sum, &err), &err);
}

static void list(struct store *s, unsigned which)
{
	const struct summary_query ask = {.all = true, .bugs = true};
	struct list_style style = {.all = true};
	struct summary m = {0};
	struct err err = {0};
	FILE *out = open_sink();
	int rc = summary_fill(&m, s, &ask, "0", &err);

	if (rc == 0) {
		switch (which % 4) {
		case 0:
			list_text(out, &m, &style);
			break;
		case 1:
			list_mail(out, &m, &style);
			break;
		case 2:
			list_html(out, &m);
			break;
		default:
			rc = list_json(out, &m, &err);
		}
	}
	said(rc, &err);
	fclose(out);
	summary_free(&m);
}

/* A store of ours that was merged into is whole. */
static void merge(struct world *w, struct store *from)
{
	struct store_merged merged;
	struct err err = {0};
	struct store *into = w->target;
	int64_t wrong = 0;

	put(w, w->into, w->empty, w->empty_size, w->empty);
	said(store_merge(into, from, &merged, &err), &err);
	fuzz_require(db_number(into->db, &err, &wrong,
			       "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "") >= 0 &&
		     wrong == 0);
	fuzz_require(db_number(into->db, &err, &wrong, "SELECT count(*) FROM pragma_foreign_key_check", "") >= 0 && wrong == 0);
}

static void change(struct store *s)
{
	struct store_freed freed;
	struct err err = {0};
	uint64_t number;

	said(store_round_number(s, "nightly", &number, &err), &err);
	said(store_triage_set(s, 1, STORE_TRIAGE_KNOWN, "n", "w", 0, &err), &err);
	said(store_gc(s, &(struct store_gc_plan){.keep_rounds = 1}, &freed, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world w;
	struct err err = {0};
	struct store *s;

	if (!w.file)
		make_world(&w);
	if (!size)
		return 0;
	if (data[0] & CHANGE_ROWS)
		change_rows(&w, data + 1, size - 1);
	else
		change_pages(&w, data + 1, size - 1);
	if (data[0] & OPEN_ANEW)
		s = store_open(w.path, data[0] & TO_WRITE ? STORE_WRITE : STORE_READ, 0, &err);
	else
		s = w.kept[(data[0] & TO_WRITE) != 0];
	if (!s) {
		fuzz_refused(&err);
		return 0;
	}
	s->db->steps = 0;
	if (data[0] & TO_LIST)
		list(s, data[0] >> WHICH);
	else
		look(s, data[0] >> WHICH);
	if (data[0] & TO_MERGE)
		merge(&w, s);
	if (data[0] & TO_WRITE)
		change(s);
	if (data[0] & OPEN_ANEW)
		store_close(s);
	return 0;
}
