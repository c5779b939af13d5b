// SPDX-License-Identifier: GPL-2.0-or-later
/* The domain that is started for one run: what of its XML is the file's, and what is the run's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "hv/campaign/runner/machine.h"

static const char file_text[] = "<domain type='kvm'><name>web</name><uuid>8b1c9f0e-0000-0000-0000-000000000000</uuid>"
				"<memory unit='GiB'>4</memory><currentMemory unit='GiB'>2</currentMemory><vcpu>4</vcpu>"
				"<os><type>hvm</type><kernel>/old</kernel><initrd>/old</initrd><cmdline>old</cmdline></os>"
				"<devices><serial type='pty'/><console type='pty'/><disk type='file'/></devices></domain>";

static char path[] = "/tmp/test-campaign-machine-XXXXXX";

static int make_file(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd >= 0 && write(fd, file_text, sizeof(file_text) - 1) == sizeof(file_text) - 1 && close(fd) == 0 ? 0 : -1;
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static char *xml_of(const struct plan_domain *domain, uint64_t memory)
{
	const struct plan_run run = {.attach = true, .domain = domain, .vcpus = 2, .memory = memory};
	const struct machine machine = {.run = &run, .folder = "/spool/run", .name = "outrider-0123"};
	struct err err = {0};
	char *xml = machine_xml(&machine, &err);

	assert_string_equal(err.text, "");
	assert_non_null(xml);
	return xml;
}

static void assert_has(const char *xml, const char *part)
{
	if (!strstr(xml, part))
		fail_msg("no %s in %s", part, xml);
}

static void test_is_the_runs(void **state)
{
	const struct plan_domain domain = {.file = path, .kernel = "/dev/null", .cmdline = "work=<ext4> & quiet"};
	char *xml = xml_of(&domain, UINT64_C(512) << 20);

	(void)state;
	assert_has(xml, "<name>outrider-0123</name>");
	assert_has(xml, "<vcpu>2</vcpu>");
	assert_has(xml, "<memory unit=\"KiB\">524288</memory>");
	assert_has(xml, "<kernel>/dev/null</kernel>");
	assert_has(xml, "<cmdline>console=ttyS0 work=&lt;ext4&gt; &amp; quiet</cmdline>");
	assert_has(xml, "<serial type=\"file\"><source path=\"/spool/run/console.log\"/></serial>");
	assert_has(xml, "<type>hvm</type>");
	assert_has(xml, "<disk type=\"file\"/>");
	assert_null(strstr(xml, "uuid"));
	assert_null(strstr(xml, "currentMemory"));
	assert_null(strstr(xml, "old"));
	assert_null(strstr(xml, "pty"));
	free(xml);
}

static void test_is_the_files_own(void **state)
{
	const struct plan_domain domain = {.file = path};
	char *xml = xml_of(&domain, 0);

	(void)state;
	assert_has(xml, "<kernel>/old</kernel>");
	assert_has(xml, "<cmdline>old</cmdline>");
	assert_has(xml, "<memory unit=\"GiB\">4</memory>");
	assert_has(xml, "<currentMemory unit=\"GiB\">2</currentMemory>");
	free(xml);
}

static void test_console_that_is_named_stays(void **state)
{
	const struct plan_domain domain = {.file = path, .kernel = "/dev/null", .cmdline = "console=ttyS1"};
	char *xml = xml_of(&domain, 0);

	(void)state;
	assert_has(xml, "<cmdline>console=ttyS1</cmdline>");
	free(xml);
}

static void test_file_that_is_gone(void **state)
{
	const struct plan_domain domain = {.file = "/nowhere/web.xml"};
	const struct plan_run run = {.attach = true, .domain = &domain, .vcpus = 2};
	const struct machine machine = {.run = &run, .folder = "/spool/run", .name = "outrider-0123"};
	struct err err = {0};

	(void)state;
	assert_null(machine_xml(&machine, &err));
	assert_int_equal(err.code, EXIT_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_the_runs),
		cmocka_unit_test(test_is_the_files_own),
		cmocka_unit_test(test_console_that_is_named_stays),
		cmocka_unit_test(test_file_that_is_gone),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
