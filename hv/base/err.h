/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One error, explained once. The function that detects a failure writes the one-line message for the user: what went wrong,
 * where, and what to do. Callers only pass the error on. The command line prints the message and exits with the error's code.
 */
#ifndef OUTRIDER_BASE_ERR_H
#define OUTRIDER_BASE_ERR_H

enum exit_code {
	EXIT_OK = 0,	/* the run ended as requested, with or without races */
	EXIT_USAGE = 2, /* an option or argument is wrong */
	EXIT_INPUT = 3, /* a file, the host or the guest is unusable: kernel, image, symbols, /dev/kvm, a full disk */
	/*
	 * The guest died (a triple fault, a KVM internal error, a panic, or its QEMU died), or its kernel complained and
	 * --on-complaint ends the run.
	 */
	EXIT_GUEST = 4,
	EXIT_INTERNAL = 5, /* a bug in Outrider, or memory ran out */
	EXIT_TIMEOUT = 124 /* the time of --timeout was over; timeout(1) exits with the same status */
};

struct err {
	/* EXIT_OK until something fails. */
	enum exit_code code;
	/* The message for the user: one line, without a newline. */
	char text[1024];
};

/*
 * Record a failure in `e`, which may be NULL. Returns -1, so that a function can `return err_set(...)`. Only the first error is
 * kept: later calls change nothing. `fmt` is a printf() format without a final newline. Quoted text may be hostile:
 * clean_line() makes the message safe for a terminal.
 */
int err_set(struct err *e, enum exit_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
