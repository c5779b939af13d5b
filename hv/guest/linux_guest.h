/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a Linux guest: facts about its kernel, its modules and its log. Private to hv/guest/linux*.c. */
#ifndef OUTRIDER_GUEST_LINUX_GUEST_H
#define OUTRIDER_GUEST_LINUX_GUEST_H

#include <pthread.h>
#include <stdatomic.h>

#include "hv/guest/guest.h"
#include "hv/guest/linux_complaint.h"
#include "hv/guest/linux_layout.h"
#include "symbols/modules/modules.h"
#include "symbols/unwind/orc.h"

enum linux_stage {
	LINUX_SEARCHING, /* no kernel found yet */
	LINUX_BOOTING,	 /* the kernel is found, but its text may still change */
	LINUX_READY,	 /* the text is final, and all facts about the kernel are known */
};

#define LINUX_RANGES_MAX 16

/*
 * A poll of the modules remembers this many modules that are freed meanwhile. If there are more, the poll adds none. A power of
 * two, so that the ring goes on where a counter of 32 bits starts again at 0.
 */
#define FREED_KEPT 64u

/* A module that is in the guest's list of modules, or was until recently. */
struct loaded_module {
	struct guest_module m;
	/* GVA of the module's struct module. */
	uint64_t address;
	/* The sections .noinstr.text and .kprobes.text, which must not carry sample points. */
	struct text_range unsafe[2];
	/* The module's unwind table. count 0: none. */
	struct orc_table orc;
	/* Present in the list during the last walk. */
	bool seen;
	/* The init function still ran when the entry was made. The entry gives names, and was not reported as loaded. */
	bool coming;
	/*
	 * The module is gone, and was reported as gone if it was reported as loaded. The entry is kept because observations in
	 * the module's code still need its names.
	 */
	bool retired;
	/* The module's contribution to module_bytes of struct guest. */
	size_t charge;
	/* The guest is about to free the module's text, or unloads the module, which was reported as gone. */
	atomic_bool going;
	/* `going` before the list was last read. Used only by guest_poll_modules(). */
	bool was_going;
};

/*
 * guest_new() and guest_poll() write all members until the stage is LINUX_READY. After that only the members from modules_lock
 * on change, as described there.
 */
struct guest {
	struct target *target;
	enum linux_stage stage;
	/* An enum guest_progress. Any thread may read it. */
	atomic_int progress;
	struct symtab *symtab;
	/* Where the symbols are from: the path of a file, or GUEST_OWN_TABLES. */
	const char *source;
	/* Why the requested symbols (the user's file, or the guest's tables) were rejected. "": they were not. */
	char refused[512];
	struct guest_symbol_files files;
	/* The symbols are from a file, not from the guest's own tables. */
	bool from_file;
	/* NULL: the kernel has no BTF. */
	struct btf *btf;
	/* The text is final once system_state has at least this value. */
	int64_t running_state;
	/* Number of polls with the CPU in kernel mode in which no kernel was found. */
	unsigned misses;
	uint64_t slide;
	/* CR3 of the kernel's own page tables, and CR4. */
	uint64_t cr3, cr4;
	char banner[256];

	uint8_t build_id[MODULE_BUILD_ID_MAX];
	/* bytes; 0 if the build id is unknown */
	size_t build_id_len;

	/* Text that must not carry sample points. */
	struct text_range excluded[LINUX_RANGES_MAX];
	unsigned excluded_count;

	/* Per-CPU offsets, or LINUX_UNKNOWN. */
	uint64_t current_task, preempt_count;
	bool irq_disable_counted; /* the preemption count also counts how often interrupts were turned off (since Linux 7.3) */
	/* Members of task_struct. comm.size 0: both unknown. */
	struct btf_member pid, comm;
	/*
	 * Nesting count of RCU sections in task_struct. Size 0: unknown, or the kernel does not count (CONFIG_PREEMPT_RCU=n).
	 */
	struct btf_member rcu_nesting;

	struct linux_stacks stacks;
	struct linux_memory memory;
	struct linux_log log;
	struct text_range kernel_text;
	/* Format of the kernel's unwind tables. size 0: the kernel has no readable tables. */
	struct orc_format orc_format;
	/* The kernel's unwind table. count 0: none. */
	struct orc_table orc;

	/* guest_read() as a callback for symbols/. */
	struct guest_reader reader;
	/* Like `reader`, for guest_poll() and guest_poll_modules(). Fails after guest_cancel_polls(). */
	struct guest_reader poll_reader;
	atomic_bool polls_cancelled;

	/*
	 * Guards the list of modules and the modules in it, except `seen`, `retired`, `charge` and `was_going`, which belong to
	 * guest_poll_modules(). Only guest_poll_modules() takes the lock for writing.
	 */
	pthread_rwlock_t modules_lock;
	struct loaded_module **modules;
	size_t module_count;
	/* Changes when an entry is added to the list, replaced or removed. */
	atomic_uint_least64_t modules_version;
	/*
	 * The modules for which guest_module_going() was called, by the GVA of their struct module: a ring. `freed_count` is
	 * the number of calls. A caller that holds modules_lock for reading writes both.
	 */
	_Atomic uint64_t freed[FREED_KEPT];
	atomic_uint freed_count;
	/* Memory use of all modules' symbols. Used only by guest_poll_modules(), like the members below. */
	size_t module_bytes;
	/* `freed_count` when the poll began. */
	unsigned freed_seen;
	/* Generation of the next entry. */
	uint64_t next_generation;
	/* modules_stamp() of the list when it was last walked. */
	uint64_t modules_seen;
	/* Some modules of the guest's list have not been added yet. */
	bool modules_left;

	/* Used only by guest_poll_complaints(). */
	struct linux_log_position log_at;
	struct linux_complaints complaints;
	/* When the last line of the log was read (CLOCK_MONOTONIC, ns). */
	uint64_t log_read_ns;
};

#endif
