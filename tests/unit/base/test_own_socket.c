/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which users can connect to the user's socket, from which moment on, and what may be at its path before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <errno.h>

#include "hv/base/own_socket.h"

static char folder[32], path[64];

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/own-socket-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/socket", folder);
	umask(0); /* The umask must not decide the socket's mode. */
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	remove(path);
	umask(022);
	return rmdir(folder);
}

static void assert_refused(int with)
{
	assert_int_equal(own_socket_listen(path, 0, 1), -1);
	assert_int_equal(errno, with);
}

/* inotify(7) reports what happened to the file: it was made, and its mode never changed. */
static void only_the_user_can_connect(void **state)
{
	char events[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	int watch = inotify_init1(IN_NONBLOCK), fd;
	const struct inotify_event *first = (void *)events;
	struct stat st;
	ssize_t n;

	(void)state;
	assert_true(inotify_add_watch(watch, folder, IN_CREATE | IN_ATTRIB) >= 0);
	fd = own_socket_listen(path, 0, 1);
	assert_true(fd >= 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	n = read(watch, events, sizeof(events));
	assert_true(n > 0);
	assert_int_equal(first->mask, IN_CREATE);
	assert_int_equal((size_t)n, sizeof(*first) + first->len);
	close(watch);
	close(fd);
}

static void a_socket_left_behind_is_replaced(void **state)
{
	int fd = own_socket_listen(path, 0, 1);

	(void)state;
	assert_true(fd >= 0);
	assert_refused(EADDRINUSE);
	close(fd);
	fd = own_socket_listen(path, SOCK_NONBLOCK, 1);
	assert_true(fd >= 0);
	close(fd);
	/* The function leaves another user's socket alone. Only root can test that. */
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_refused(EADDRINUSE);
	}
}

static void what_is_no_socket_is_left_alone(void **state)
{
	char other[64];
	struct stat st;

	(void)state;
	fclose(fopen(path, "w"));
	assert_refused(EADDRINUSE);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	unlink(path);
	/* The function follows no link, wherever the link leads. */
	snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(symlink(other, path), 0);
	assert_refused(EADDRINUSE);
	assert_int_equal(lstat(other, &st), -1);
}

static void a_path_has_a_length(void **state)
{
	char longest[OWN_SOCKET_PATH_MAX + 1];
	int fd;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	memcpy(longest, folder, strlen(folder));
	longest[strlen(folder)] = '/';
	longest[OWN_SOCKET_PATH_MAX] = 0;
	assert_int_equal(own_socket_listen(longest, 0, 1), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	longest[OWN_SOCKET_PATH_MAX - 1] = 0;
	fd = own_socket_listen(longest, 0, 1);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(unlink(longest), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(only_the_user_can_connect),
		TEST(a_socket_left_behind_is_replaced),
		TEST(what_is_no_socket_is_left_alone),
		TEST(a_path_has_a_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
