/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads that bypass a gdbstub go to the memory of the process at the other end of the socket, and of no other process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/target/gdb/process.h"

static char secret[64]; /* It has the same address in a child, with other content. */

struct peer {
	pid_t pid;
	int stay; /* The child ends when this descriptor is closed. */
};

/* Start a child that keeps `socket` and has `text` as its secret. Without `keep` it closes the socket first. */
static struct peer start(int socket, bool keep, const char *text)
{
	int stay[2], ready[2];
	char byte = 0;
	struct peer p;

	assert_int_equal(pipe(stay), 0);
	assert_int_equal(pipe(ready), 0);
	p.pid = fork();
	assert_true(p.pid >= 0);
	if (p.pid == 0) {
		close(stay[1]);
		strcpy(secret, text);
		if (!keep)
			close(socket);
		(void)!write(ready[1], &byte, 1);
		(void)!read(stay[0], &byte, 1);
		_exit(0);
	}
	close(stay[0]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	p.stay = stay[1];
	return p;
}

static void end(struct peer *p)
{
	close(p->stay);
	assert_int_equal(waitpid(p->pid, NULL, 0), p->pid);
}

static void test_right_process(void **state)
{
	const char *why = NULL;
	int fds[2], memory;
	struct peer child;
	char text[64];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	child = start(fds[1], true, "of the child");
	close(fds[1]);
	memory = gdb_process_open(fds[0], child.pid, &why);
	assert_true(memory >= 0);
	assert_int_equal(pread(memory, text, sizeof(text), (off_t)(uintptr_t)secret), sizeof(text));
	assert_string_equal(text, "of the child");
	end(&child);
	/* After the process has ended, reads fail, even if another process has its id now. */
	assert_true(pread(memory, text, sizeof(text), (off_t)(uintptr_t)secret) <= 0);
	close(memory);
	close(fds[0]);
}

/* A process id may belong to another process than the one that has the socket. */
static void test_other_process(void **state)
{
	const char *why = NULL;
	struct peer child, other;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	child = start(fds[1], true, "of the child");
	other = start(fds[1], false, "of another");
	close(fds[1]);
	assert_int_equal(gdb_process_open(fds[0], other.pid, &why), -1);
	assert_non_null(strstr(why, "is not the one that answers"));
	end(&other);
	end(&child);
	close(fds[0]);
}

/* The process that listened has passed its socket to another process. SO_PEERCRED still returns the listener's id (unix(7)). */
static void test_listener_handed_on(void **state)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(addr);
	int sync[2], listener = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0), connection;
	const char *why = NULL;
	struct peer holder;
	char byte = 0;
	pid_t opener;

	(void)state;
	assert_int_equal(bind(listener, (struct sockaddr *)&addr, sizeof(sa_family_t)),
			 0); /* The kernel chooses an abstract name. */
	assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sync), 0);
	opener = fork();
	assert_true(opener >= 0);
	if (opener == 0) {
		close(sync[0]);
		if (listen(listener, 1))
			_exit(1);
		close(listener);
		(void)!write(sync[1], &byte, 1);
		(void)!read(sync[1], &byte, 1);
		_exit(0);
	}
	close(sync[1]);
	assert_int_equal(read(sync[0], &byte, 1), 1);
	assert_int_equal(connect(fd, (struct sockaddr *)&addr, len), 0);
	connection = accept(listener, NULL, NULL);
	assert_true(connection >= 0);
	holder = start(connection, true, "of the holder");
	close(connection);
	assert_int_equal(gdb_process_open(fd, 0, &why), -1);
	assert_non_null(strstr(why, "is not the one that answers"));
	end(&holder); /* The holder inherited the descriptor for whose end the first child waits. */
	close(sync[0]);
	assert_int_equal(waitpid(opener, NULL, 0), opener);
	close(listener);
	close(fd);
}

static void test_no_unix_socket(void **state)
{
	const char *why = NULL;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(gdb_process_open(fd, 0, &why), -1);
	assert_non_null(strstr(why, "not known"));
	assert_int_equal(gdb_process_open(fd, getpid(), &why), -1);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_process),
		cmocka_unit_test(test_other_process),
		cmocka_unit_test(test_listener_handed_on),
		cmocka_unit_test(test_no_unix_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
