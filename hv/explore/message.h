/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages about the progress of an exploration. */
#ifndef OUTRIDER_EXPLORE_MESSAGE_H
#define OUTRIDER_EXPLORE_MESSAGE_H

#include "hv/explore/facts.h"

/* Format a line, and give it to config->message(), if that is set. */
void explore_say(const struct explore_config *config, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
