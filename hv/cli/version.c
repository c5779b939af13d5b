// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/version.h"

#include <capstone.h>
#include <elfutils/version.h>
#include <jansson.h>
#include <libdwarf/libdwarf.h>
#include <libpq-fe.h>
#include <libvirt/libvirt.h>
#include <libxml/xmlversion.h>
#include <seccomp.h>
#include <slirp/libslirp.h>
#include <sqlite3.h>
#include <stdio.h>
#include <zlib.h>

#include "revision.h"

static void print_libraries(void)
{
	const struct scmp_version *seccomp = seccomp_version();
	unsigned long libvirt = 0;
	int major = 0, minor = 0;

	cs_version(&major, &minor);
	printf("libraries: capstone %d.%d, libdwarf %s, elfutils %d.%d, jansson %s", major, minor, dwarf_package_version(),
	       _ELFUTILS_VERSION / 1000, _ELFUTILS_VERSION % 1000, jansson_version_str());
	printf(", libpq %d.%d", PQlibVersion() / 10000, PQlibVersion() % 10000);
	if (seccomp)
		printf(", libseccomp %u.%u.%u", seccomp->major, seccomp->minor, seccomp->micro);
	printf(", libslirp %s", slirp_version_string());
	if (virGetVersion(&libvirt, NULL, NULL) == 0)
		printf(", libvirt %lu.%lu.%lu", libvirt / 1000000, libvirt / 1000 % 1000, libvirt % 1000);
	printf(", libxml2 %s, sqlite %s, zlib %s\n", LIBXML_DOTTED_VERSION, sqlite3_libversion(), zlibVersion());
}

void version_print(const struct cli_choice *formats)
{
	puts("outrider " OUTRIDER_VERSION);
	if (OUTRIDER_REVISION[0])
		puts("revision: " OUTRIDER_REVISION);
	print_libraries();
	fputs("features: run on KVM, attach by gdbstub and libvirt, debuginfod, reports as", stdout);
	for (size_t i = 0; formats->word(i); i++)
		printf("%s %s", i ? "," : "", formats->word(i));
	putchar('\n');
}
