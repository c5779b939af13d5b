/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A search for a variable in a file of many units ends without a name, and never reports a corrupt file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/base/err.h"
#include "symbols/dwarf/debuginfo.h"

#define UNITS "130"
#define FIRST 0x500000ull /* Where the linker puts the variables, of 8 bytes each. */
#define LAST (FIRST + 129 * 8)
#define BEYOND 0x600000ull

/* Each of the units has one variable. */
static const char assembly[] = ".data\n"
			       ".Ltable: .fill " UNITS ", 8, 0\n"
			       ".section .debug_abbrev, \"\"\n"
			       "abbreviations: .byte 1, 0x11, 1, 0, 0\n"		      /* unit */
			       ".byte 2, 0x24, 0, 0x0b, 0x0b, 0x3e, 0x0b, 0x03, 0x08, 0, 0\n" /* base type */
			       ".byte 3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x18, 0, 0\n" /* variable */
			       ".byte 0\n"
			       ".section .debug_info, \"\"\n"
			       ".set number, 0\n"
			       ".rept " UNITS "\n"
			       "1: .long 4f - 2f\n"
			       "2: .value 4\n"
			       ".long abbreviations\n"
			       ".byte 8, 1\n"
			       "3: .byte 2, 8, 5\n"
			       ".asciz \"long\"\n"
			       ".byte 3\n"
			       ".asciz \"v\"\n"
			       ".long 3b - 1b\n"
			       ".byte 9, 3\n"
			       ".quad .Ltable + 8 * number\n"
			       ".byte 0\n"
			       "4: .set number, number + 1\n"
			       ".endr\n";

static struct debuginfo *open_units(char folder[static 32])
{
	char source[64], command[256];
	struct err err = {0};
	struct debuginfo *di;
	FILE *f;

	assert_non_null(mkdtemp(folder));
	snprintf(source, sizeof(source), "%s/units.s", folder);
	f = fopen(source, "w");
	assert_non_null(f);
	assert_true(fputs(assembly, f) >= 0);
	assert_int_equal(fclose(f), 0);
	snprintf(command, sizeof(command), "gcc -nostdlib -static -Wl,--entry=0 -Wl,-Tdata=0x%llx -o %s/units %s", FIRST,
		 folder, source);
	assert_int_equal(system(command), 0);
	unlink(source);
	snprintf(source, sizeof(source), "%s/units", folder);
	di = debuginfo_open(source, &err);
	if (!di)
		fail_msg("%s", err.text);
	unlink(source);
	rmdir(folder);
	return di;
}

static void test_many_units(void **state)
{
	char folder[32] = "/tmp/outrider-units.XXXXXX";
	struct debuginfo *di = open_units(folder);
	struct debuginfo_datum d;
	struct err err = {0};

	(void)state;
	assert_int_equal(debuginfo_variable_at(di, BEYOND, 8, &d, &err), 0);
	assert_int_equal(err.code, EXIT_OK);
	assert_int_equal(debuginfo_variable_at(di, LAST, 8, &d, &err), 1);
	assert_string_equal(d.path, "v");
	assert_int_equal(debuginfo_variable_at(di, FIRST, 8, &d, &err), 1);
	assert_int_equal(err.code, EXIT_OK);
	debuginfo_close(di);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_units)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
