/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of one guest: everything it is made of, opened and closed in one place.
 *
 * Order matters: session_open(); session_start_detector(); vm_run(); session_stop_detector(); session_summary();
 * session_close(), which is right after any of them failed too.
 */
#ifndef OUTRIDER_CLI_SESSION_H
#define OUTRIDER_CLI_SESSION_H

#include <pthread.h>

#include "hv/cli/console.h"
#include "hv/cli/run_options.h"
#include "hv/cli/screen.h"
#include "hv/cli/terminal.h"
#include "hv/report/report.h"
#include "hv/target/kvm.h"
#include "hv/vmm/vmm.h"

struct session {
	const struct run_options *options;
	enum kvm_bp_method breakpoints; /* the caller's, before session_open() */
	struct screen *screen;
	struct console *console;
	struct terminal terminal;
	struct vm *vm;
	enum vm_end end; /* the caller's, from vm_run() */
	struct target *target;
	struct guest *guest;
	struct detect *detect; /* NULL with --no-detect, as the two above */
	bool detecting;
	struct names *names; /* debug files; the reporter thread's while it runs */
	struct report_config report_config;
	struct report *report;
	bool kernel_told;	  /* the reporter thread's, as is */
	uint64_t modules_told;	  /* guest_modules_version() then */
	pthread_mutex_t err_lock; /* of err: the detector's threads fail too */
	struct err err;		  /* of callbacks, until session_stop_detector() hands it on */
	bool said;		  /* the user has read the error that session_stop_detector() handed on */
	uint64_t started_ns;
};

void session_init(struct session *s, const struct run_options *options);
int session_open(struct session *s, struct err *err);
int session_start_detector(struct session *s, struct err *err);

/* For vm_run(); NULL without detector. */
const struct vm_hooks *session_hooks(struct session *s);

/* Time sampled so far; without detector, time since session_start_detector(). For stopper_config. */
uint64_t session_elapsed_ns(void *session);

/*
 * The machine is over: join the detector's threads and drain the console. What they failed with comes into err, which keeps an
 * error it has.
 */
void session_stop_detector(struct session *s, struct err *err);

/* Print the summary, complete the JSON file. `end` says how the run ended. */
void session_summary(struct session *s, const char *end, struct err *err);

/* Everything given back, the terminal as it was. Errors found on the way come into err. */
void session_close(struct session *s, struct err *err);

#endif
