/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The governor keeps what sampling costs the guest at a share of its CPUs' time: the rate of hits follows the cost, instead of
 * the cost the rate. It has two outputs.
 *
 * credit_ns bounds the cost from above. It is a balance (hv/base/allowance.h) of CPU time: as long as it is not above 0, no
 * window may be opened. So no estimate has to be right, and a load that changes faster than anybody can measure costs no more.
 *
 * rate reaches the share from below. It says how many hits a second are to be provoked, some more than the credit will pay for:
 * what a useful hit has cost lately decides. A hit is refused when it came while there was no credit, and is useful otherwise.
 * Only useful hits are counted for this, so that refused ones, which cost little, do not make hits look cheap.
 *
 * Pure arithmetic over samples: no clock, no lock, no target.
 */
#ifndef OUTRIDER_DETECT_GOVERNOR_H
#define OUTRIDER_DETECT_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#include "hv/base/allowance.h"

struct governor_config {
	double share;	    /* The share of the CPUs' time that may be lost, above 0 and up to 1. */
	unsigned cpus;	    /* How many CPUs there are. */
	double most_rate;   /* The most hits a second, whatever they cost. */
	uint64_t window_ns; /* The longest window. A hit is thought to cost as much before anything is known. */
};

/* Counts since any one moment, the same for all samples. */
struct governor_sample {
	uint64_t now_ns;  /* The time, for example of CLOCK_MONOTONIC. */
	uint64_t lost_ns; /* How long CPUs were kept from their work, over all CPUs. */
	uint64_t hits;	  /* How many hits there were. */
	uint64_t refused; /* How many of these hits came while there was no credit. */
};

struct governor {
	/* What a caller reads after each step. */
	double rate;		    /* Hits a second to aim at, config.most_rate at most. */
	struct allowance allowance; /* allowance.credit_ns is the credit, in ns of CPU time. */

	/* The governor's own. */
	struct governor_config config;
	struct governor_sample last;
	double cost_ns, useful; /* What useful hits have cost in all, and how many they were. Old ones count less and less. */
	double surplus;		/* How many hits are provoked for each that the credit pays for. */
};

/* Begin with no credit. `first` is where the counts stand now. */
void governor_init(struct governor *g, const struct governor_config *config, const struct governor_sample *first);

/* Take one more sample, some ten times a second or more often. Counts that went back count as unchanged. */
void governor_step(struct governor *g, const struct governor_sample *sample);

/* Whether it would take more than a second without any cost until there is credit again. Then hits are better not provoked. */
bool governor_in_debt(const struct governor *g);

#endif
