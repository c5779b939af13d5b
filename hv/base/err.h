/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One error, explained once: the place that detects a failure writes the single line a user will read ("what, where, what to
 * do"), every caller above only passes it on, and the command line prints it and picks the exit code.
 */
#ifndef OUTRIDER_BASE_ERR_H
#define OUTRIDER_BASE_ERR_H

enum exit_code {
	EXIT_OK = 0,	   /* the run ended as asked; races found or not */
	EXIT_USAGE = 2,	   /* bad option or argument */
	EXIT_INPUT = 3,	   /* a file, host or guest that cannot be used: bad kernel, image, symbols, /dev/kvm, full disk */
	EXIT_GUEST = 4,	   /* the guest died: triple fault, KVM internal error, panic */
	EXIT_INTERNAL = 5, /* our own fault */
};

struct err {
	enum exit_code code; /* EXIT_OK while nothing went wrong */
	char text[512];	     /* one line, no newline */
};

/*
 * Record the failure in `e` (which may be NULL) and return -1, so that a function can `return err_set(...)`. The first error
 * wins: a later call on an `e` already set changes nothing. `fmt` is printf's; no trailing newline.
 */
int err_set(struct err *e, enum exit_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
