/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of text folded to the width of a terminal. */
#ifndef OUTRIDER_REPORT_TEXT_FOLD_H
#define OUTRIDER_REPORT_TEXT_FOLD_H

#include <stdio.h>

/*
 * Open a stream that writes its lines to `to`, which stays open. A line with more than `width` characters is folded at blanks,
 * and its other lines are indented by four more than the first. A word is never broken. Colours take no room. fclose() writes
 * what is left. Returns NULL when memory ran out.
 */
FILE *fold_open(FILE *to, unsigned width);

#endif
