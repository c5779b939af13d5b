// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/campaign/postgres_rig.h"

#define START_TRIES 3000 /* of 20 ms each: many times longer than the server ever took to start */

/* Find the program of the newest installed version of Debian's package. */
static void find_program(const char *name, char out[256])
{
	char pattern[128];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/usr/lib/postgresql/*/bin/%s", name);
	if (glob(pattern, 0, NULL, &found) != 0)
		fail_msg("%s is missing: `make deps-check` installs Debian's package postgresql", pattern);
	snprintf(out, 256, "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
}

/* The server refuses to run as root. Its package makes the user `postgres`. */
static void become_user(const char *folder)
{
	const struct passwd *user = getuid() ? NULL : getpwnam("postgres");

	if (user && (setgroups(0, NULL) < 0 || setgid(user->pw_gid) < 0 || setuid(user->pw_uid) < 0))
		_exit(126);
	if (chdir(folder) < 0)
		_exit(126);
}

static pid_t start(const char *folder, char *const argv[])
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	become_user(folder);
	/* A server must not outlive the test. A change of user clears this setting (prctl(2)), so it follows the change. */
	prctl(PR_SET_PDEATHSIG, SIGQUIT);
	int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (log < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0)
		_exit(126);
	execv(argv[0], argv);
	_exit(127);
}

static void run_to_end(const char *folder, char *const argv[])
{
	int status;

	assert_true(waitpid(start(folder, argv), &status, 0) > 0);
	if (status)
		fail_msg("%s failed with status %#x; see %s/log", argv[0], (unsigned)status, folder);
}

static void url_of(const struct postgres_rig *p, const char *database, char url[POSTGRES_URL_MAX])
{
	snprintf(url, POSTGRES_URL_MAX, "postgresql:///%s?host=%s&user=outrider", database, p->folder);
}

void postgres_rig_sql(const char *url, const char *sql)
{
	PGconn *c = PQconnectdb(url);
	PGresult *r = PQexec(c, sql);

	if (PQresultStatus(r) != PGRES_COMMAND_OK && PQresultStatus(r) != PGRES_TUPLES_OK)
		fail_msg("%s: %s", sql, PQerrorMessage(c));
	PQclear(r);
	PQfinish(c);
}

void postgres_rig_again(struct postgres_rig *p)
{
	char program[256], url[POSTGRES_URL_MAX];
	/* -F turns fsync off: the host does not crash, so committed data survives SIGKILL without it. */
	char *const argv[] = {program, "-D", "data", "-k", p->folder, "-h", "", "-F", "-c", "max_connections=20", NULL};

	find_program("postgres", program);
	p->server = start(p->folder, argv);
	url_of(p, "postgres", url);
	for (unsigned i = 0; PQping(url) != PQPING_OK; i++) {
		if (i == START_TRIES || waitpid(p->server, NULL, WNOHANG) == p->server)
			fail_msg("the server does not start; see %s/log", p->folder);
		usleep(20000);
	}
}

void postgres_rig_start(struct postgres_rig *p)
{
	char program[256];
	char *const argv[] = {program, "-D", "data", "-U", "outrider", "-A", "trust", "-E", "UTF8", "--no-sync",
			      /* A collation that is not the order of bytes: the order of lists must not depend on it. */
			      "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US", NULL};
	const struct passwd *user = getpwnam("postgres");

	*p = (struct postgres_rig){.folder = "/tmp/outrider-postgres.XXXXXX"};
	assert_non_null(mkdtemp(p->folder));
	if (getuid() == 0) {
		assert_non_null(user);
		assert_int_equal(chown(p->folder, user->pw_uid, user->pw_gid), 0);
	}
	find_program("initdb", program);
	run_to_end(p->folder, argv);
	postgres_rig_again(p);
}

void postgres_rig_kill(struct postgres_rig *p)
{
	if (!p->server)
		return;
	/* SIGQUIT ends the server at once; its first process ends its children. */
	kill(p->server, SIGQUIT);
	waitpid(p->server, NULL, 0);
	p->server = 0;
}

void postgres_rig_end(struct postgres_rig *p)
{
	char command[128];

	postgres_rig_kill(p);
	snprintf(command, sizeof(command), "rm -rf '%s'", p->folder);
	assert_int_equal(system(command), 0);
}

void postgres_rig_database(struct postgres_rig *p, char url[POSTGRES_URL_MAX])
{
	char name[32], sql[64];

	snprintf(name, sizeof(name), "store%u", p->databases++);
	snprintf(sql, sizeof(sql), "CREATE DATABASE %s", name);
	url_of(p, "postgres", url);
	postgres_rig_sql(url, sql);
	url_of(p, name, url);
}
