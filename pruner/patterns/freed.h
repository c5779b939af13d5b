/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds calls after an access that may free the object that the access was to. */
#ifndef OUTRIDER_PRUNER_PATTERNS_FREED_H
#define OUTRIDER_PRUNER_PATTERNS_FREED_H

#include "pruner/patterns/view.h"

enum freed_when {
	FREED_EVER,
	/* At once: neither after a grace period nor after a wait for one. */
	FREED_EARLY,
	/*
	 * At any time, by a function that frees its argument and nothing else. kfree_skb() does not count, because it frees a
	 * packet's data, too.
	 */
	FREED_OWN,
};

/*
 * Returns the name of a freeing function that side `which` may call after its access, with an argument that may be the datum's
 * object or the object that the datum points to. NULL: the kept code shows no such call. A call with an unknown argument
 * counts, too; the argument is known if the registers recorded at the access give it. Unless `when` is FREED_OWN, a
 * call of a function that may free more than its argument counts with any argument.
 */
const char *freed_after(const struct view *v, unsigned which, enum freed_when when);

#endif
