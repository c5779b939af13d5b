/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fate of a datum that was accessed in a critical section: whether it changed later in the section, between this section
 * and the activation's next one, and in the next one. Counted in cases in which the run read the datum at the ends of the
 * sections. Plain data: hv/detect fills it in, and hv/race/protection.h keeps it.
 */
#ifndef OUTRIDER_RACE_SECTION_FATE_H
#define OUTRIDER_RACE_SECTION_FATE_H

#include <stddef.h>
#include <stdint.h>

/* Maximum number of fates that a run follows. */
#define SECTION_FATES_MAX 256u

struct section_fate {
	/* GVA of the instruction that makes the access. */
	uint64_t pc;
	/*
	 * GVAs of the calls that take the locks of the access's section and of the next section. `second` is 0 if only the
	 * access's own section is followed: then `moved` and `acted` are 0.
	 */
	uint64_t first, second;
	/* Number of cases that were followed to the end of the last section. */
	uint64_t seen;
	/*
	 * In how many of them the datum changed: `own`: between the access and the end of its section. `moved`: between the
	 * sections. `acted`: not between the sections, but in the second section.
	 */
	uint64_t own, moved, acted;
	/*
	 * If the code branches by the datum in a known way (struct lock_test): how often the second section followed
	 * (`reached`), and how often the context made the first section again before that (`missed`). Index 1: the datum had
	 * the value that the code looks for, index 0: another value.
	 */
	uint64_t reached[2], missed[2];
	/* The datum's bits that changed in the `own` and in the `moved` cases. Bit 0: the lowest bit of the first byte. */
	uint64_t own_bits, moved_bits;
};

/* Returns the fate of the access at `pc` in these sections, or NULL if it was not followed. */
const struct section_fate *section_fate_find(const struct section_fate *list, size_t n, uint64_t pc, uint64_t first,
					     uint64_t second);

#endif
