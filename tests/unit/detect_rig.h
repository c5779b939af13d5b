/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detector's engine on a fake machine, and short words for what a test does with it. CPUs are the test: rig_hit() and its
 * like are what a backend does when a CPU stops.
 */
#ifndef OUTRIDER_TESTS_DETECT_RIG_H
#define OUTRIDER_TESTS_DETECT_RIG_H

#include "hv/base/clock.h"
#include "hv/detect/detect.h"
#include "tests/unit/fake_guest.h"

/* Where the machine has what: GVA, and the GPA behind it. */
#define RIG_TEXT 0xffffffff81000000ull
#define RIG_TEXT_GPA 0x400000ull
#define RIG_TEXT_SIZE 0x10000ull
#define RIG_DATA 0xffff888000100000ull
#define RIG_ALIAS 0xffffc90000800000ull /* the same bytes as RIG_DATA */
#define RIG_USER 0x00007f0000100000ull
#define RIG_DATA_GPA 0x500000ull
#define RIG_USER_GPA 0x600000ull
#define RIG_DATA_SIZE 0x10000ull
#define RIG_STACKS 0xffffc90000000000ull
#define RIG_STACKS_GPA 0x700000ull
#define RIG_IO 0xffffc90000900000ull /* a page that is mapped to what is not RAM */

#define RIG_DELAY_NS 5000000u

struct rig {
	struct fake_target *ft;
	struct guest guest;
	struct detect_config config;
	struct detect_sink sink;
	struct detect *d;
	struct insn_decoder *decoder;
};

/* NULL: out of memory. The detector is not started: no thread, no point. */
struct rig *rig_new(unsigned cpus, unsigned watches);
void rig_free(struct rig *r);

/* Once r->config or r->sink were changed: a new detector, which has not armed anything yet, in place of the old. */
void rig_remake(struct rig *r);

/* Write `len` bytes of code at RIG_TEXT + offset. */
void rig_code(struct rig *r, uint64_t offset, const void *code, size_t len);

/* Name the functions; as symtab_from_array(). Once. */
void rig_functions(struct rig *r, const struct symbol *functions, size_t n);

/* Write one instruction, decode it and plant a point on it. Fails the test if it cannot be. */
void rig_plant(struct rig *r, uint64_t offset, const void *code, size_t len);

/* The counts so far, as detect_stats() says. */
struct detect_stats rig_stats(struct rig *r);

/* How many windows are open, and whether this CPU is held in one. */
unsigned rig_open_windows(struct rig *r);
bool rig_window_is_open(struct rig *r, unsigned cpu);

/* For how long at most the window of this CPU stays open, in ns. Of the window that was open last, if none is. */
uint64_t rig_window_ns(struct rig *r, unsigned cpu);

/* Not to hold this CPU with interrupts off before then (CLOCK_MONOTONIC), as if it had just been. */
void rig_rest(struct rig *r, unsigned cpu, uint64_t until_ns);

/* Whether the detector knows of a point at RIG_TEXT + offset. */
bool rig_has_point(struct rig *r, uint64_t offset);

/* The addresses of the points planted first, in the order of planting; there must be as many as n. */
void rig_armed(struct rig *r, uint64_t *addresses, unsigned n);

/* How many watch slots the detector takes for used. */
unsigned rig_slots_in_use(struct rig *r);

/* How many INT3s there are in [RIG_TEXT + offset, + size). */
unsigned rig_int3s(const struct rig *r, uint64_t offset, uint64_t size);

/* The first byte of what stands at RIG_TEXT + offset in memory, our INT3s included. */
uint8_t rig_text_byte(const struct rig *r, uint64_t offset);

/* A task in the kernel on `cpu` at RIG_TEXT + offset, interrupts on, in the middle of the CPU's own stack, RDI at RIG_DATA. */
struct x86_regs rig_regs(const struct rig *r, unsigned cpu, uint64_t offset);

struct target_action rig_hit(struct rig *r, unsigned cpu, struct x86_regs *regs);
struct target_action rig_watch_hit(struct rig *r, unsigned cpu, struct x86_regs *regs, uint32_t cookie);

/* Unless another CPU was made busy, a window ends at the first of these. */
struct target_action rig_hold_end(struct rig *r, unsigned cpu, struct x86_regs *regs);

/* Bytes at RIG_DATA + offset. */
void rig_store(struct rig *r, uint64_t offset, const void *bytes, size_t len);

/* The next observation in the queue, or NULL. Stays valid: it is not given back. */
const struct observation *rig_observation(struct rig *r);

/* The cookie of slot's watch; the slot must hold one. */
uint32_t rig_cookie(struct rig *r, unsigned slot);

/* One instruction: rig_plant(r, offset, INSN("\x48\x8b\x07")). */
#define INSN(bytes) (bytes), (sizeof(bytes) - 1)

#define READ_8 INSN("\x48\x8b\x07")  /* mov (%rdi), %rax */
#define WRITE_8 INSN("\x48\x89\x07") /* mov %rax, (%rdi) */
#define READ_1 INSN("\x8a\x07")
#define WRITE_1 INSN("\x88\x07")

#endif
