// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes the machine that Outrider runs on, for the record of a run. */
#include "hv/session/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Read the first line "model name\t: VALUE" of /proc/cpuinfo. All CPUs of a host are of one model. */
static bool read_cpu(char *out, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && !found && getline(&line, &room, file) > 0) {
		const char *value = strncmp(line, "model name", 10) == 0 ? strstr(line, ": ") : NULL;

		if (value) {
			snprintf(out, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
			found = out[0] != '\0';
		}
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

void host_read(struct host *host)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*host = (struct host){0};
	if (uname(&host->names) == 0) {
		host->facts.name = host->names.nodename;
		host->facts.release = host->names.release;
	}
	if (read_cpu(host->cpu, sizeof(host->cpu)))
		host->facts.cpu = host->cpu;
	host->facts.cpus = cpus > 0 ? (unsigned)cpus : 0;
}
