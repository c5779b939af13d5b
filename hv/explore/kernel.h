/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's kernel, found in the RAM of the base: names functions and memory. No machine runs. */
#ifndef OUTRIDER_EXPLORE_KERNEL_H
#define OUTRIDER_EXPLORE_KERNEL_H

#include "hv/explore/base.h"
#include "hv/explore/pairs.h"
#include "hv/guest/guest.h"
#include "hv/replay/image.h"

/* A struct kernel must stay at one address, because its `guest` points to its `image`, and `image` points to `regs`. */
struct kernel {
	struct image image;
	struct x86_regs regs;
	struct guest *guest;
	struct guest_heap *heap; /* of the base; NULL: unknown */
};

/*
 * Find the kernel. `regs` are the registers that a CPU in kernel mode had in a copy of the base. Returns 0, or -1 with `err`
 * set: EXIT_INPUT if the RAM has no kernel with symbols. kernel_close() may follow in either case.
 */
int kernel_open(struct kernel *k, const struct base *base, const struct x86_regs *regs, struct err *err);
void kernel_close(struct kernel *k);

/* Store in base->spin the functions in which a CPU spins until another CPU acts. */
void kernel_find_spins(const struct kernel *k, struct base *base);

/*
 * Set base->also to the addresses of the functions of config->also. Returns 0, or -1 with `err` set: EXIT_INPUT if one of them
 * is in neither the kernel nor a module. If several functions have the name, one of them is taken, and a function of the kernel
 * itself is preferred.
 */
int kernel_find_also(const struct kernel *k, const struct explore_config *config, struct base *base, struct err *err);

/* Facts about the code at a pc, as bits. */
enum kernel_code_fact {
	/*
	 * The first instruction of a function of the scheduler or the allocator. Such a function does not access its caller's
	 * data.
	 */
	KERNEL_SERVICE = 1,
	/* An instruction of a library function, such as memcpy(), which accesses its caller's data. */
	KERNEL_LIBRARY = 2,
};

/* Returns the enum kernel_code_fact bits of the instruction at `pc`. */
unsigned kernel_code_facts(const struct kernel *k, uint64_t pc);

/* Returns the kind of the function that contains the instruction at `pc`; for pairs_input.code. `kernel` is a struct kernel. */
enum pairs_code kernel_code(void *kernel, uint64_t pc);

/*
 * From now on, the slab object that contains the byte at the GVA does not count as in use at the mark. To be called for objects
 * that a program has freed or allocated in its recording. An example is the task_struct of a process that ended just before the
 * mark: it is freed only later, so it was in use at the mark.
 */
void kernel_drop_object(const struct kernel *k, uint64_t gva);

/*
 * Returns whether the byte at the GVA is in memory that was in use at the mark: a variable of the kernel or of a module, or a
 * slab object that was not dropped; for pairs_input.lasting. If it is unknown which slab objects were in use, none counts.
 */
bool kernel_is_lasting(void *kernel, uint64_t gva);

/* Returns whether the byte at the GVA is in a slab object that was free at the mark; for pairs_input.allocated. */
bool kernel_is_allocated(void *kernel, uint64_t gva);

/* Name the functions and the memory of a candidate. */
void kernel_name(const struct kernel *k, struct explore_candidate *c);

#endif
