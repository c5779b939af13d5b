/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mark is the time of the last write of a block of a disk. Copies of the machine in other processes use marks: a copy may
 * read a block only if the block has not been written since the copy was made. Time is counted in copies: each copy advances it
 * by one. The marks are in memory that fork() shares.
 *
 * The writer sets the mark before it writes the data, and a reader tests the mark after it has read the data. So a reader that
 * finds no newer mark has read the data of the time when the copy was made. Any thread of any of these processes may call
 * disk_marks_write() and disk_marks_older().
 */
#ifndef OUTRIDER_VMM_BLOCK_DISK_MARKS_H
#define OUTRIDER_VMM_BLOCK_DISK_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

/* Bytes of a block. Each block of a disk has a mark. */
#define DISK_MARKS_BLOCK 4096u

struct disk_marks {
	_Atomic uint32_t *words; /* the current time, then the mark of each block; NULL: no marks */
	size_t len;		 /* bytes */
};

/*
 * Make marks for a disk of `disk_size` bytes, at time 0. The host allocates memory only for marks that are set. Returns 0, or
 * -1 with EXIT_INPUT.
 */
int disk_marks_open(struct disk_marks *m, uint64_t disk_size, struct err *err);
void disk_marks_close(struct disk_marks *m);

/*
 * Begin a copy, and return the copy's time. No write may be in progress. Marks that are set from now on are newer than that
 * time.
 */
uint32_t disk_marks_next(struct disk_marks *m);

/*
 * Set the marks of all blocks with bytes in [offset, offset + len) to the current time. To be called before these bytes are
 * written; they must lie in the disk. Does nothing if *m has no marks.
 */
void disk_marks_write(struct disk_marks *m, uint64_t offset, uint64_t len);

/*
 * Returns true if no block with bytes in [offset, offset + len) was marked since the copy of time `time` began: these bytes
 * have not been written since. Returns false if *m has no marks.
 */
bool disk_marks_older(const struct disk_marks *m, uint64_t offset, uint64_t len, uint32_t time);

#endif
