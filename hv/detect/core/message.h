/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Formats the detector's messages to the user, and passes them to the sink. */
#ifndef OUTRIDER_DETECT_CORE_MESSAGE_H
#define OUTRIDER_DETECT_CORE_MESSAGE_H

struct detect;

/* Send a message to the user through the sink. Cut to 511 bytes. Called on the sampler's thread, without d->lock. */
void detect_message(struct detect *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
