// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores made to attack the program that reads or merges them. The program refuses each with a one-line error before it uses a
 * row.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hv/campaign/store/internal.h"
#include "hv/campaign/store/compress.h"
#include "hv/campaign/store/db_backend.h"
#include "tests/unit/campaign/store_both.h"

/* ---- rig ---- */

/* An attacker may use everything that SQLite can do. */
static void attack(const char *place, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	sqlite3_close(db);
}

static void refused(const char *place, enum store_mode mode, const char *why)
{
	struct err err = {0};
	struct store *s = store_open(place, mode, 50, &err);

	if (s)
		fail_msg("%s was opened, and should have been refused: %s", place, why);
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	assert_null(strchr(err.text, '\n'));
}

/* Make a store with a run that has races. Returns the id of the run. */
static int64_t with_a_run(struct fixture *f)
{
	int64_t round = store_rig_round(f->s, "nightly", NULL);

	return run_with(f, round, "a", RACES({.variable = "jiffies", .rule = "no-pattern", .rank = 70, .count = 3}));
}

static int merge_it(struct fixture *f, struct err *err)
{
	struct store *from = store_rig_open(f->place, STORE_READ), *into;
	struct store_merged merged;
	char place[RIG_PLACE_MAX];
	int rc;

	store_rig_place(&f->rig, RIG_SQLITE, place);
	into = store_rig_open(place, STORE_MAKE);
	rc = store_merge(into, from, &merged, err);
	store_close(from);
	store_close(into);
	return rc;
}

/* ---- attacks in the schema ---- */

static const struct schema_attack {
	const char *sql, *why;
} schema_attacks[] = {
	{"DROP TABLE given; CREATE VIRTUAL TABLE given USING fts5(campaign, number)", "given"},
	{"DROP TABLE given; CREATE VIRTUAL TABLE given USING fts3(campaign, number); "
	 "UPDATE given_segdir SET root = x'ffffffffffffffffff'",
	 "given"},
	{"DROP TABLE given; CREATE VIRTUAL TABLE given USING dbstat", "given"},
	{"CREATE VIRTUAL TABLE other USING rtree(id, low, high)", "other"},
	{"DROP TABLE given; CREATE VIEW given AS SELECT 'nightly' AS campaign, 1 AS number", "given"},
	{"CREATE VIEW other AS SELECT 1", "the view other, which outrider does not make"},
	{"CREATE TABLE other (x)", "the table other, which outrider does not make"},
	{"CREATE TRIGGER other AFTER INSERT ON said BEGIN DELETE FROM run; END",
	 "the trigger other, which outrider does not make"},
	{"CREATE INDEX other ON run (upper(cell))", "the index other, which outrider does not make"},
	{"DROP INDEX race_by_name", "no index race_by_name, which outrider makes"},
	{"DROP INDEX race_by_name; CREATE INDEX race_by_name ON race (name) WHERE id > 1",
	 "race_by_name is not as outrider makes it"},
	/* 160 KB made outrider take 2.7 GiB. */
	{"DROP TABLE finding; CREATE TABLE finding (run_id BIGINT NOT NULL REFERENCES run (id), number BIGINT NOT NULL, kind "
	 "TEXT "
	 "NOT NULL, line TEXT GENERATED ALWAYS AS (printf('%.100000000c', 'x')) VIRTUAL, file TEXT NOT NULL, PRIMARY KEY "
	 "(run_id, number)) WITHOUT ROWID",
	 "finding is not as outrider makes it"},
	{"PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, 'campaign TEXT NOT NULL', 'campaign TEXT') "
	 "WHERE name = 'round'",
	 "round is not as outrider makes it"},
	{"PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = "
	 "'run') "
	 "WHERE name = 'round'",
	 "not as outrider makes it"},
	{"PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = sql || printf('%.1000000c', ' ') WHERE name = 'round'",
	 "damaged"},
	{"PRAGMA user_version=-1", "no store of campaigns"},
};

static void a_foreign_schema_is_refused(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(schema_attacks) / sizeof(schema_attacks[0]); i++) {
		char place[RIG_PLACE_MAX];

		store_rig_place(&f->rig, f->kind, place);
		store_close(store_rig_open(place, STORE_MAKE));
		attack(place, schema_attacks[i].sql);
		refused(place, STORE_READ, schema_attacks[i].why);
		refused(place, STORE_WRITE, schema_attacks[i].why);
	}
}

/* Each version has its own tables. */
static void a_store_has_the_tables_of_its_version(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	f->s = NULL;
	attack(f->place, "PRAGMA user_version=1");
	refused(f->place, STORE_WRITE, "the table explored, which outrider does not make");
	attack(f->place, "DROP TABLE explored");
	refused(f->place, STORE_WRITE, "the table given, which outrider does not make");
	attack(f->place, "DROP TABLE given");
	refused(f->place, STORE_WRITE, "the table mended, which outrider does not make");
	attack(f->place, "DROP TABLE mended");
	refused(f->place, STORE_WRITE, "the table talks, which outrider does not make");
	attack(f->place, "DROP TABLE talks; DROP INDEX race_by_name");
	refused(f->place, STORE_WRITE, "no index race_by_name, which outrider makes");
	attack(f->place, "CREATE INDEX race_by_name ON race (name)");
	store_close(store_rig_open(f->place, STORE_WRITE));
	store_close(store_rig_open(f->place, STORE_READ));
}

/* A store that outrider itself has cleaned up is no attack. */
static void a_store_that_was_cleaned_up_is_read(void **state)
{
	struct fixture *f = *state;

	with_a_run(f);
	assert_int_equal(db_shrink(f->s->db, &f->err), 0);
	attack(f->place, "VACUUM; ANALYZE");
	store_close(store_rig_open(f->place, STORE_READ));
	assert_int_equal(merge_it(f, &f->err), 0);
}

static void what_is_no_file_is_refused(void **state)
{
	struct fixture *f = *state;
	char place[RIG_PLACE_MAX];

	store_rig_place(&f->rig, f->kind, place);
	assert_int_equal(mkfifo(place, 0600), 0);
	/* The FIFO has no writer. */
	refused(place, STORE_READ, "no regular file");
	refused(place, STORE_MAKE, "no regular file");
	refused("/dev/zero", STORE_READ, "no regular file");
}

/* ---- attacks in the rows ---- */

static void a_long_text_is_refused(void **state)
{
	struct fixture *f = *state;
	struct store_races races;

	with_a_run(f);
	store_close(f->s);
	attack(f->place, "UPDATE race SET function0 = printf('%.1000000c', 'x')");
	f->s = store_rig_open(f->place, STORE_READ);
	assert_int_equal(store_races(f->s, &(struct store_races_query){0}, &races, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
	assert_non_null(strstr(f->err.text, "a text in it has 1000000 bytes"));
	f->err = (struct err){0};
	assert_int_equal(merge_it(f, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
}

/* A blob in place of a text is refused for its length, which may include bytes after a NUL. */
static void long_bytes_are_no_text(void **state)
{
	struct fixture *f = *state;

	with_a_run(f);
	store_close(f->s);
	f->s = NULL;
	attack(f->place, "UPDATE run SET command = zeroblob(50000000)");
	assert_int_equal(merge_it(f, &f->err), -1);
	assert_non_null(strstr(f->err.text, "a text in it has 50000000 bytes"));
}

static void a_value_without_end_is_refused(void **state)
{
	struct fixture *f = *state;

	with_a_run(f);
	store_close(f->s);
	f->s = NULL;
	attack(f->place, "UPDATE record SET data = zeroblob(100000000)");
	assert_int_equal(merge_it(f, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
}

/* A compressed record that expands to more than any real record. */
static void a_record_that_swells_is_refused(void **state)
{
	/* 200 MiB of one letter, compressed by zlib. */
	enum { SWOLLEN = 200 << 20 };
	struct fixture *f = *state;
	char *text = malloc(SWOLLEN), *back;
	size_t size;
	void *data;

	assert_non_null(text);
	memset(text, 'x', SWOLLEN);
	data = record_compress(text, SWOLLEN, &size, &f->err);
	free(text);
	assert_non_null(data);
	back = record_decompress(data, size, "s", &f->err);
	assert_null(back);
	assert_int_equal(f->err.code, EXIT_INPUT);
	free(data);
}

/* Few rows on the disk become many when SQL joins them: each of N races of one run has each of N places. */
static void rows_that_multiply_end(void **state)
{
	struct fixture *f = *state;

	with_a_run(f);
	store_close(f->s);
	f->s = NULL;
	attack(f->place,
	       "WITH n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO race_place SELECT 1, "
	       "printf('%.200c', 'p') || i FROM n; "
	       "WITH n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO build_race SELECT i, 1, 1, "
	       "'r' || i, 'a', 'b' FROM n; "
	       "INSERT INTO sighting SELECT id, id, 1, 1, 1, 1, 1, 1 FROM build_race WHERE id >= 100");
	assert_int_equal(merge_it(f, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
	assert_non_null(strstr(f->err.text, "more than the limit"));
}

static void work_without_end_ends(void **state)
{
	struct fixture *f = *state;
	struct store_races races;

	with_a_run(f);
	store_close(f->s);
	attack(f->place,
	       "WITH n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) INSERT INTO race_place SELECT 1, "
	       "'p' || i FROM n");
	f->s = store_rig_open(f->place, STORE_READ);
	/* The limit that a store of a few bytes would have. */
	f->s->db->steps_max = 1000;
	assert_int_equal(db_sound(f->s->db, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
	assert_non_null(strstr(f->err.text, "more work than its size"));
	f->err = (struct err){0};
	f->s->db->steps_max = UINT64_MAX;
	assert_int_equal(store_races(f->s, &(struct store_races_query){0}, &races, &f->err), 0);
	store_races_free(&races);
}

/* The root page of a table is outside of the file. A merge reads the whole file before it writes anything. */
static void a_damaged_page_stops_a_merge(void **state)
{
	struct fixture *f = *state;

	with_a_run(f);
	store_close(f->s);
	f->s = NULL;
	attack(f->place, "PRAGMA writable_schema=ON; UPDATE sqlite_master SET rootpage = (SELECT max(rootpage) + 1 FROM "
			 "sqlite_master) WHERE name = 'given'");
	assert_int_equal(merge_it(f, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
	assert_non_null(strstr(f->err.text, "damaged"));
}

/* ---- a server ---- */

/* Each attack is in the schema of an otherwise correct store. The function leaves a trace if the program calls it. */
static const char *const server_attacks[] = {
	"CREATE VIEW other AS SELECT 1",
	"ALTER TABLE mark RENAME TO kept; CREATE VIEW mark AS SELECT application, version FROM kept",
	"CREATE FUNCTION count(smallint) RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'",
	"CREATE TABLE called (x int8); CREATE FUNCTION call() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO "
	"outrider.called VALUES (1); RETURN NEW; END'; CREATE TRIGGER t BEFORE INSERT ON round FOR EACH ROW EXECUTE FUNCTION "
	"call()",
	"CREATE RULE r AS ON INSERT TO round DO INSTEAD NOTHING",
	"ALTER TABLE finding DROP COLUMN line; ALTER TABLE finding ADD line text GENERATED ALWAYS AS (repeat('x', 1000000)) "
	"STORED",
	"ALTER TABLE finding ALTER line SET DEFAULT pg_sleep(1000)::text",
	"ALTER TABLE round ADD CHECK (number < 10)",
	"CREATE INDEX other ON run (upper(cell))",
	"ALTER TABLE round ENABLE ROW LEVEL SECURITY",
	"ALTER TABLE round ALTER plan_hash TYPE json USING '{}'",
	"CREATE TYPE other AS ENUM ('a')",
	"CREATE DOMAIN other AS text CHECK (length(VALUE) > 1)",
	"CREATE TABLE other (LIKE round); ALTER TABLE other INHERIT round",
};

static void a_foreign_schema_of_a_server_is_refused(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(server_attacks) / sizeof(server_attacks[0]); i++) {
		char place[RIG_PLACE_MAX], sql[1024];

		store_rig_place(&f->rig, f->kind, place);
		store_close(store_rig_open(place, STORE_MAKE));
		snprintf(sql, sizeof(sql), "SET search_path TO outrider; %s", server_attacks[i]);
		postgres_rig_sql(place, sql);
		refused(place, STORE_READ, "things that outrider does not make");
		refused(place, STORE_WRITE, "things that outrider does not make");
	}
}

static void a_long_text_of_a_server_is_refused(void **state)
{
	struct fixture *f = *state;
	struct store_races races;

	with_a_run(f);
	postgres_rig_sql(f->place, "UPDATE outrider.race SET function0 = repeat('x', 1000000)");
	assert_int_equal(store_races(f->s, &(struct store_races_query){0}, &races, &f->err), -1);
	assert_non_null(strstr(f->err.text, "a text in it has 1000000 bytes"));
}

/* Messages of a server in version 3 of the protocol: a letter, and a length that includes itself. */
static const char welcome[] = "R\0\0\0\10\0\0\0\0Z\0\0\0\5I";
/* Among them: a row without columns, a row with a NULL, and no row. */
static const struct answer {
	const char *bytes;
	size_t len;
} answers[] = {
#define ANSWER(text)                   \
	{                              \
		text, sizeof(text) - 1 \
	}
	ANSWER("T\0\0\0\6\0\0D\0\0\0\6\0\0C\0\0\0\15SELECT 1\0Z\0\0\0\5I"),
	ANSWER("T\0\0\0\32\0\1x\0\0\0\0\0\0\0\0\0\0\24\0\10\0\0\0\0\0\0D\0\0\0\12\0\1\377\377\377\377C\0\0\0\15SELECT "
	       "1\0Z\0\0\0\5I"),
	ANSWER("C\0\0\0\15SELECT 0\0Z\0\0\0\5I"),
	ANSWER("D\0\0\0\6\0\1C\0\0\0\15SELECT 1\0Z\0\0\0\5I"),
	ANSWER("T\377\377\377\377\0\0"),
};

/* Start a server that accepts one connection and answers every query with `a`. */
static pid_t start_liar(int listener, const struct answer *a)
{
	pid_t child = fork();
	char bytes[4096];
	int fd;

	assert_true(child >= 0);
	if (child)
		return child;
	fd = accept(listener, NULL, NULL);
	if (read(fd, bytes, sizeof(bytes)) > 0 && write(fd, welcome, sizeof(welcome) - 1) > 0) {
		while (read(fd, bytes, sizeof(bytes)) > 0 && write(fd, a->bytes, a->len) > 0)
			;
	}
	_exit(0);
}

static void a_server_that_answers_anything_is_refused(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char place[RIG_PLACE_MAX];
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/.s.PGSQL.5432", f->rig.folder);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 4), 0);
	snprintf(place, sizeof(place), "postgresql:///x?host=%s&sslmode=disable&gssencmode=disable", f->rig.folder);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		pid_t liar = start_liar(listener, &answers[i]);

		refused(place, STORE_READ, "server");
		kill(liar, SIGKILL);
		waitpid(liar, NULL, 0);
	}
	close(listener);
}

/* ---- the files of a run ---- */

/* Store a run whose file is `path`. The store leaves the file out, and the error has the reason and the path. */
static void left_out(struct fixture *f, bool coverage, const char *path, const char *why)
{
	int64_t round = store_rig_round(f->s, "nightly", NULL), id;
	struct store_run_plan plan = {.key = "a"};
	struct store_run_result result = {
		.outcome = STORE_OK, .races = coverage ? NULL : path, .coverage = coverage ? path : NULL};
	enum store_bad bad;

	assert_int_equal(store_run_begin(f->s, round, &plan, &id, &f->err), 0);
	assert_int_equal(store_run_end(f->s, id, &result, &bad, &f->err), -1);
	assert_int_equal(bad, coverage ? STORE_BAD_COVERAGE : STORE_BAD_RACES);
	if (!strstr(f->err.text, why) || !strstr(f->err.text, path))
		fail_msg("'%s' does not say '%s'", f->err.text, why);
	f->err = (struct err){0};
}

static void a_file_of_a_run_is_a_file(void **state)
{
	struct fixture *f = *state;
	char report[128], place[160];

	snprintf(report, sizeof(report), "%s", store_rig_report(&f->rig, "races.json", RACES({.count = 1})));
	for (int coverage = 0; coverage < 2; coverage++) {
		snprintf(place, sizeof(place), "%s/link%d", f->rig.folder, coverage);
		assert_int_equal(symlink(report, place), 0);
		left_out(f, coverage, place, "it is a link");
		snprintf(place, sizeof(place), "%s/fifo%d", f->rig.folder, coverage);
		assert_int_equal(mkfifo(place, 0600), 0);
		left_out(f, coverage, place, "no regular file");
		snprintf(place, sizeof(place), "%s/sparse%d", f->rig.folder, coverage);
		assert_int_equal(truncate(store_rig_file(&f->rig, coverage ? "sparse1" : "sparse0", "{"), (off_t)1 << 40), 0);
		left_out(f, coverage, place, "more than the limit");
	}
}

/* A million brackets. A recursive reader would overflow its stack. */
static void deep_json_is_refused(void **state)
{
	enum { DEEP = 1000000 };
	struct fixture *f = *state;
	char *text = malloc(DEEP + 32);

	assert_non_null(text);
	strcpy(text, "{\"races\": ");
	memset(text + strlen(text), '[', DEEP);
	text[DEEP + 11] = '\0';
	left_out(f, false, store_rig_file(&f->rig, "deep", text), "depth");
	free(text);
}

int main(void)
{
#define FILE_ONLY(test)                               \
	{                                             \
#test, test, setup, teardown, &sqlite \
	}
	const struct CMUnitTest tests[] = {
		FILE_ONLY(a_foreign_schema_is_refused),
		FILE_ONLY(a_store_has_the_tables_of_its_version),
		FILE_ONLY(a_store_that_was_cleaned_up_is_read),
		FILE_ONLY(what_is_no_file_is_refused),
		FILE_ONLY(a_long_text_is_refused),
		FILE_ONLY(long_bytes_are_no_text),
		FILE_ONLY(a_value_without_end_is_refused),
		FILE_ONLY(a_record_that_swells_is_refused),
		FILE_ONLY(rows_that_multiply_end),
		FILE_ONLY(work_without_end_ends),
		FILE_ONLY(a_damaged_page_stops_a_merge),
		{"a_foreign_schema_of_a_server_is_refused", a_foreign_schema_of_a_server_is_refused, setup, teardown,
		 &postgres},
		{"a_long_text_of_a_server_is_refused", a_long_text_of_a_server_is_refused, setup, teardown, &postgres},
		FILE_ONLY(a_server_that_answers_anything_is_refused),
		FILE_ONLY(a_file_of_a_run_is_a_file),
		FILE_ONLY(deep_json_is_refused),
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}
