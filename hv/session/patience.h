/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing to a pipe or terminal whose reader may be slow, or stopped. Patience is the time to wait for such readers. A run
 * waits without limit until a signal or one of its limits ends it. From then on the report must not depend on readers of the
 * run's output.
 *
 * Any thread may call these functions.
 */
#ifndef OUTRIDER_SESSION_PATIENCE_H
#define OUTRIDER_SESSION_PATIENCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct patience {
	/* The time (CLOCK_MONOTONIC, ns) from which readers are not waited for. 0: wait without limit. */
	_Atomic uint64_t until_ns;
};

/* Let patience end `ns` from now, unless an earlier call has set its end. */
void patience_ends_in(struct patience *p, uint64_t ns);

/*
 * Write `len` bytes to `fd`. Returns the number of bytes written. If that is less than `len`, patience ended before the reader
 * was ready, or a write failed and *failure is its errno; otherwise *failure is unchanged. If `p` is NULL, wait without limit.
 */
size_t patience_write(const struct patience *p, int fd, const char *bytes, size_t len, int *failure);

#endif
