// SPDX-License-Identifier: GPL-2.0-or-later
/* Which section of MAINTAINERS a file belongs to, as Documentation/process/maintainers.rst has its patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/campaign/list/subsystem.h"

static const char maintainers[] = "List of maintainers\n"
				  "===================\n"
				  "\n"
				  "\tF: *Files* and directories wildcard patterns.\n"
				  "\t   F:\tdrivers/net/\tall files in and below drivers/net\n"
				  "\n"
				  "Maintainers List\n"
				  "----------------\n"
				  "\n"
				  "EXT4 FILE SYSTEM\n"
				  "M:\tSomebody <a@example.org>\n"
				  "F:\tfs/ext4/\n"
				  "F:\tinclude/trace/events/ext4.h\n"
				  "\n"
				  "FILESYSTEMS (VFS and infrastructure)\r\n"
				  "F:\tfs/*\n"
				  "X:\tfs/io_uring.c\n"
				  "\n"
				  "NETWORKING [GENERAL]\n"
				  "F:\tnet/\n"
				  "X:\tnet/bluetooth/\n"
				  "\n"
				  "KVM FOR ALL\n"
				  "F:\tarch/*/kvm/\n"
				  "\n"
				  "TEGRA\n"
				  "N:\t[^a-z]tegra\n"
				  "N:\t(\n"
				  "\n"
				  "THE REST\n"
				  "M:\tSomebody else <b@example.org>\n"
				  "F:\t*\n"
				  "F:\t*/\n";

static char folder[] = "/tmp/test_campaign_subsystem.XXXXXX";
static char path[64];

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static int begin(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/MAINTAINERS", folder);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void the_closest_pattern_wins(void **state)
{
	static const struct {
		const char *file, *section;
	} cases[] = {
		{"fs/ext4/inode.c", "EXT4 FILE SYSTEM"},
		{"fs/ext4/deep/er.c", "EXT4 FILE SYSTEM"},
		{"include/trace/events/ext4.h", "EXT4 FILE SYSTEM"},
		{"fs/inode.c", "FILESYSTEMS (VFS and infrastructure)"},
		{"fs/io_uring.c", NULL},			     /* X: takes it out, and THE REST is no answer. */
		{"fs/xfs/xfs_inode.c", NULL},			     /* A wildcard stays in its folder. */
		{"fs/ext4", "FILESYSTEMS (VFS and infrastructure)"}, /* The folder's own name is not below it. */
		{"net/core/dev.c", "NETWORKING [GENERAL]"},
		{"net/bluetooth/hci_core.c", NULL},
		{"network/core.c", NULL},
		{"arch/x86/kvm/vmx/vmx.c", "KVM FOR ALL"},
		{"drivers/clk/tegra/clk.c", "TEGRA"},
		{"drivers/clk/clk.c", NULL},
		{"", NULL},
		{"drivers/net/dummy.c", NULL}, /* What explains the patterns has none. */
	};
	struct err err = {0};
	struct subsystems *s;

	(void)state;
	write_file(maintainers);
	s = subsystems_read(folder, &err);
	assert_non_null(s);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *found = subsystem_find(s, cases[i].file);

		if (!found != !cases[i].section || (found && strcmp(found, cases[i].section) != 0))
			fail_msg("%s is of %s, not of %s", cases[i].file, found ? found : "nothing",
				 cases[i].section ? cases[i].section : "nothing");
	}
	subsystems_free(s);
	assert_null(subsystem_find(NULL, "fs/inode.c"));
}

static void what_is_no_list_is_refused(void **state)
{
	struct err err = {0};

	(void)state;
	unlink(path);
	assert_null(subsystems_read(folder, &err));
	assert_int_equal(err.code, EXIT_INPUT);
	assert_non_null(strstr(err.text, "/MAINTAINERS: No such file"));
	for (const char *const *text = (const char *const[]){"", "F:\tfs/\n", "TITLE\n\nM:\ta@example.org\n", NULL}; *text;
	     text++) {
		err = (struct err){0};
		write_file(*text);
		assert_null(subsystems_read(folder, &err));
		assert_int_equal(err.code, EXIT_INPUT);
	}
}

static void a_folder_stands_for_a_section(void **state)
{
	char out[64], small[4];

	(void)state;
	assert_string_equal(subsystem_folder("fs/ext4/inode.c", "ext4", out, sizeof(out)), "fs/ext4");
	assert_string_equal(subsystem_folder("fs/inode.c", "", out, sizeof(out)), "fs");
	assert_string_equal(subsystem_folder("", "ext4", out, sizeof(out)), "ext4");
	assert_string_equal(subsystem_folder("inode.c", "", out, sizeof(out)), "kernel");
	assert_string_equal(subsystem_folder("/usr/src/x.c", "x", out, sizeof(out)), "x");
	assert_string_equal(subsystem_folder("fs/ext4/inode.c", "ext4", small, sizeof(small)), "fs/");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_closest_pattern_wins),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(a_folder_stands_for_a_section),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
