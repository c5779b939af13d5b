/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A well-formed scenario that comes from no machine, for tests of scenario readers without KVM. */
#ifndef OUTRIDER_TESTS_UNIT_SCENARIO_MADE_H
#define OUTRIDER_TESTS_UNIT_SCENARIO_MADE_H

#include "hv/replay/scenario/scenario.h"
#include "hv/vmm/layout.h"
#include "symbols/insn/insn.h"
#include "tests/unit/replay/replay_made.h"
#include "tests/unit/vmm/snapshot_made.h"

#define SCENARIO_MADE_RAM MIB(64)

static inline struct rendezvous_side scenario_made_side(unsigned cpu)
{
	struct rendezvous_side side = {
		.cpu = cpu,
		.regs = {.gpr = {1, 2, 3, [X86_R15] = 15 + cpu}, .rip = 0xffffffff81000010 + cpu, .cr3 = 0x1000, .cs = 0x10},
		.context = {.pid = 41 + (int)cpu, .comm = "worker", .known = true, .rcu_known = true, .rcu_nesting = 1},
		.symbol = {.module = "outrider_gt", .name = "gt_nlink_link", .addr = 0xffffffff81000000, .size = 64},
		.gva = 0xffff888000012340,
		.gpa = 0x12340,
		.size = 4,
		.rw = cpu ? INSN_READ | INSN_WRITE : INSN_READ,
		.insn_len = 3,
		.return_address = 0xffffffff81000100,
		.cfa = 0xffffc90000003f00,
	};

	return side;
}

/* Fill the scenario. scenario_close() unmaps its memory. */
static inline int scenario_made(struct scenario *s, struct err *err)
{
	struct block_writer w = {0};

	*s = (struct scenario){
		.rendezvous = {.number = 7, .sides = {scenario_made_side(0), scenario_made_side(1)}},
		.config = {.instructions = 20000,
			   .free_ns = 2000000000,
			   .sleep = 0xffffffff81002000,
			   .loglevel_gpa = 0x2000,
			   .result_unused = {true, false}},
		.facts = {.version = "1.0",
			  .date = "2026-11-22T23:59:59Z",
			  .banner = "Linux version 6.1.0-56-cloud-amd64",
			  .build_id = "0123abcd",
			  .race = "e619c79249db",
			  .site = {"outrider_gt:gt_nlink_rename+0xc", "outrider_gt:gt_nlink_link+0x18"},
			  .slide = 0x1000000,
			  .instance = replay_made_oops(1)},
	};
	made_machine(&w);
	made_devices(&w);
	if (block_end(&w, &s->state, err) < 0 || ram_map(&s->ram, SCENARIO_MADE_RAM, err) < 0)
		return -1;
	/* The first page, two in the midst, and the last one. */
	s->ram.host[0] = 1;
	memset(s->ram.host + 0x12000, 0x5a, 0x1800);
	s->ram.host[SCENARIO_MADE_RAM - 1] = 0xff;
	return 0;
}

#endif
