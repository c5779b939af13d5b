/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folds lines of text to the width of a terminal. */
#ifndef OUTRIDER_REPORT_TEXT_FOLD_H
#define OUTRIDER_REPORT_TEXT_FOLD_H

#include <stdio.h>

/*
 * Open a stream that writes to `to`, which stays open. A line of more than `width` characters is folded at blanks; its
 * continuation lines are indented by four more than the first. Words are not broken. Escape sequences for colours have no
 * width. fclose() flushes. Returns NULL if memory runs out.
 */
FILE *fold_open(FILE *to, unsigned width);

#endif
