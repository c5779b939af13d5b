// SPDX-License-Identifier: GPL-2.0-or-later
#include "busy.h"

unsigned int busy_random(struct busy_worker *w)
{
	w->seed = w->seed * 1664525u + 1013904223u;
	return w->seed >> 8;
}
