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
	/* The registers of both sides, used to find the stacks, and to interpret other memory. */
	struct x86_regs regs[2];
};

void replay_rendezvous_take(const struct rendezvous *m, struct replay_rendezvous *out);

/*
 * Find the GVA and the name of each recorded difference in memory that has no name yet, in the guest's tables. The tables are
 * read now: an object that was freed since the rendezvous may get no name. Reads some hundred words of guest memory for each
 * difference, so it must not be called in a callback.
 */
void replay_names_give(const struct guest *g, const struct replay_rendezvous *rendezvous, struct replay_instance *instance);

/* Do what replay_names_give() does, for the differences that a copy for critical sections has shown. */
void replay_names_give_sections(const struct guest *g, const struct replay_rendezvous *rendezvous,
				struct section_replay_instance *instance);

#endif
