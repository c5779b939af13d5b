// SPDX-License-Identifier: GPL-2.0-or-later
/* Stressors of the workload "busy" that exercise memory management: mappings, protection, page faults, and copy on write. */
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent.h"
#include "busy.h"

#define PAGE 4096u
#define PAGES 64u

static void touch(volatile char *p, unsigned int step)
{
	for (unsigned int i = 0; i < PAGES; i += step)
		p[(size_t)i * PAGE] = (char)i;
}

static enum busy_result round_memory(struct busy_worker *w)
{
	size_t size = (size_t)PAGES * PAGE;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *moved;
	bool ok;

	if (p == MAP_FAILED)
		return BUSY_ERROR;
	touch(p, 1 + busy_random(w) % 4);
	ok = !mprotect(p + size / 2, size / 2, PROT_READ) && !mprotect(p, size, PROT_READ | PROT_WRITE) &&
	     !madvise(p, size / 4, MADV_DONTNEED) && !mlock(p, PAGE) && !munlock(p, PAGE);
	touch(p, 2);
	moved = mremap(p, size, size * 2, MREMAP_MAYMOVE);
	if (moved == MAP_FAILED) {
		munmap(p, size);
		return BUSY_ERROR;
	}
	touch(moved + size, 8);
	return munmap(moved, size * 2) || !ok ? BUSY_ERROR : BUSY_OK;
}

static enum busy_result round_cow(struct busy_worker *w)
{
	size_t size = (size_t)PAGES * PAGE;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pid, rc;

	(void)w;
	if (p == MAP_FAILED)
		return BUSY_ERROR;
	touch(p, 1);
	pid = fork();
	if (!pid) {
		touch(p, 1);
		_exit(0);
	}
	touch(p, 2);
	rc = pid > 0 ? wait_status(pid) : AGENT_FAIL;
	munmap(p, size);
	return rc ? BUSY_ERROR : BUSY_OK;
}

const struct stressor stressor_memory = {"memory", false, round_memory};
const struct stressor stressor_cow = {"cow", false, round_cow};
