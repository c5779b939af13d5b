/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the sockets of a vsock device are, and which existing folders it accepts for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/vmm/vsock/host.h"

#define ADVICE "use another one"

static char runtime[32], own[64], path[VSOCK_PATH_MAX];

static int setup(void **state)
{
	(void)state;
	strcpy(runtime, "/tmp/outrider-host-XXXXXX");
	if (!mkdtemp(runtime))
		return -1;
	snprintf(own, sizeof(own), "%s/outrider", runtime);
	return setenv("XDG_RUNTIME_DIR", runtime, 1);
}

static int teardown(void **state)
{
	(void)state;
	remove(own);
	return rmdir(runtime);
}

static void assert_refused(const char *why)
{
	struct err err = {0};

	assert_int_equal(vsock_default_path(3, path, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	if (!strstr(err.text, why))
		print_error("%s\n", err.text);
	assert_non_null(strstr(err.text, why));
}

static void test_the_folder_is_made(void **state)
{
	char wanted[VSOCK_PATH_MAX];
	struct stat st;

	(void)state;
	snprintf(wanted, sizeof(wanted), "%s/vsock-3", own);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(vsock_default_path(3, path, NULL), 0);
		assert_string_equal(path, wanted);
		assert_return_code(lstat(own, &st), 0);
		assert_int_equal(st.st_mode, S_IFDIR | 0700);
	}
}

static void test_what_others_made_is_refused(void **state)
{
	char folder[64];

	(void)state;
	/* Other users could enter the folder. */
	assert_return_code(mkdir(own, 0700), 0);
	assert_return_code(chmod(own, 0710), 0);
	assert_refused("is not a folder that only this user can enter");
	rmdir(own);
	/* A link to a folder of the same user. */
	snprintf(folder, sizeof(folder), "%s/else", runtime);
	assert_return_code(mkdir(folder, 0700), 0);
	assert_return_code(symlink(folder, own), 0);
	assert_refused("is not a folder that only this user can enter");
	unlink(own);
	rmdir(folder);
	/* A link to a path that does not exist. */
	assert_return_code(symlink("/tmp/outrider-host/nowhere", own), 0);
	assert_refused("is not a folder that only this user can enter");
	unlink(own);
	/* Another user's folder, which only root can test. */
	if (geteuid() == 0) {
		assert_return_code(mkdir(own, 0700), 0);
		assert_return_code(chown(own, 12345, 12345), 0);
		assert_refused("is not a folder that only this user can enter");
	}
}

/* A runtime folder that does not belong to the user is ignored, as is the caller's folder that sudo(8) leaves to root. */
static void test_a_strange_runtime_folder(void **state)
{
	static const char *const strange[] = {"run", "/dev/null", "/tmp/outrider-host/nowhere", ""};
	char last[64];
	bool was_there;

	(void)state;
	snprintf(last, sizeof(last), "/tmp/outrider-%u", (unsigned)geteuid());
	was_there = access(last, F_OK) == 0;
	for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++) {
		setenv("XDG_RUNTIME_DIR", strange[i], 1);
		assert_int_equal(vsock_default_path(3, path, NULL), 0);
		assert_true(strncmp(path, "/run/user/", 10) == 0 || strncmp(path, "/tmp/outrider-", 14) == 0);
	}
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	if (geteuid() == 0) {
		assert_return_code(chown(runtime, 12345, 12345), 0);
		assert_int_equal(vsock_default_path(3, path, NULL), 0);
		assert_int_not_equal(strncmp(path, runtime, strlen(runtime)), 0);
	}
	if (!was_there)
		rmdir(last);
}

/* The message says what is wrong. It has advice only if another process uses the path. */
static void test_a_path_that_cannot_be_used(void **state)
{
	struct err err = {0};
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/missing/socket", runtime);
	assert_int_equal(vsock_listen(path, ADVICE, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "/missing/socket: there is no such folder; make it, or name another path"));
	assert_null(strstr(err.text, ADVICE));
	err = (struct err){0};
	snprintf(path, sizeof(path), "%s/socket", runtime);
	fd = vsock_listen(path, ADVICE, &err);
	assert_true(fd >= 0);
	assert_int_equal(vsock_listen(path, ADVICE, &err), -1);
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "/socket is in use; " ADVICE));
	close(fd);
	unlink(path);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_the_folder_is_made),
		TEST(test_what_others_made_is_refused),
		TEST(test_a_strange_runtime_folder),
		TEST(test_a_path_that_cannot_be_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
