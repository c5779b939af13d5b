/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When each part of a disk was written last, for copies of the machine in other processes: a copy may read what has not been
 * written since it was made, and nothing else. Time is counted in copies. The marks are shared by fork().
 *
 * The writer marks before it writes, and a reader looks behind its reading. So a reader that finds no mark has read what was
 * there when the copy was made. Any thread of any of the processes may call both.
 */
#ifndef OUTRIDER_VMM_DEV_DISK_MARKS_H
#define OUTRIDER_VMM_DEV_DISK_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hv/base/err.h"

/* Bytes that one mark is for. */
#define DISK_MARKS_BLOCK 4096u

struct disk_marks {
	_Atomic uint32_t *words; /* the time of now, and then a word for each block; NULL: there are none */
	size_t len;		 /* bytes */
};

/* Make marks for a disk of that many bytes, at time 0. Memory is used for what is written only. Returns 0, or -1 with
 * EXIT_INPUT. */
int disk_marks_open(struct disk_marks *m, uint64_t disk_size, struct err *err);
void disk_marks_close(struct disk_marks *m);

/* A copy is being made, while nothing is written: returns its time. What is written from now on is newer than that. */
uint32_t disk_marks_next(struct disk_marks *m);

/* The bytes [offset, offset + len), which are in the disk, are about to be written. Does nothing when there are no marks. */
void disk_marks_write(struct disk_marks *m, uint64_t offset, uint64_t len);

/* Whether none of the bytes was written since the copy of that time was made. */
bool disk_marks_older(const struct disk_marks *m, uint64_t offset, uint64_t len, uint32_t time);

#endif
