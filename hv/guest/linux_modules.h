/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's loaded modules. guest.h declares the other functions of linux_modules.c. */
#ifndef OUTRIDER_GUEST_LINUX_MODULES_H
#define OUTRIDER_GUEST_LINUX_MODULES_H

struct guest;

/* Free all modules without reporting them as gone. For guest_free(). */
void linux_free_modules(struct guest *g);

#endif
