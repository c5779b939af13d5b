// SPDX-License-Identifier: GPL-2.0-or-later
/* The files that --symbols names, and the messages that -q suppresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/cli/run_options.h"
#include "hv/session/screen.h"
#include "hv/session/symbol_files.h"

static char folder[] = "/tmp/outrider-test-XXXXXX";
static char vmlinux[80], module[80], map[80], fifo[80], missing[80];

static void write_file(char *path, const char *name, const void *bytes, size_t size)
{
	FILE *file;

	snprintf(path, sizeof(vmlinux), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

static int setup(void **state)
{
	Elf64_Ehdr header = {.e_ident = ELFMAG, .e_type = ET_EXEC};

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	write_file(vmlinux, "vmlinux", &header, sizeof(header));
	header.e_type = ET_REL;
	write_file(module, "hold.ko", &header, sizeof(header));
	write_file(map, "System.map", "ffffffff81000000 T _text\n", 25);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	snprintf(missing, sizeof(missing), "%s/missing", folder);
	return mkfifo(fifo, 0600);
}

static int teardown(void **state)
{
	(void)state;
	unlink(vmlinux);
	unlink(module);
	unlink(map);
	unlink(fifo);
	return rmdir(folder);
}

static void kernel_is(const char *const *paths, size_t count, const char *expected)
{
	const char *kernel = "none";
	struct err err = {0};

	assert_int_equal(symbol_files_kernel(paths, count, &kernel, &err), 0);
	if (expected)
		assert_string_equal(kernel, expected);
	else
		assert_null(kernel);
}

static void refused(const char *const *paths, size_t count, enum exit_code code, const char *part)
{
	const char *kernel;
	struct err err = {0};

	assert_int_equal(symbol_files_kernel(paths, count, &kernel, &err), -1);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.text, part));
}

static void modules_and_folders_are_no_kernel(void **state)
{
	(void)state;
	kernel_is(NULL, 0, NULL);
	kernel_is((const char *[]){module, folder}, 2, NULL);
	kernel_is((const char *[]){module, vmlinux, folder}, 3, vmlinux);
	kernel_is((const char *[]){folder, map, module}, 3, map);
}

/* The FIFO has no writer, so open() would wait for ever. The check of the files must not open it. */
static void one_kernel_at_most(void **state)
{
	(void)state;
	refused((const char *[]){vmlinux, module, map}, 3, EXIT_USAGE, "are both for the kernel: give one of them");
	refused((const char *[]){vmlinux, missing}, 2, EXIT_INPUT, "missing: No such file");
	kernel_is((const char *[]){fifo}, 1, fifo);
}

static void options_take_several(void **state)
{
	char *argv[] = {"run", "--kernel=k", "--symbols", module, "--symbols", folder, "-q", "-v", NULL};
	struct run_options o;
	struct err err = {0};

	(void)state;
	assert_int_equal(run_options_parse(&o, 8, argv, &err), 0);
	assert_int_equal(o.detect.session.symbol_count, 2);
	assert_string_equal(o.detect.session.symbols[0], module);
	assert_string_equal(o.detect.session.symbols[1], folder);
	assert_true(o.detect.session.quiet);
	assert_true(o.detect.session.verbose);
	run_options_free(&o);
}

static void quiet_screen_shows_errors_only(void **state)
{
	struct screen *screen = screen_new(NULL);
	char said[200] = "";
	int ends[2], saved = dup(STDERR_FILENO);

	(void)state;
	assert_non_null(screen);
	assert_int_equal(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	screen_message(screen, "heard");
	screen_set_quiet(screen);
	screen_message(screen, "not heard");
	screen_error(screen, "an error");
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(ends[1]);
	assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
	close(ends[0]);
	screen_free(screen);
	assert_string_equal(said, "outrider: heard\noutrider: an error\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_and_folders_are_no_kernel),
		cmocka_unit_test(one_kernel_at_most),
		cmocka_unit_test(options_take_several),
		cmocka_unit_test(quiet_screen_shows_errors_only),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
