// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the facts about the runs on the HTML page of a report: kernel, time, host and options. */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "hv/base/shell_word.h"
#include "hv/export/html.h"

static void begin(FILE *out, const char *what)
{
	fprintf(out, "<dt>%s</dt><dd>", what);
}

static void end(FILE *out)
{
	fputs("</dd>\n", out);
}

static void put_line(FILE *out, const char *what, const char *text)
{
	if (!text)
		return;
	begin(out, what);
	html_foreign(out, text);
	end(out);
}

static void put_kernel(FILE *out, const struct run_kernel *kernel)
{
	put_line(out, "Kernel", kernel->banner ? kernel->banner : "not found");
	if (kernel->build_id_len) {
		begin(out, "Build id");
		fputs("<code>", out);
		for (size_t i = 0; i < kernel->build_id_len; i++)
			fprintf(out, "%02x", kernel->build_id[i]);
		fputs("</code>", out);
		end(out);
	}
}

static void put_host(FILE *out, const struct run_host *host)
{
	if (!host->name)
		return;
	begin(out, "Host");
	html_foreign(out, host->name);
	if (host->release) {
		fputs(", Linux ", out);
		html_foreign(out, host->release);
	}
	if (host->cpus)
		fprintf(out, ", %u CPU%s", host->cpus, host->cpus == 1 ? "" : "s");
	if (host->cpu) {
		fputs(", ", out);
		html_foreign(out, host->cpu);
	}
	end(out);
}

/*
 * At most this many bytes of an argument of the run's command are shown. Quoted for a shell, a byte can become four, and
 * html_foreign() shows at most 1024.
 */
#define WORD_SHOWN_MAX 250

static void put_word(FILE *out, const char *word)
{
	char *quoted = shell_word_copy(word, WORD_SHOWN_MAX);

	fputc(' ', out);
	html_foreign(out, quoted ? quoted : "(out of memory)");
	free(quoted);
}

static void put_asked(FILE *out, const struct run_facts *run)
{
	if (run->option_count) {
		begin(out, "Command");
		fputs("<code>outrider", out);
		for (size_t i = 0; i < run->option_count; i++)
			put_word(out, run->options[i]);
		fputs("</code>", out);
		end(out);
	}
	if (run->sandbox == RUN_SANDBOX_OFF) {
		begin(out, "Sandbox");
		fputs("none: outrider was not confined while it ran this guest", out);
		end(out);
	}
	begin(out, "Asked for");
	fprintf(out, "%u hits/s, windows of up to %.1f ms, ", run->rate, (double)run->delay_ns / 1e6);
	if (run->duration_ns)
		fprintf(out, "for %.0f s, ", (double)run->duration_ns / 1e9);
	fprintf(out, "seed <code>%" PRIu64 "</code>", run->seed);
	end(out);
}

/* Write how the run ended, or that it did not: an unfinished run must not look finished. */
static void put_end(FILE *out, const struct run_facts *run)
{
	begin(out, "Ended");
	if (run->finished) {
		fprintf(out, "after %.1f s of sampling, ", (double)run->sampled_ns / 1e9);
		html_foreign(out, run->end ? run->end : "unknown");
	} else {
		fputs("<span class=\"unsure\">not finished: the run goes on, or it was killed. Counts are from when each "
		      "race was "
		      "written.</span>",
		      out);
	}
	end(out);
}

static void put_run(FILE *out, const struct run_facts *run)
{
	fputs("<dl class=\"run\">\n", out);
	put_kernel(out, &run->kernel);
	if (run->started[0]) {
		begin(out, "Started");
		fprintf(out, "<time datetime=\"%s\">%.10s %.8s UTC</time>", run->started, run->started, run->started + 11);
		end(out);
	}
	put_host(out, &run->host);
	put_asked(out, run);
	put_end(out, run);
	put_line(out, "Recorded by", run->tool_version);
	fputs("</dl>\n", out);
}

void html_runs(FILE *out, const struct export_run *run)
{
	if (run->run_count == 1) {
		put_run(out, &run->runs[0]);
		return;
	}
	for (size_t i = 0; i < run->run_count; i++) {
		const struct run_facts *facts = &run->runs[i];

		fprintf(out, "<details><summary>Run %zu%s", i + 1, facts->started[0] ? ", started " : "");
		fprintf(out, "%.10s", facts->started);
		fprintf(out, ", seed %" PRIu64 "%s</summary>\n", facts->seed, facts->finished ? "" : ", not finished");
		put_run(out, facts);
		fputs("</details>\n", out);
	}
}
