/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reporter's thread: takes observations from the queue, finds the instructions and the names, and calls the sink. */
#ifndef OUTRIDER_DETECT_REPORT_REPORTER_H
#define OUTRIDER_DETECT_REPORT_REPORTER_H

/*
 * The function of the reporter's thread. `arg` is the struct detect. Returns when d->life.reporter_stop is set and no
 * observation waits.
 */
void *reporter_main(void *arg);

#endif
