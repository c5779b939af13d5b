/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One error, explained once. The place that detects a failure writes the single line that the user will read, which says what
 * went wrong, where, and what to do. Every caller above only passes it on. The command line prints it, and exits with its code.
 */
#ifndef OUTRIDER_BASE_ERR_H
#define OUTRIDER_BASE_ERR_H

enum exit_code {
	EXIT_OK = 0,	   /* The run ended as asked, whether races were found or not. */
	EXIT_USAGE = 2,	   /* An option or argument is wrong. */
	EXIT_INPUT = 3,	   /* A file, host or guest cannot be used: a kernel, an image, symbols, /dev/kvm, a full disk. */
	EXIT_GUEST = 4,	   /* The guest died: a triple fault, an internal error of KVM, a panic, or its QEMU died. */
	EXIT_INTERNAL = 5, /* The fault is ours, or memory ran out. */
};

struct err {
	/* EXIT_OK while nothing went wrong. */
	enum exit_code code;
	/* The message for the user: one line, without a newline. */
	char text[1024];
};

/*
 * Record the failure in `e`, which may be NULL. Returns -1, so that a function can `return err_set(...)`. The first error wins:
 * a later call changes nothing. `fmt` is a format of printf() without a newline at its end. What the message quotes may be
 * hostile: clean_line() makes the message fit for a terminal.
 */
int err_set(struct err *e, enum exit_code code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
