// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the command line of a run of a campaign, and the shell command that repeats the run. */
#include "hv/campaign/runner/arguments.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/base/shell_word.h"

#define NS_PER_MS 1000000

/* Words under construction, each ended by a NUL byte. finish() makes a list of pointers to them. */
struct words {
	char *text;
	size_t size, count;
	FILE *out;
};

static void add(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *w, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(w->out, fmt, ap);
	va_end(ap);
	fputc('\0', w->out);
	w->count++;
}

/* Returns the list and the words in one block of memory from malloc(). */
static char **finish(struct words *w)
{
	char **list = NULL, *word;

	if (fclose(w->out) == 0)
		list = malloc((w->count + 1) * sizeof(*list) + w->size);
	if (list) {
		word = memcpy((char *)(list + w->count + 1), w->text, w->size);
		for (size_t i = 0; i < w->count; i++, word += strlen(word) + 1)
			list[i] = word;
		list[w->count] = NULL;
	}
	free(w->text);
	return list;
}

static void add_file(struct words *w, const struct job *j, const char *option, const char *name)
{
	add(w, "--%s", option);
	add(w, "%s/%s", j->folder, name);
}

static void add_machine(struct words *w, const struct job *j, bool to_repeat)
{
	char vsock[128];

	add_file(w, j, "console", "console.log");
	if (j->run->limits.output) {
		add(w, "--console-limit");
		add(w, "%" PRIu64 "K", j->run->limits.output / 1024 ?: 1);
	}
	if (j->heartbeat.folder[0]) {
		heartbeat_option(&j->heartbeat, to_repeat, vsock, sizeof(vsock));
		add(w, "--vsock");
		add(w, "%s", vsock);
	}
}

/*
 * Add the options of `outrider explore`, which then prints its result on standard output, and saves scenarios in the run's
 * folder.
 */
static void add_exploring(struct words *w, const struct job *j, const struct job_config *config)
{
	add(w, "--trials");
	add(w, "%" PRIu64, (uint64_t)j->run->pair->trials + config->again);
	add(w, "--keep-going");
	add(w, "--format");
	add(w, "json");
	add_file(w, j, "console", "console.log");
	add(w, "--save");
	add(w, "%s", j->folder);
	if (config->skip)
		add_file(w, j, "skip", config->skip);
}

static void add_sampling(struct words *w, const struct job *j, const struct job_config *config)
{
	const struct plan_run *r = j->run;

	add(w, "--quiet");
	add(w, "--seed");
	add(w, "%" PRIu64, r->seed);
	add_file(w, j, "json", "races.json");
	add_file(w, j, "coverage", "coverage.json");
	if (config->prefer)
		add_file(w, j, "prefer", config->prefer);
	if (!r->attach)
		add_machine(w, j, config->to_repeat);
	else
		add(w, "%s", r->domain->name ? r->domain->name : j->machine.name);
}

char **arguments_make(const struct job *j, const struct job_config *config, struct err *err)
{
	const struct plan_run *r = j->run;
	struct words w = {0};
	char **list = NULL;

	w.out = open_memstream(&w.text, &w.size);
	if (w.out) {
		add(&w, "%s", config->program);
		add(&w, "%s", plan_engine(r));
		for (size_t i = 0; i < r->argc; i++)
			add(&w, "%s", r->argv[i]);
		add(&w, "--duration");
		add(&w, "%" PRIu64 "ms", r->duration_ns / NS_PER_MS ?: 1);
		if (r->pair)
			add_exploring(&w, j, config);
		else
			add_sampling(&w, j, config);
		list = finish(&w);
	}
	if (!list)
		err_set(err, EXIT_INTERNAL, "out of memory");
	return list;
}

char *arguments_quote(char *const *argv, struct err *err)
{
	char *text = NULL, *folder = getcwd(NULL, 0);
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (out) {
		fputs("cd ", out);
		shell_word(out, folder ? folder : ".", SIZE_MAX);
		fputs(" &&", out);
		for (; *argv; argv++) {
			fputc(' ', out);
			shell_word(out, *argv, SIZE_MAX);
		}
		fputc('\n', out);
	}
	free(folder);
	if (out && fclose(out) == 0)
		return text;
	err_set(err, EXIT_INTERNAL, "out of memory");
	return NULL;
}
