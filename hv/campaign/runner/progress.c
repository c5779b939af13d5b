// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows the round's progress: one line on a terminal, overwritten each second. */
#include "hv/campaign/runner/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hv/base/clean.h"
#include "hv/base/clock.h"

#define EVERY_NS UINT64_C(1000000000)
#define LINE_MAX_LEN 512

void progress_begin(struct progress *p, bool quiet)
{
	*p = (struct progress){.quiet = quiet, .shown = !quiet && isatty(STDERR_FILENO)};
}

bool progress_is_due(struct progress *p)
{
	uint64_t now = monotonic_ns();

	if (!p->shown || now - p->last_ns < EVERY_NS)
		return false;
	p->last_ns = now;
	return true;
}

static void wipe(struct progress *p)
{
	if (p->width)
		fprintf(stderr, "\r%*s\r", (int)p->width, "");
	p->width = 0;
}

static unsigned columns(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

void progress_show(struct progress *p, const struct progress_figures *f)
{
	char line[LINE_MAX_LEN], left[64] = "";
	uint64_t s = f->left_ns / 1000000000;
	int n;

	if (f->left_ns != UINT64_MAX)
		snprintf(left, sizeof(left), ", at most %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left", s / 3600, s / 60 % 60,
			 s % 60);
	n = snprintf(line, sizeof(line),
		     "%u of %u runs done, %u at work, %" PRIu64 " hits, %" PRIu64 " races, %" PRIu64 " new, %u broke%s",
		     f->done, f->planned, f->running, f->hits, f->races, f->fresh, f->broke, left);
	/* Cut the line at the terminal's width: a folded line could not be overwritten. */
	if (n >= (int)columns())
		line[columns() - 1] = '\0';
	wipe(p);
	fputs(line, stderr);
	fflush(stderr);
	p->width = (unsigned)strlen(line);
}

void progress_say(struct progress *p, const char *fmt, ...)
{
	char line[LINE_MAX_LEN];
	va_list ap;

	if (p->quiet)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	clean_line(line, sizeof(line));
	wipe(p);
	fprintf(stderr, "outrider: %s\n", line);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	wipe(p);
	fflush(stderr);
	p->shown = false;
}
