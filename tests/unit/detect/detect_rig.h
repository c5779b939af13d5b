/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The detector on a fake machine, and functions for the steps of a test. The test plays the CPUs: rig_hit(), rig_watch_hit()
 * and rig_hold_end() call the detector as a backend does when a CPU stops. A test reads the internal state of the detector
 * through the rig, so that only the rig depends on it.
 */
#ifndef OUTRIDER_TESTS_DETECT_RIG_H
#define OUTRIDER_TESTS_DETECT_RIG_H

#include "hv/base/clock.h"
#include "hv/detect/detect.h"
#include "tests/unit/detect/fake_guest.h"

/* The memory of the machine: GVAs, and for most of them the GPA that the guest maps there. */
#define RIG_TEXT 0xffffffff81000000ull
#define RIG_TEXT_GPA 0x400000ull
#define RIG_TEXT_SIZE 0x10000ull
#define RIG_DATA 0xffff888000100000ull
#define RIG_ALIAS 0xffffc90000800000ull /* the same bytes of RAM as at RIG_DATA */
#define RIG_USER 0x00007f0000100000ull
#define RIG_DATA_GPA 0x500000ull
#define RIG_USER_GPA 0x600000ull
#define RIG_DATA_SIZE 0x10000ull
#define RIG_STACKS 0xffffc90000000000ull
#define RIG_STACKS_GPA 0x700000ull
#define RIG_IO 0xffffc90000900000ull /* a page that is mapped, but not to RAM */

#define RIG_DELAY_NS 5000000u

struct rig {
	struct fake_target *ft;
	struct guest guest;
	struct detect_config config;
	struct detect_sink sink;
	struct detect *d;
	struct insn_decoder *decoder;
};

/* Make a rig whose detector has neither threads nor points yet. NULL: memory ran out. */
struct rig *rig_new(unsigned cpus, unsigned watches);
void rig_free(struct rig *r);

/* Put a new detector, without points, in place of the old one. For a test that has changed r->config or r->sink. */
void rig_remake(struct rig *r);

/* Write `len` bytes of code at RIG_TEXT + offset. */
void rig_code(struct rig *r, uint64_t offset, const void *code, size_t len);

/* Name the functions, as symtab_from_array() does. The names given before are freed. */
void rig_functions(struct rig *r, const struct symbol *functions, size_t n);

/* Write one instruction at RIG_TEXT + offset, decode it and plant a sample point on it. The test fails if a step fails. */
void rig_plant(struct rig *r, uint64_t offset, const void *code, size_t len);

/* The counts so far, from detect_stats(). */
struct detect_stats rig_stats(struct rig *r);

/* The number of open windows, and whether this CPU is held in one. */
unsigned rig_open_windows(struct rig *r);
bool rig_window_is_open(struct rig *r, unsigned cpu);

/* The time that this CPU's window stays open at most, in ns. If the CPU has no open window: the time of its last window. */
uint64_t rig_window_ns(struct rig *r, unsigned cpu);

/* Let the CPU rest until `until_ns` (CLOCK_MONOTONIC), as after a hold with interrupts off: no such hold before then. */
void rig_rest(struct rig *r, unsigned cpu, uint64_t until_ns);

/* Whether the time for which this CPU was held allows a window at `now` (CLOCK_MONOTONIC, ns). */
bool rig_may_be_held(struct rig *r, unsigned cpu, uint64_t now);

/* Count `ns` more in which this CPU was held. Call rig_may_be_held() once before. */
void rig_was_held(struct rig *r, unsigned cpu, uint64_t ns);

/* Whether the detector has a point at RIG_TEXT + offset. */
bool rig_has_point(struct rig *r, uint64_t offset);

/* The addresses of the first `n` planted points, in the order of planting. At least `n` must be planted. */
void rig_armed(struct rig *r, uint64_t *addresses, unsigned n);

/* The number of watch slots that the detector counts as used. */
unsigned rig_slots_in_use(struct rig *r);

/* The number of INT3s in the `size` bytes from RIG_TEXT + offset on. */
unsigned rig_int3s(const struct rig *r, uint64_t offset, uint64_t size);

/* The byte at RIG_TEXT + offset in memory, which may be an INT3 of the detector. */
uint8_t rig_text_byte(const struct rig *r, uint64_t offset);

/*
 * The registers of a task in the kernel on `cpu`. RIP is at RIG_TEXT + offset, RSP in the middle of the CPU's own stack, RDI at
 * RIG_DATA and RSI at RIG_DATA + 0x100. Interrupts are on.
 */
struct x86_regs rig_regs(const struct rig *r, unsigned cpu, uint64_t offset);

/* Report to the detector that `cpu` stopped at a breakpoint, or after an access that tripped the watch with this cookie. */
struct target_action rig_hit(struct rig *r, unsigned cpu, struct x86_regs *regs);
struct target_action rig_watch_hit(struct rig *r, unsigned cpu, struct x86_regs *regs, uint32_t cookie);

/* End the hold of `cpu`. The first end of a hold closes the window, unless the test made another CPU busy. */
struct target_action rig_hold_end(struct rig *r, unsigned cpu, struct x86_regs *regs);

/* Write `len` bytes at RIG_DATA + offset. */
void rig_store(struct rig *r, uint64_t offset, const void *bytes, size_t len);

/* Take the next observation from the queue. NULL: the queue is empty. The rig never gives it back, so it stays valid. */
const struct observation *rig_observation(struct rig *r);

/* The cookie of the watch in this slot. The slot must be in use. */
uint32_t rig_cookie(struct rig *r, unsigned slot);

/* One instruction: rig_plant(r, offset, INSN("\x48\x8b\x07")). */
#define INSN(bytes) (bytes), (sizeof(bytes) - 1)

#define READ_8 INSN("\x48\x8b\x07")  /* mov (%rdi), %rax */
#define WRITE_8 INSN("\x48\x89\x07") /* mov %rax, (%rdi) */
#define READ_1 INSN("\x8a\x07")
#define WRITE_1 INSN("\x88\x07")

#endif
