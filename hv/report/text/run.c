// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the facts about a run: kernel, time, host, options, and how the run ended. */
#include <inttypes.h>
#include <string.h>

#include "hv/report/text/text.h"
#include "hv/base/clean.h"
#include "hv/base/shell_word.h"

/*
 * Maximum number of bytes that are printed of one text. Texts come from the guest, the host or a file, and may have any length.
 */
#define SHOWN_MAX 1024

static void put(FILE *out, const char *text)
{
	char clean[CLEAN_MAX(SHOWN_MAX)];

	clean_text(text, SHOWN_MAX, clean, sizeof(clean));
	fputs(clean, out);
	if (strnlen(text, SHOWN_MAX + 1) > SHOWN_MAX)
		fputs("...", out);
}

static void put_kernel(FILE *out, const struct run_facts *run)
{
	const struct run_kernel *kernel = &run->kernel;

	fputs("  kernel        ", out);
	if (kernel->banner)
		put(out, kernel->banner);
	else
		fputs("not found", out);
	fputc('\n', out);
	if (!kernel->build_id_len)
		return;
	fputs("  build id      ", out);
	for (size_t i = 0; i < kernel->build_id_len; i++)
		fprintf(out, "%02x", kernel->build_id[i]);
	fputc('\n', out);
}

/* Print a time of run_time_now() as "2026-11-22 07:36:55 UTC". */
static void put_time(FILE *out, const char *time)
{
	fprintf(out, "%.10s %.8s UTC", time, time + 11);
}

static void put_start(FILE *out, const struct run_facts *run)
{
	const struct run_host *host = &run->host;

	if (run->started[0]) {
		fputs("  started       ", out);
		put_time(out, run->started);
		fputc('\n', out);
	}
	if (!host->name)
		return;
	fputs("  host          ", out);
	put(out, host->name);
	fputs(", Linux ", out);
	put(out, host->release ? host->release : "of an unknown release");
	if (host->cpus)
		fprintf(out, ", %u CPU%s", host->cpus, host->cpus == 1 ? "" : "s");
	if (host->cpu) {
		fputs(", ", out);
		put(out, host->cpu);
	}
	fputc('\n', out);
}

/* Print `word`, which comes from an untrusted file, with its unprintable characters replaced. */
static void put_word(FILE *out, const char *word)
{
	char clean[CLEAN_MAX(SHOWN_MAX + 1)];

	/* Clean one byte more than is shown, so that shell_word() sees that the word is longer. */
	clean_text(word, SHOWN_MAX + 1, clean, sizeof(clean));
	shell_word(out, clean, SHOWN_MAX);
}

static void put_options(FILE *out, const struct run_facts *run)
{
	if (!run->option_count)
		return;
	fputs("  command       outrider", out);
	for (size_t i = 0; i < run->option_count; i++) {
		fputc(' ', out);
		put_word(out, run->options[i]);
	}
	fputc('\n', out);
}

static void put_end(FILE *out, const struct run_facts *run)
{
	if (run->finished) {
		fprintf(out, "  finished      %.1f s sampled", (double)run->sampled_ns / 1e9);
		if (run->duration_ns)
			fprintf(out, " of %.1f s asked for", (double)run->duration_ns / 1e9);
		if (run->end) {
			fputs("; ", out);
			put(out, run->end);
		}
		fputc('\n', out);
		return;
	}
	fputs("  NOT FINISHED  the run still goes on, or was killed: each race's counts were written when it was first seen",
	      out);
	if (run->duration_ns)
		fprintf(out, "; %.1f s were asked for", (double)run->duration_ns / 1e9);
	fputc('\n', out);
}

void text_doubt(FILE *out, const struct run_facts *run, const char *file, const struct text_style *style)
{
	enum run_doubt doubt = run_doubt(run);
	char text[RUN_DOUBT_TEXT_MAX];

	if (doubt == RUN_SOUND)
		return;
	run_doubt_text(run, text);
	fprintf(out, "%s%s%s  ", text_colour(style, TEXT_STRONG), doubt == RUN_UNFINISHED ? "UNFINISHED" : "UNSAMPLED",
		text_colour(style, TEXT_PLAIN));
	if (file) {
		put(out, file);
		fputs(": ", out);
	}
	fprintf(out, "%s\n", text);
}

void text_run(FILE *out, const struct run_facts *run, const char *file, const struct text_style *style)
{
	fprintf(out, "%sRUN%s       ", text_colour(style, TEXT_STRONG), text_colour(style, TEXT_PLAIN));
	put(out, file);
	fputc('\n', out);
	put_kernel(out, run);
	put_start(out, run);
	fputs("  outrider      ", out);
	put(out, run->tool_version ? run->tool_version : "of an unknown version");
	fprintf(out, ", seed %" PRIu64 ", rate %u hits/s, delay %" PRIu64 " us\n", run->seed, run->rate, run->delay_ns / 1000);
	put_options(out, run);
	if (run->sandbox == RUN_SANDBOX_OFF)
		fputs("  sandbox       none: outrider was not confined while it ran this guest\n", out);
	put_end(out, run);
}
