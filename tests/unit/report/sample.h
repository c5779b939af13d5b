/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An observation to change for each test: a write in module ext4 on CPU 0 seen against a read of the kernel's on CPU 1. */
#ifndef OUTRIDER_TEST_REPORT_SAMPLE_H
#define OUTRIDER_TEST_REPORT_SAMPLE_H

#include <stdio.h>
#include <string.h>

#include "hv/report/report.h"
#include "symbols/insn/insn.h"

static inline void sample_frame(struct guest_calls *calls, const char *module, const char *name, uint64_t function,
				uint64_t offset, enum unwind_kind kind, enum guest_context_kind context)
{
	struct guest_frame *frame = &calls->frames[calls->count++];

	*frame = (struct guest_frame){.pc = function + offset, .kind = kind, .context = context, .reliable = true};
	snprintf(frame->symbol.module, sizeof(frame->symbol.module), "%s", module);
	snprintf(frame->symbol.name, sizeof(frame->symbol.name), "%s", name);
	frame->symbol.addr = function;
	frame->symbol.size = 0x80;
}

/* The side's function in a timer's interrupt, which came on top of a system call. */
static inline void sample_calls(struct race_side *side)
{
	struct guest_calls *calls = &side->calls;
	const uint64_t text = 0xffffffff81000000;

	*calls = (struct guest_calls){.frames = calls->frames, .origin = GUEST_ORIGIN_SYSCALL, .end = UNWIND_USER};
	sample_frame(calls, side->symbol.module, side->symbol.name, side->symbol.addr, side->pc - side->symbol.addr,
		     UNWIND_STOPPED, GUEST_HARDIRQ);
	sample_frame(calls, "", "asm_sysvec_apic_timer_interrupt", text, 0x16, UNWIND_CALL, GUEST_HARDIRQ);
	sample_frame(calls, "ext4", "ext4_bar", text + 0x100, 0x9, UNWIND_INTERRUPTED, GUEST_TASK);
	sample_frame(calls, "", "entry_SYSCALL_64_after_hwframe", text + 0x200, 0x64, UNWIND_CALL, GUEST_TASK);
	side->interrupted[0] = (struct race_stack){0xffffc90000456f80, 16};
	memset(side->below, 0xdd, 16);
}

/* `room`: what the side will point to. */
static inline void sample_side(struct race_side *side, struct race_side_room *room, const char *module, const char *name,
			       uint64_t function, uint64_t offset)
{
	*side = (struct race_side){.kind = RACE_SIDE_CPU, .pc = function + offset, .gva = 0xffff888012345678, .size = 4};
	race_side_use_room(side, room);
	snprintf(side->symbol.module, sizeof(side->symbol.module), "%s", module);
	snprintf(side->symbol.name, sizeof(side->symbol.name), "%s", name);
	side->symbol.addr = function;
	side->symbol.size = 0x80;
	side->regs.rip = side->pc;
	side->regs.rflags = 0x246;
	side->regs.cs = 0x10;
	side->regs.ss = 0x18;
	for (unsigned i = 0; i < X86_GPRS; i++)
		side->regs.gpr[i] = UINT64_C(0x1111111111111111) * i;
	side->regs.gpr[X86_RSP] = 0xffffc90000123e40;
	side->context = (struct guest_context){.pid = 42,
					       .comm = "worker",
					       .known = true,
					       .irqs_off = true,
					       .kind = GUEST_TASK,
					       .rcu_known = true,
					       .rcu_nesting = 1};
	side->locks = (struct race_locks){.known = true, .complete = true, .set.count = 2};
	side->locks.set.held[0] = (struct held_lock){.gva = 0xffffffff82001000, .kind = LOCK_RWSEM, .shared = true};
	side->locks.set.held[1] = (struct held_lock){.gva = 0xffff888012345680, .kind = LOCK_SPIN, .maybe = true};
	snprintf(side->locks.name[0], sizeof(side->locks.name[0]), "sb_sem");
	snprintf(side->locks.name[1], sizeof(side->locks.name[1]), "kmalloc-64+0x8");
	side->code_gva = function;
	side->code_len = 32;
	memset(side->code, 0x90, side->code_len);
	side->code[offset % 32] = 0x89;
	side->callee_count = 1;
	side->callees[0] = (struct race_callee){.at = 27, .name = "_raw_spin_lock"};
	side->stack_len = 128;
	memset(side->stack, 0xee, side->stack_len);
	memcpy(side->stack + 8, &side->pc, sizeof(side->pc));
	sample_calls(side);
}

/* A kernel for report_set_kernel(). */
static const uint8_t sample_build_id[20] = {0xab, 0xcd, 0xef, 0x01};

static inline struct report_kernel sample_kernel(void)
{
	return (struct report_kernel){.banner = "Linux version 6.1.0 \"quoted\"",
				      .symbols = "System.map",
				      .slide = 0x1000000,
				      .build_id = sample_build_id,
				      .build_id_len = sizeof(sample_build_id)};
}

/* A run of which all is known that a report asks for. */
static inline struct run_facts sample_run(void)
{
	static const char *const options[] = {"run", "--kernel", "vm linuz", "--duration", "30s"};

	return (struct run_facts){.tool_version = "0",
				  .started = "2026-11-22T07:36:55.123Z",
				  .host = {.name = "lab3", .release = "6.12.57", .cpu = "A CPU @ 2.1GHz", .cpus = 4},
				  .options = options,
				  .option_count = sizeof(options) / sizeof(options[0]),
				  .kernel_file = "vm linuz",
				  .cmdline = "quiet",
				  .seed = UINT64_MAX,
				  .delay_ns = 10000000,
				  .duration_ns = 30000000000,
				  .memory = 512 << 20,
				  .rate = 100,
				  .cpus = 2,
				  .sandbox = RUN_SANDBOX_OFF};
}

/* The module of the observation's first side. */
static inline struct report_module sample_module(void)
{
	static struct image_section sections[] = {{".text", 0xffffffffc0100000}, {".data", 0xffffffffc0108000}};

	return (struct report_module){.id = 7,
				      .name = "ext4",
				      .base = 0xffffffffc0100000,
				      .size = 0x5000,
				      .build_id = {0x12, 0x34},
				      .build_id_len = 20,
				      .sections = sections,
				      .nsections = 2};
}

/* `slide` moves the kernel and the module, as KASLR does. What the sides point to is valid until the next observation is made.
 */
static inline void sample_observation(struct observation *o, uint64_t slide)
{
	static struct race_side_room rooms[2];

	memset(rooms, 0, sizeof(rooms));
	*o = (struct observation){
		.how = RACE_BY_WATCH, .time_ns = 1500000000, .held_ns = 3200000, .gpa = 0x12345678, .data_len = 4};
	o->window = (struct race_window){
		.known = true, .hold_ns = 10000000, .watched_ns = 45000, .returns = 2, .return_ns = {1500000, 2600000}};
	o->before[0] = 1;
	o->after[0] = 2;
	sample_side(&o->sides[0], &rooms[0], "ext4", "ext4_foo", 0xffffffffc0100000 + 3 * slide, 0x1c);
	sample_side(&o->sides[1], &rooms[1], "", "generic_bar", 0xffffffff81200000 + slide, 0x33);
	o->sides[0].rw = INSN_WRITE;
	o->sides[1].rw = INSN_READ;
	o->sides[1].cpu = 1;
	o->sides[1].regs.rip += 3;
}

/* The CPU's write, seen against a device that reads the same memory to write it to a disk. */
static inline void sample_device(struct observation *o)
{
	o->how = RACE_BY_DEVICE;
	o->after[0] = o->before[0];
	o->sides[1] = (struct race_side){
		.kind = RACE_SIDE_DEVICE,
		.rw = INSN_READ,
		.device = {.request = {.type = "virtio-blk",
				       .index = 1,
				       .queue = 2,
				       .head = 3,
				       .op = DEVICE_BLK_WRITE,
				       .sector = 8192,
				       .tid = 4711,
				       .thread = "blk1/q2"},
			   .gpa = 0x12345678,
			   .len = 4,
			   .descriptor = 1},
	};
}

static inline void sample_swap(struct observation *o)
{
	struct race_side first = o->sides[0];

	o->sides[0] = o->sides[1];
	o->sides[1] = first;
}

#endif
