// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes to pipes and terminals whose reader may be slow (patience.h). */
#include "hv/session/patience.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "hv/base/clock.h"

/* Bytes that a pipe takes without blocking once poll() reports it ready: PIPE_BUF (pipe(7)). */
#define AT_A_TIME 4096u
/*
 * Time between two checks whether patience has ended: 100 ms, a tenth of the time for which output waits for its readers after
 * a run was asked to end (READER_NS in screen.c).
 */
#define LOOK_MS 100

void patience_ends_in(struct patience *p, uint64_t ns)
{
	uint64_t never = 0;

	atomic_compare_exchange_strong(&p->until_ns, &never, monotonic_ns() + ns);
}

static bool has_ended(const struct patience *p)
{
	uint64_t until_ns = p ? atomic_load(&p->until_ns) : 0;

	return until_ns && monotonic_ns() >= until_ns;
}

/*
 * Wait for a reader. Returns true if `fd` is ready, false if patience ends before. An `fd` with an error is ready, too: write()
 * then reports the error.
 */
static bool wait_ready(const struct patience *p, int fd)
{
	struct pollfd out = {.fd = fd, .events = POLLOUT};

	while (poll(&out, 1, LOOK_MS) == 0)
		if (has_ended(p))
			return false;
	return true;
}

size_t patience_write(const struct patience *p, int fd, const char *bytes, size_t len, int *failure)
{
	size_t done = 0;

	while (done < len && wait_ready(p, fd)) {
		ssize_t n = write(fd, bytes + done, len - done < AT_A_TIME ? len - done : AT_A_TIME);

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0) {
			*failure = n < 0 ? errno : EIO;
			break;
		}
		done += (size_t)n;
	}
	return done;
}
