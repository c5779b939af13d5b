/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between two orders, by name: a copy of the machine knows guest-physical addresses only, and the guest that goes
 * on knows what is there.
 */
#ifndef OUTRIDER_SESSION_REPLAY_NAMES_H
#define OUTRIDER_SESSION_REPLAY_NAMES_H

#include "hv/guest/guest.h"
#include "hv/race/meeting.h"
#include "hv/race/replay.h"

/* What is needed of a meeting when its replay ends. */
struct replay_meeting {
	uint64_t gva, gpa; /* of the datum */
	char comm[2][sizeof(((struct guest_context *)0)->comm)];
	struct x86_regs regs[2]; /* They tell stacks, and what other memory is. */
};

void replay_meeting_take(const struct meeting *m, struct replay_meeting *out);

/*
 * Give the differences in memory their GVAs and names, as far as the guest's own tables tell them. These are read now and not
 * as they were at the meeting. Reads some hundred words of guest memory for each difference: not in a callback.
 */
void replay_names_give(const struct guest *g, const struct replay_meeting *met, struct replay_instance *instance);

#endif
