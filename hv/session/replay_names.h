/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names the memory that differs between two orders. A copy of the machine has guest-physical addresses only; the names come
 * from the guest, which continues to run.
 */
#ifndef OUTRIDER_SESSION_REPLAY_NAMES_H
#define OUTRIDER_SESSION_REPLAY_NAMES_H

#include "hv/guest/guest.h"
#include "hv/race/rendezvous.h"
#include "hv/race/replay.h"
#include "hv/race/section_replay.h"

/* The facts about a rendezvous that are needed to name memory later, when the rendezvous has ended. */
struct replay_rendezvous {
	uint64_t gva, gpa; /* of the datum */
	char comm[2][sizeof(((struct guest_context *)0)->comm)];
	/*
	 * The registers of both sides. The stack pointers in them show where the two stacks are. guest_memory_at(), which finds
	 * out what other memory belongs to, takes the registers of side 0.
	 */
	struct x86_regs regs[2];
};

void replay_rendezvous_take(const struct rendezvous *m, struct replay_rendezvous *out);

/*
 * Look up the memory of each recorded difference that has no name yet in the tables of the guest's kernel, and store its GVA
 * and its name in the difference. The tables are read now, so an object that was freed since the rendezvous may get no name.
 * Reads up to some thousand words of guest memory for each difference, so this function must not be called in a callback.
 */
void replay_names_give(const struct guest *g, const struct replay_rendezvous *rendezvous, struct replay_instance *instance);

/*
 * Do what replay_names_give() does, for the differences that were found when a copy ran critical sections in three orders
 * (hv/race/section_replay.h).
 */
void replay_names_give_sections(const struct guest *g, const struct replay_rendezvous *rendezvous,
				struct section_replay_instance *instance);

#endif
