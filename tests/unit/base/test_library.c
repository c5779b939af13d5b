/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Libraries that are loaded at the first call into them, and what a user is told if one is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/err.h"
#include "hv/base/library.h"

static const struct library libz = {"libz.so.1", "zlib1g"};
static const struct library nowhere = {"libnowhere.so.7", "libnowhere7"};

/* As the headers of the libraries declare them. */
unsigned long crc32(unsigned long crc, const unsigned char *bytes, unsigned len);
int nowhere_call(int number);

LIBRARY_CALL(libz, unsigned long, crc32, (unsigned long crc, const unsigned char *bytes, unsigned len), crc, bytes, len)
LIBRARY_CALL(nowhere, int, nowhere_call, (int number), number)

/* The CRC-32 of "123456789" is 0xcbf43926 ("check" in the catalogue of CRC algorithms). */
static void call(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(crc32(0, (const unsigned char *)"123456789", 9), 0xcbf43926);
}

static void call_nowhere(void)
{
	nowhere_call(1);
}

static void call_unknown(void)
{
	library_function(&libz, "no_such_function");
}

/* Run `body` in a process whose standard error goes to `said`. Returns its exit status. */
static int exit_status(void (*body)(void), char *said, size_t size)
{
	int ends[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		body();
		_exit(0);
	}
	close(ends[1]);
	n = read(ends[0], said, size - 1);
	assert_true(n >= 0);
	said[n] = '\0';
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void missing_library(void **state)
{
	char said[1000];

	(void)state;
	assert_int_equal(exit_status(call_nowhere, said, sizeof(said)), EXIT_INPUT);
	assert_string_equal(said, "outrider: libnowhere.so.7: cannot open shared object file: No such file or directory; "
				  "install the package libnowhere7\n");
}

static void missing_function(void **state)
{
	char said[1000];

	(void)state;
	assert_int_equal(exit_status(call_unknown, said, sizeof(said)), EXIT_INPUT);
	assert_non_null(strstr(said, "undefined symbol: no_such_function; install the package zlib1g\n"));
	assert_ptr_equal(strchr(said, '\n'), said + strlen(said) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call),
		cmocka_unit_test(missing_library),
		cmocka_unit_test(missing_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
