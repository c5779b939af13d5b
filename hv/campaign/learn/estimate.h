/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Estimates from counts.
 *
 * learn_chao1() estimates the number of unseen pairs of racing sites by Chao1, a species estimator (A. Chao, Scandinavian
 * Journal of Statistics 11, 1984, and Biometrics 43, 1987). It uses only the numbers of pairs that were seen once and twice. It
 * gives a LOWER BOUND of the number of pairs that runs like these would show in the end. Output must call it an estimate,
 * because it is no count.
 *
 * Pure functions. Any thread.
 */
#ifndef OUTRIDER_CAMPAIGN_LEARN_ESTIMATE_H
#define OUTRIDER_CAMPAIGN_LEARN_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

struct learn_counts {
	/* Numbers of pairs: seen at all, seen exactly once, and seen exactly twice. */
	uint64_t observed, once, twice;
	/*
	 * Number of runs, if `once` and `twice` are the numbers of pairs that exactly one run and exactly two runs saw (this
	 * form is also called Chao2). 0: they are the numbers of pairs that were observed once and twice, in whatever run.
	 */
	uint64_t runs;
};

struct learn_estimate {
	/* The estimated number of all pairs, and its 95 % confidence interval. */
	double pairs, low, high;
	/*
	 * Whether there are enough data for an estimate: false after one run, or if no pair was seen. `pairs`, `low` and `high`
	 * are the number of observed pairs if `known` is false, or if fewer than two pairs were seen exactly once.
	 */
	bool known;
};

/*
 * Returns the estimate in its bias-corrected form, which also works if no pair was seen twice, with Chao's log-normal
 * confidence interval.
 */
struct learn_estimate learn_chao1(const struct learn_counts *counts);

/*
 * Returns the probability that all of the last `since` windows at a race's sites miss the race by chance although the kernel
 * still has it. Before these windows, `runs` runs saw the race in `before` windows at its sites. Returns -1 (not
 * known) if `runs` or `before` is 0, else 1 if `since` is 0.
 *
 * The method is the test of extinction of A. R. Solow, "Inferring extinction from sighting data", Ecology 74(3), 1993: if
 * sightings come at a constant rate, all n of them lie in the first T_n of a period T with the probability (T_n / T)^n. Here
 * time is counted in windows, because a race can be seen only in a window; so a round that samples more is stronger evidence.
 * For many windows and few sightings the result is close to (1 - p)^since with p = runs / before, and a little larger, since p
 * is itself uncertain. A run counts once, however often it saw the race: the observations of one run are not independent of
 * each other.
 */
double learn_missed(uint64_t runs, uint64_t before, uint64_t since);

#endif
