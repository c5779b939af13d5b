// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores that cannot be used, and stores that fail during use. The error is one clear line. No run is lost or half written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "hv/base/clock.h"
#include "hv/campaign/store/schema.h"
#include "tests/unit/campaign/store_both.h"

/* ---- rig ---- */

static void refused(const char *place, enum store_mode mode, const char *why)
{
	struct err err = {0};
	struct store *s = store_open(place, mode, 50, &err);

	if (s)
		fail_msg("%s was opened", place);
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	assert_null(strchr(err.text, '\n'));
}

/* Run SQL that no version of outrider runs on a store. */
static void sql(const struct fixture *f, const char *text)
{
	char command[1024];
	sqlite3 *db;

	if (f->kind == RIG_POSTGRES) {
		snprintf(command, sizeof(command), "SET search_path TO outrider; %s", text);
		postgres_rig_sql(f->place, command);
		return;
	}
	assert_int_equal(sqlite3_open(f->place, &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	sqlite3_close(db);
}

static int is_ok(void *ctx, int columns, char **values, char **names)
{
	(void)columns;
	(void)names;
	*(bool *)ctx = strcmp(values[0], "ok") == 0;
	return 0;
}

/* Check that the database finds no damage in the file, and that no row refers to a missing row. */
static void check_integrity(const struct fixture *f)
{
	bool ok = false;
	sqlite3 *db;

	if (f->kind == RIG_POSTGRES)
		return;
	assert_int_equal(sqlite3_open(f->place, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA integrity_check", is_ok, &ok, NULL), SQLITE_OK);
	assert_true(ok);
	ok = true;
	assert_int_equal(sqlite3_exec(db, "PRAGMA foreign_key_check", is_ok, &ok, NULL), SQLITE_OK);
	assert_true(ok);
	sqlite3_close(db);
}

/* The number of races of a run that was stored completely. */
#define LARGE_RACES 100

/* A report with many races, so that storing a run takes some time and space. */
static const struct rig_report *large_report(void)
{
	enum { MANY = LARGE_RACES };
	static struct rig_race races[MANY];
	static char names[MANY][16];
	static struct rig_report report = {.races = races, .count = MANY};

	for (unsigned i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "reader_%u", i);
		races[i] = (struct rig_race){.function = {names[i], NULL}, .rule = "no-pattern", .rank = 70, .count = 8};
	}
	return &report;
}

/* ---- files that are no store, and stores of others ---- */

static void a_newer_store_is_refused(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	f->s = NULL;
	sql(f, f->kind == RIG_SQLITE ? "PRAGMA user_version = 99" : "UPDATE mark SET version = 99");
	refused(f->place, STORE_READ, "version 99");
	refused(f->place, STORE_WRITE, "a newer one");
	refused(f->place, STORE_MAKE, "versions up to");
}

static void another_database_is_refused(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	f->s = NULL;
	sql(f, f->kind == RIG_SQLITE ? "PRAGMA application_id = 7" : "DROP TABLE mark");
	refused(f->place, STORE_MAKE, "no store of campaigns");
	refused(f->place, STORE_READ, "no store of campaigns");
}

static void an_empty_place_is_not_read(void **state)
{
	struct fixture *f = *state;
	char place[RIG_PLACE_MAX];

	store_rig_place(&f->rig, f->kind, place);
	if (f->kind == RIG_SQLITE)
		refused(place, STORE_READ, "No such file or directory");
	else
		refused(place, STORE_READ, "there is no store of campaigns here yet");
	refused(f->kind == RIG_SQLITE ? "/proc/none/store.db" : "postgresql:///x?host=/nowhere", STORE_MAKE,
		f->kind == RIG_SQLITE ? "cannot make this folder" : "cannot reach the store's server");
}

static void a_password_is_never_said(void **state)
{
	const char *const places[] = {"postgresql://me:secret@/x?host=/nowhere", "postgresql://me:sec?ret@/x?host=/nowhere",
				      "postgresql:///x?host=/nowhere&password=secret"};

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct err err = {0};

		assert_null(store_open(places[i], STORE_READ, 50, &err));
		assert_non_null(strstr(err.text, i < 2 ? "postgresql://me@/x: cannot reach" : "postgresql:///x: cannot reach"));
		assert_null(strstr(err.text, "sec"));
	}
}

static void a_file_that_is_no_database_is_refused(void **state)
{
	struct fixture *f = *state;
	const char *path = store_rig_file(&f->rig, "text",
					  "This is a text, and it is longer than the head of a database, which is "
					  "some hundred bytes long; so that it is read as one.\n");

	refused(path, STORE_MAKE, "no store of campaigns (not an SQLite database)");
	refused(f->rig.folder, STORE_READ, "Is a directory");
}

/* All bytes of a file. */
static char *bytes_of(const char *path, size_t *len)
{
	FILE *in = fopen(path, "r");
	char *bytes = malloc(1 << 16);

	assert_true(in && bytes);
	*len = fread(bytes, 1, 1 << 16, in);
	fclose(in);
	return bytes;
}

/* The store refuses a database of another program and changes none of its bytes, for example not its journal mode. */
static void another_file_stays_as_it_is(void **state)
{
	struct fixture *f = *state;
	char place[RIG_PLACE_MAX], *before, *after;
	size_t len[2];
	sqlite3 *db;

	store_rig_place(&f->rig, f->kind, place);
	assert_int_equal(sqlite3_open(place, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE others (x); INSERT INTO others VALUES (1)", NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	before = bytes_of(place, &len[0]);
	refused(place, STORE_MAKE, "no store of campaigns");
	refused(place, STORE_WRITE, "no store of campaigns");
	after = bytes_of(place, &len[1]);
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(before, after, len[0]);
	free(before);
	free(after);
}

/* By a trigger, the author of a store could make this program run any SQL. */
static void a_store_with_triggers_is_refused(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	f->s = NULL;
	sql(f, "CREATE TRIGGER t AFTER INSERT ON said BEGIN DELETE FROM run; END");
	refused(f->place, STORE_WRITE, "the store has the trigger t, which outrider does not make");
}

static void a_damaged_store_is_told(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	struct store_races races;
	char junk[4096];
	struct stat st;
	int fd;

	run_with(f, round, "a", large_report());
	store_close(f->s);
	fd = open(f->place, O_RDWR);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	memset(junk, 0xa5, sizeof(junk));
	/* All pages but the first, which identifies the file. */
	for (off_t at = 4096; at + 4096 <= st.st_size; at += 4096)
		assert_int_equal(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
	close(fd);
	f->s = store_open(f->place, STORE_READ, 50, &f->err);
	if (f->s)
		assert_int_equal(store_races(f->s, &(struct store_races_query){0}, &races, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
	assert_non_null(strstr(f->err.text, "damaged"));
}

/* ---- older versions ---- */

static void old_stores_are_brought_up(void **state)
{
	static const char *const steps[] = {"CREATE TABLE a (x BIGINT NOT NULL);",
					    /* No default: outrider's schemas have none, because a server would execute it. */
					    "ALTER TABLE a ADD COLUMN y $TEXT; UPDATE a SET y = 'new';",
					    "CREATE TABLE b (z BIGINT NOT NULL); CREATE TABLE b (z BIGINT NOT NULL);"};
	struct fixture *f = *state;
	struct schema_steps one = {steps, 1}, two = {steps, 2}, wrong = {steps, 3};
	char place[RIG_PLACE_MAX];
	struct db_mark mark;
	struct db_rows *rows;
	struct db *db;

	store_rig_place(&f->rig, f->kind, place);
	db = db_open(place, DB_MAKE, 1000, &f->err);
	assert_non_null(db);
	assert_int_equal(schema_check(db, &one, true, true, &f->err), 0);
	assert_true(db_run(db, &f->err, "INSERT INTO a (x) VALUES ($1)", "i", (int64_t)5) == 1);
	/* A reader must not change the store, and says what to do. */
	assert_int_equal(schema_check(db, &two, false, false, &f->err), -1);
	assert_non_null(strstr(f->err.text, "old version 1"));
	f->err = (struct err){0};
	assert_int_equal(schema_check(db, &two, false, true, &f->err), 0);
	rows = db_query(db, &f->err, "SELECT x, y FROM a", "");
	assert_int_equal(db_next(rows, &f->err), 1);
	assert_int_equal(db_int(rows, 0), 5);
	assert_string_equal(db_text(rows, 1), "new");
	db_rows_end(rows);
	/* A step that fails leaves the store unchanged. */
	assert_int_equal(schema_check(db, &wrong, false, true, &f->err), -1);
	f->err = (struct err){0};
	assert_int_equal(db_mark_read(db, &mark, &f->err), 0);
	assert_int_equal(mark.version, 2);
	assert_true(db_run(db, &f->err, "INSERT INTO a (x) VALUES ($1)", "i", (int64_t)6) == 1);
	rows = db_query(db, NULL, "SELECT z FROM b", "");
	assert_null(rows);
	db_close(db);
}

/* All rounds of a store of version 1 stay in the tables of version 1. */
static void a_store_of_the_first_version_goes_on(void **state)
{
	struct fixture *f = *state;
	struct schema_steps first = {schema_steps.sql, 1};
	struct store_rounds rounds;
	char place[RIG_PLACE_MAX];
	uint64_t number;
	struct store *s;
	struct db *db;

	store_rig_place(&f->rig, f->kind, place);
	db = db_open(place, DB_MAKE, 1000, &f->err);
	assert_non_null(db);
	assert_int_equal(schema_check(db, &first, true, true, &f->err), 0);
	assert_true(db_run(db, &f->err,
			   "INSERT INTO round (uuid, campaign, number, plan_hash, started) VALUES ('a', 'nightly', 7, '', 5)",
			   "") == 1);
	db_close(db);
	refused(place, STORE_READ, "old version 1");
	s = store_rig_open(place, STORE_WRITE);
	assert_int_equal(store_rounds(s, &(struct store_rounds_query){0}, &rounds, &f->err), 0);
	assert_int_equal(rounds.count, 1);
	assert_int_equal(rounds.list[0].number, 7);
	store_rounds_free(&rounds);
	assert_int_equal(store_round_number(s, "nightly", &number, &f->err), 0);
	assert_int_equal(number, 8);
	store_close(s);
	store_close(store_rig_open(place, STORE_READ));
}

/* ---- locked, read-only, full ---- */

static void a_locked_store_is_waited_for(void **state)
{
	struct fixture *f = *state;
	struct store_round_plan plan = {.campaign = "nightly"};
	struct store_rounds rounds;
	struct db *other = db_open(f->place, DB_WRITE, 1000, &f->err);
	struct store *s = store_open(f->place, STORE_WRITE, 100, &f->err);

	assert_true(other && s);
	assert_int_equal(db_begin(other, true, &f->err), 0);
	assert_int_equal(store_round_begin(s, &plan, &rounds, &f->err), -1);
	assert_int_equal(f->err.code, EXIT_INPUT);
	assert_non_null(strstr(f->err.text, "another process has locked the store for longer than 0.1 s"));
	f->err = (struct err){0};
	/* A reader does not wait for the lock. */
	assert_int_equal(store_rounds(s, &(struct store_rounds_query){0}, &rounds, &f->err), 0);
	store_rounds_free(&rounds);
	db_rollback(other);
	assert_int_equal(store_round_begin(s, &plan, &rounds, &f->err), 0);
	store_rounds_free(&rounds);
	db_close(other);
	store_close(s);
}

/* How often the server's log contains `what`. */
static unsigned logged(const char *what)
{
	char path[96], line[1024];
	unsigned count = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/log", server.folder);
	log = fopen(path, "r");
	assert_non_null(log);
	while (fgets(line, sizeof(line), log))
		count += strstr(line, what) != NULL;
	fclose(log);
	return count;
}

static void a_locked_store_is_waited_for_once(void **state)
{
	static const char timeout[] = "canceling statement due to lock timeout";
	struct fixture *f = *state;
	struct db *other = db_open(f->place, DB_WRITE, 1000, &f->err), *db = db_open(f->place, DB_WRITE, 1000, &f->err);
	unsigned before = logged(timeout);

	assert_true(other && db);
	assert_int_equal(db_begin(other, true, &f->err), 0);
	db_set_wait(db, 50);
	assert_int_equal(db_begin(db, true, &f->err), -1);
	assert_non_null(strstr(f->err.text, "longer than 0.1 s"));
	f->err = (struct err){0};
	assert_int_equal(logged(timeout), before + 1);
	/* The connection still works. */
	db_rollback(other);
	assert_int_equal(db_begin(db, true, &f->err), 0);
	db_close(db);
	db_close(other);
}

/* ---- a server that does not answer ---- */

/* Listen on the server's socket in its place, and never answer. Returns the listening socket. */
static int take_its_place(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/.s.PGSQL.5432", server.folder);
	unlink(address.sun_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

static void give_it_back(int fd)
{
	char path[96];

	close(fd);
	snprintf(path, sizeof(path), "%s/.s.PGSQL.5432", server.folder);
	unlink(path);
	postgres_rig_again(&server);
}

static void nobody_waits_for_a_server_that_does_not_answer(void **state)
{
	struct fixture *f = *state;
	struct store_round_plan plan = {.campaign = "nightly"};
	struct store_rounds rounds;
	uint64_t begin, waited, asked;
	char place[RIG_PLACE_MAX + 32];
	struct store *s;
	int fd, back;

	snprintf(place, sizeof(place), "%s&connect_timeout=2", f->place);
	s = store_rig_open(place, STORE_WRITE);
	assert_int_equal(store_is_back(s, &f->err), 1);
	postgres_rig_kill(&server);
	fd = take_its_place();
	begin = monotonic_ns();
	assert_int_equal(store_round_begin(s, &plan, &rounds, &f->err), -1);
	waited = monotonic_ns() - begin;
	f->err = (struct err){0};
	/* A hundred calls of store_is_back() together take less time than one wait for an answer. */
	begin = monotonic_ns();
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(store_is_back(s, &f->err), 0);
	asked = monotonic_ns() - begin;
	assert_true(asked < waited);
	give_it_back(fd);
	assert_int_equal(store_is_back(s, &f->err), -1);
	assert_non_null(strstr(f->err.text, "the store's server is away"));
	f->err = (struct err){0};
	while ((back = store_is_back(s, &f->err)) == 0)
		usleep(1000);
	assert_int_equal(back, 1);
	assert_int_equal(store_round_begin(s, &plan, &rounds, &f->err), 0);
	store_rounds_free(&rounds);
	store_close(s);
}

/* Run `body` in its own process, with its own tmpfs on `folder`. This needs root or a user namespace. */
static void on_tmpfs(struct fixture *f, const char *folder, const char *size,
		     void (*body)(struct fixture *f, const char *folder))
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWNS | CLONE_NEWUSER) < 0)
			_exit(77);
		if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("none", folder, "tmpfs", 0, size) < 0)
			_exit(77);
		body(f, folder);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		fail_msg("cannot mount a small tmpfs: be root, or allow user namespaces");
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void is(bool fact, const char *what, const struct err *err)
{
	if (fact)
		return;
	fprintf(stderr, "not so: %s; %s\n", what, err->text);
	_exit(1);
}

static void make_small(struct fixture *f, const char *folder, char place[RIG_PLACE_MAX])
{
	struct store *s;

	snprintf(place, RIG_PLACE_MAX, "%s/small.db", folder);
	s = store_open(place, STORE_MAKE, 100, &f->err);
	is(s, "a store is made", &f->err);
	store_rig_round(s, "nightly", NULL);
	store_close(s);
}

static void on_a_read_only_disk(struct fixture *f, const char *folder)
{
	char place[RIG_PLACE_MAX];
	struct store_rounds rounds;
	struct store_round_plan plan = {.campaign = "nightly"};
	struct store *s;

	make_small(f, folder, place);
	is(mount("none", folder, "tmpfs", MS_REMOUNT | MS_RDONLY, "") == 0, "the disk is read-only", &f->err);
	s = store_open(place, STORE_READ, 100, &f->err);
	is(s && store_rounds(s, &(struct store_rounds_query){0}, &rounds, &f->err) == 0 && rounds.count == 1, "it can be read",
	   &f->err);
	store_rounds_free(&rounds);
	store_close(s);
	s = store_open(place, STORE_WRITE, 100, &f->err);
	is(!s || store_round_begin(s, &plan, &rounds, &f->err) < 0, "it cannot be written", &f->err);
	is(f->err.code == EXIT_INPUT && strstr(f->err.text, "read-only"), "the error says why", &f->err);
}

static void a_read_only_store_is_read(void **state)
{
	struct fixture *f = *state;
	char folder[96];

	snprintf(folder, sizeof(folder), "%s/disk", f->rig.folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	on_tmpfs(f, folder, "size=16m", on_a_read_only_disk);
}

static char report_path[128];

static void fill_the_disk(struct fixture *f, const char *folder)
{
	struct store_run_plan plan = {0};
	struct store_run_result result = {.outcome = STORE_OK, .races = report_path};
	char place[RIG_PLACE_MAX], key[16], *before = NULL, *after;
	struct store *s;
	int64_t id;
	int rc = 0;

	make_small(f, folder, place);
	s = store_open(place, STORE_WRITE, 100, &f->err);
	is(s, "it is opened", &f->err);
	plan.key = key;
	for (unsigned i = 0; i < 10000 && rc == 0; i++) {
		free(before);
		before = store_rig_dump(s);
		snprintf(key, sizeof(key), "%u", i);
		rc = store_run_begin(s, 1, &plan, &id, &f->err);
		if (rc == 0) {
			free(before);
			before = store_rig_dump(s);
			rc = store_run_end(s, id, &result, NULL, &f->err);
		}
	}
	is(rc < 0 && f->err.code == EXIT_INPUT, "the disk is full", &f->err);
	is(strstr(f->err.text, "full") || strstr(f->err.text, "no room"), "the error says so", &f->err);
	after = store_rig_dump(s);
	is(strcmp(before, after) == 0, "nothing has changed", &f->err);
	store_close(s);
	snprintf(f->place, sizeof(f->place), "%s", place);
	check_integrity(f);
	is(mount("none", folder, "tmpfs", MS_REMOUNT, "size=64m") == 0, "there is room again", &f->err);
	f->err = (struct err){0};
	s = store_open(place, STORE_WRITE, 100, &f->err);
	is(s && store_run_begin(s, 1, &plan, &id, &f->err) == 0 && store_run_end(s, id, &result, NULL, &f->err) == 0,
	   "it goes on when there is room", &f->err);
	store_close(s);
	check_integrity(f);
}

static void a_full_disk_changes_nothing(void **state)
{
	struct fixture *f = *state;
	char folder[96];

	snprintf(folder, sizeof(folder), "%s/disk", f->rig.folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	snprintf(report_path, sizeof(report_path), "%s", store_rig_report(&f->rig, "races.json", large_report()));
	on_tmpfs(f, folder, "size=1500k", fill_the_disk);
}

static void a_limit_of_size_changes_nothing(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), id;
	struct store_run_plan plan = {.key = "a"};
	struct store_run_result result = {.outcome = STORE_OK,
					  .races = store_rig_report(&f->rig, "races.json", large_report())};
	char *before, *after;
	int status;
	pid_t child;

	assert_int_equal(store_run_begin(f->s, round, &plan, &id, &f->err), 0);
	before = store_rig_dump(f->s);
	store_close(f->s);
	f->s = NULL;
	child = fork();
	if (child == 0) {
		struct rlimit limit = {256 << 10, 256 << 10};

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		f->s = store_open(f->place, STORE_WRITE, 100, &f->err);
		is(f->s, "the store is opened", &f->err);
		is(store_run_end(f->s, id, &result, NULL, &f->err) < 0 && f->err.code == EXIT_INPUT &&
			   strstr(f->err.text, "no room"),
		   "there is no room", &f->err);
		_exit(0);
	}
	waitpid(child, &status, 0);
	assert_int_equal(status, 0);
	check_integrity(f);
	f->s = store_rig_open(f->place, STORE_WRITE);
	after = store_rig_dump(f->s);
	assert_string_equal(before, after);
	assert_int_equal(store_run_end(f->s, id, &result, NULL, &f->err), 0);
	free(before);
	free(after);
}

/* ---- two writers, and killed ones ---- */

/* Start a process that stores `count` runs, whose keys begin with `name`. As a process, it is a separate writer. */
static pid_t start_writer(struct fixture *f, int64_t round, const char *name, unsigned count)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	struct store *s = store_open(f->place, STORE_WRITE, STORE_WAIT_MS, &f->err);

	is(s, "a writer opens the store", &f->err);
	for (unsigned i = 0; i < count; i++) {
		struct store_run_result result = {.outcome = STORE_OK, .races = report_path};
		struct store_run_plan plan = {0};
		char key[32];
		int64_t id;

		snprintf(key, sizeof(key), "%s%u", name, i);
		plan.key = key;
		is(store_run_begin(s, round, &plan, &id, &f->err) >= 0 && store_run_end(s, id, &result, NULL, &f->err) >= 0,
		   "a writer stores a run", &f->err);
	}
	store_close(s);
	_exit(0);
}

static void ended_well(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/*
 * Check that the store has every finished run completely. Returns the number of finished runs. The store is locked meanwhile:
 * the server may still have the last COMMIT of a killed writer, and must not carry it out between the two reads.
 */
static uint64_t whole_runs(struct fixture *f, int64_t round)
{
	struct db *lock = db_open(f->place, DB_WRITE, STORE_WAIT_MS, &f->err);
	struct store_races races;
	struct store_runs runs;
	uint64_t done = 0;

	assert_non_null(lock);
	assert_int_equal(db_begin(lock, true, &f->err), 0);
	assert_int_equal(store_runs(f->s, round, &runs, &f->err), 0);
	for (size_t i = 0; i < runs.count; i++) {
		bool is_done = runs.list[i].state == STORE_DONE;

		assert_int_equal(runs.list[i].races, is_done ? LARGE_RACES : 0);
		done += is_done;
	}
	store_runs_free(&runs);
	races = races_of(f, round, 0);
	assert_int_equal(races.count, done ? LARGE_RACES : 0);
	for (size_t i = 0; i < races.count; i++) {
		assert_int_equal(races.list[i].runs, done);
		assert_int_equal(races.list[i].seen, 8 * done);
	}
	store_races_free(&races);
	db_rollback(lock);
	db_close(lock);
	return done;
}

static void two_writers_lose_nothing(void **state)
{
	enum { RUNS = 8 };
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	pid_t writers[2];

	snprintf(report_path, sizeof(report_path), "%s", store_rig_report(&f->rig, "races.json", large_report()));
	/* A parent and its child must not share a connection. */
	store_close(f->s);
	for (int i = 0; i < 2; i++)
		writers[i] = start_writer(f, round, i ? "b" : "a", RUNS);
	f->s = NULL;
	for (int i = 0; i < 2; i++)
		ended_well(writers[i]);
	f->s = store_rig_open(f->place, STORE_WRITE);
	assert_int_equal(whole_runs(f, round), 2 * RUNS);
	check_integrity(f);
}

static void a_store_is_made_once(void **state)
{
	struct fixture *f = *state;
	pid_t makers[4];
	char place[RIG_PLACE_MAX];

	for (int round = 0; round < 5; round++) {
		store_rig_place(&f->rig, f->kind, place);
		for (int i = 0; i < 4; i++) {
			makers[i] = fork();
			if (makers[i] == 0) {
				struct store *s = store_open(place, STORE_MAKE, STORE_WAIT_MS, &f->err);

				is(s, "a store is made or opened", &f->err);
				store_close(s);
				_exit(0);
			}
		}
		for (int i = 0; i < 4; i++)
			ended_well(makers[i]);
	}
}

static void killed_writers_leave_whole_runs(void **state)
{
	/* Kill at least KILLS writers, and go on until WHOLE runs are stored. On slow machines that takes more kills. */
	enum { KILLS = 8, WHOLE = 3, KILLS_MAX = 500, MANY = 100000 };
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	uint64_t done = 0;

	snprintf(report_path, sizeof(report_path), "%s", store_rig_report(&f->rig, "races.json", large_report()));
	for (unsigned kills = 0; kills < KILLS || done < WHOLE; kills++) {
		uint64_t before = done;
		pid_t writer;

		assert_true(kills < KILLS_MAX);
		store_close(f->s);
		writer = start_writer(f, round, "a", MANY);
		/* The kill comes 20 ms to 2.6 s after the start: at once, or some runs later. A writer skips finished runs. */
		usleep(20000u << (kills % 8));
		kill(writer, SIGKILL);
		waitpid(writer, NULL, 0);
		f->s = store_rig_open(f->place, STORE_WRITE);
		done = whole_runs(f, round);
		assert_true(done >= before);
		check_integrity(f);
	}
}

/* ---- a server that goes away ---- */

static void a_server_that_went_away_is_called_again(void **state)
{
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL), id;
	struct store_run_plan plan = {.key = "a"};
	struct store_run_result result = {.outcome = STORE_OK};
	char *before, *after;

	snprintf(report_path, sizeof(report_path), "%s", store_rig_report(&f->rig, "races.json", large_report()));
	result.races = report_path;
	assert_int_equal(store_run_begin(f->s, round, &plan, &id, &f->err), 0);
	before = store_rig_dump(f->s);
	postgres_rig_kill(&server);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(store_run_end(f->s, id, &result, NULL, &f->err), -1);
		assert_int_equal(f->err.code, EXIT_INPUT);
		assert_non_null(strstr(f->err.text, "the store's server is away"));
		f->err = (struct err){0};
	}
	refused(f->place, STORE_WRITE, "cannot reach the store's server");
	postgres_rig_again(&server);
	after = store_rig_dump(f->s);
	assert_string_equal(before, after);
	assert_int_equal(store_run_end(f->s, id, &result, NULL, &f->err), 0);
	assert_int_equal(whole_runs(f, round), 1);
	/* If the server restarts between two calls, the next call connects again and succeeds. */
	postgres_rig_kill(&server);
	postgres_rig_again(&server);
	plan.key = "b";
	assert_int_equal(store_run_begin(f->s, round, &plan, &id, &f->err), 0);
	free(before);
	free(after);
}

/* The server dies while the writer stores a run. */
static void a_server_that_dies_leaves_whole_runs(void **state)
{
	enum { KILLS = 3, KILLS_MAX = 100 };
	struct fixture *f = *state;
	int64_t round = store_rig_round(f->s, "nightly", NULL);
	uint64_t done = 0;

	snprintf(report_path, sizeof(report_path), "%s", store_rig_report(&f->rig, "races.json", large_report()));
	for (unsigned kills = 0; kills < KILLS || !done; kills++) {
		uint64_t before = done;
		pid_t writer;
		int status;

		assert_true(kills < KILLS_MAX);
		store_close(f->s);
		writer = start_writer(f, round, "a", 100000);
		usleep(100000u << (kills % 6));
		postgres_rig_kill(&server);
		/* The writer says that the server is away, and ends. */
		assert_int_equal(waitpid(writer, &status, 0), writer);
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
		postgres_rig_again(&server);
		f->s = store_rig_open(f->place, STORE_WRITE);
		done = whole_runs(f, round);
		assert_true(done >= before);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(a_newer_store_is_refused),
		BOTH(another_database_is_refused),
		BOTH(an_empty_place_is_not_read),
		cmocka_unit_test(a_password_is_never_said),
		{"a_file_that_is_no_database_is_refused", a_file_that_is_no_database_is_refused, setup, teardown, &sqlite},
		{"another_file_stays_as_it_is", another_file_stays_as_it_is, setup, teardown, &sqlite},
		{"a_store_with_triggers_is_refused", a_store_with_triggers_is_refused, setup, teardown, &sqlite},
		{"a_damaged_store_is_told", a_damaged_store_is_told, setup, teardown, &sqlite},
		BOTH(old_stores_are_brought_up),
		BOTH(a_store_of_the_first_version_goes_on),
		BOTH(a_locked_store_is_waited_for),
		{"a_locked_store_is_waited_for_once", a_locked_store_is_waited_for_once, setup, teardown, &postgres},
		{"nobody_waits_for_a_server_that_does_not_answer", nobody_waits_for_a_server_that_does_not_answer, setup,
		 teardown, &postgres},
		{"a_read_only_store_is_read", a_read_only_store_is_read, setup, teardown, &sqlite},
		{"a_full_disk_changes_nothing", a_full_disk_changes_nothing, setup, teardown, &sqlite},
		{"a_limit_of_size_changes_nothing", a_limit_of_size_changes_nothing, setup, teardown, &sqlite},
		BOTH(two_writers_lose_nothing),
		BOTH(a_store_is_made_once),
		BOTH(killed_writers_leave_whole_runs),
		{"a_server_that_went_away_is_called_again", a_server_that_went_away_is_called_again, setup, teardown,
		 &postgres},
		{"a_server_that_dies_leaves_whole_runs", a_server_that_dies_leaves_whole_runs, setup, teardown, &postgres},
	};

	return cmocka_run_group_tests(tests, start_server, end_server);
}
