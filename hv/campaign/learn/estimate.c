// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates how many pairs of racing sites a campaign has not seen, from the counts of the pairs that it has seen. */
#include "hv/campaign/learn/estimate.h"

#include <math.h>

#define Z_95 1.959964 /* standard deviations on each side of the mean that contain 95 % of a normal distribution */

/*
 * Returns the variance of the bias-corrected estimate. `once` and `twice` are the numbers of pairs seen once and twice. `part`
 * is the factor (runs - 1) / runs of the estimate, or 1 if the pairs were not counted by runs (struct learn_counts). `all` is
 * the estimate. If no pair was seen twice, another formula applies (Chao 1987, as in the user's guide of EstimateS, appendix B,
 * equations 6 and 7).
 */
static double variance(double once, double twice, double part, double all)
{
	double more = twice + 1;

	if (twice == 0)
		return fmax(0, part * once * (once - 1) / 2 + part * part * once * (2 * once - 1) * (2 * once - 1) / 4 -
				       part * part * once * once * once * once / (4 * all));
	return part * once * (once - 1) / (2 * more) +
	       part * part * once * (2 * once - 1) * (2 * once - 1) / (4 * more * more) +
	       part * part * once * once * twice * (once - 1) * (once - 1) / (4 * more * more * more * more);
}

struct learn_estimate learn_chao1(const struct learn_counts *counts)
{
	double observed = (double)counts->observed, once = (double)counts->once, twice = (double)counts->twice;
	double part = counts->runs ? (double)(counts->runs - 1) / (double)counts->runs : 1;
	double unseen = part * once * (once - 1) / (2 * (twice + 1)), factor;
	struct learn_estimate e = {observed, observed, observed, counts->observed && counts->runs != 1};

	/*
	 * If fewer than two pairs were seen once, `unseen` is 0 (the estimate is that all pairs were seen), and the formula
	 * below would divide by 0.
	 */
	if (!e.known || counts->once < 2)
		return e;
	factor = exp(Z_95 * sqrt(log(1 + variance(once, twice, part, observed + unseen) / (unseen * unseen))));
	return (struct learn_estimate){observed + unseen, observed + unseen / factor, observed + unseen * factor, true};
}

double learn_missed(uint64_t runs, uint64_t before, uint64_t since)
{
	if (!runs || !before)
		return -1;
	return exp(-(double)runs * log1p((double)since / (double)before));
}
