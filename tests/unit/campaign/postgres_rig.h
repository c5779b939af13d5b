/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A PostgreSQL server for one test, in a folder of its own. It listens only on a socket in that folder. */
#ifndef OUTRIDER_TESTS_POSTGRES_RIG_H
#define OUTRIDER_TESTS_POSTGRES_RIG_H

#include <stdbool.h>
#include <sys/types.h>

struct postgres_rig {
	char folder[64];
	pid_t server; /* 0: it does not run. */
	unsigned databases;
};

/* Make a folder and start a server in it. The test fails if the server does not start. */
void postgres_rig_start(struct postgres_rig *p);

/* Start the server of the folder again, after postgres_rig_kill(). */
void postgres_rig_again(struct postgres_rig *p);

/* Kill the server and all its processes, as a power cut would: without a message to its clients. */
void postgres_rig_kill(struct postgres_rig *p);

/* Kill it and remove the folder. */
void postgres_rig_end(struct postgres_rig *p);

/* The URL of a new, empty database. */
#define POSTGRES_URL_MAX 160
void postgres_rig_database(struct postgres_rig *p, char url[POSTGRES_URL_MAX]);

/* Run SQL statements in the database of that URL. */
void postgres_rig_sql(const char *url, const char *sql);

#endif
