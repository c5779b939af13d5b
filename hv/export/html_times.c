// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws, on the HTML page of a report, when in its run each recorded instance of a race was observed. The drawing is 1000 SVG
 * units wide and 20 high, and the page stretches it to the available width.
 */
#include <inttypes.h>

#include "hv/export/html.h"

#define WIDTH 1000.0 /* units of the drawing */

static double longest_ns(const struct export_run *run, const struct race *race)
{
	uint64_t ns = race->last_ns;

	for (size_t i = 0; i < run->run_count; i++) {
		if (run->runs[i].sampled_ns > ns)
			ns = run->runs[i].sampled_ns;
	}
	return ns ? (double)ns : 1;
}

void html_times(FILE *out, const struct export_run *run, const struct race *race)
{
	double whole = longest_ns(run, race), from = (double)race->first_ns / whole * WIDTH;

	fprintf(out,
		"<svg class=\"times\" viewBox=\"0 0 1000 20\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Seen from "
		"%.3f s to "
		"%.3f s into the run\"><path d=\"M0 10H1000\"/><rect x=\"%.1f\" y=\"8\" width=\"%.1f\" height=\"4\"/>",
		(double)race->first_ns / 1e9, (double)race->last_ns / 1e9, from,
		(double)(race->last_ns - race->first_ns) / whole * WIDTH);
	for (unsigned i = 0; i < race->kept; i++) {
		double at = (double)race->instances[i].time_ns / whole * WIDTH;

		fprintf(out, "<path class=\"seen\" d=\"M%.1f 2V18\"><title>%.3f s</title></path>", at < WIDTH ? at : WIDTH,
			(double)race->instances[i].time_ns / 1e9);
	}
	fprintf(out, "</svg>\n<p class=\"faint times\"><span>0 s</span><span>");
	if (race->count > race->kept)
		fprintf(out, "the first %u of %" PRIu64 " instances, and the time from the first to the last", race->kept,
			race->count);
	else
		fprintf(out, "%" PRIu64 " instance%s", race->count, race->count == 1 ? "" : "s");
	fprintf(out, "</span><span>%.1f s</span></p>\n", whole / 1e9);
}
