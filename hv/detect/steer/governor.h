/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The governor keeps the cost of sampling at a share of the CPUs' time: the cost is given, and the hit rate follows. It has
 * two outputs.
 *
 * credit_ns bounds the cost from above. It is a balance of CPU time (hv/base/allowance.h): while it is not above 0, no window
 * may open. So the bound needs no estimate, and holds even if the guest's load changes faster than it can be measured.
 *
 * rate makes the cost approach the share from below. It is the number of hits/s to provoke, somewhat more than the credit can
 * pay for, and is computed from the average cost of recent useful hits. A hit without credit is refused; every other hit is
 * useful. The average does not count refused hits: they cost little, and would make hits look cheap.
 *
 * Pure arithmetic over samples: no clock, no lock, no target.
 */
#ifndef OUTRIDER_DETECT_STEER_GOVERNOR_H
#define OUTRIDER_DETECT_STEER_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/allowance.h"

struct governor_config {
	double share;	    /* Share of the CPUs' time that may be lost, above 0 and up to 1. */
	unsigned cpus;	    /* Number of CPUs. */
	double most_rate;   /* Upper bound of the hit rate, in hits/s. */
	uint64_t window_ns; /* Longest window, in ns. Also the first guess of the cost of a hit. */
};

/* Counts since a start time that is the same for all samples. */
struct governor_sample {
	uint64_t now_ns;  /* Time of the sample, for example CLOCK_MONOTONIC. */
	uint64_t lost_ns; /* CPU time in ns that the guest lost, summed over CPUs. */
	uint64_t hits;	  /* Number of hits. */
	uint64_t refused; /* Number of hits without credit, part of `hits`. */
};

struct governor {
	/* Outputs, valid after each step. */
	double rate;		    /* Hits/s to provoke, at most config.most_rate. */
	struct allowance allowance; /* allowance.credit_ns: the credit, in ns of CPU time. */

	/* Internal state. */
	struct governor_config config;
	struct governor_sample last;
	double cost_ns, useful; /* Cost of useful hits in ns, and their number; older hits weigh less. */
	double surplus;		/* Hits to provoke for each hit that the credit pays for. */
};

/* Initialise the governor with a credit of 0. `first` is a sample of the current counts. */
void governor_init(struct governor *g, const struct governor_config *config, const struct governor_sample *first);

/*
 * Compute the outputs from one more sample. Call it at least 10 times a second. A count that is lower than before is taken as
 * unchanged.
 */
void governor_step(struct governor *g, const struct governor_sample *sample);

/*
 * Whether the credit is so far below 0 that it would take more than 1 s, even without further cost, to rise above 0. The caller
 * should then provoke no hits.
 */
bool governor_in_debt(const struct governor *g);

#endif
