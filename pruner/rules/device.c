// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rules for races of a CPU with a device. The memory of a request belongs to the device until the device reports the end of
 * the request (virtio 1.2, section 2.7; Documentation/core-api/dma-api.rst in Linux). So such a race is a bug, with one
 * exception below. This rule decides every race with a device. The other rules are about CPUs, which have code, locks and
 * marks.
 *
 * The exception: a system call writes to a page of the page cache while a disk reads that page ("stable pages",
 * mm/page-writeback.c). If the file system or the disk needs pages that do not change during write-back, the function that
 * copies the user's data first waits for the end of the write-back (folio_wait_stable()). If neither needs that, the page
 * becomes dirty again and is written once more. The call stack shows whether the CPU is in such a copy.
 */
#include "hv/report/device.h"
#include "pruner/rules/rules.h"

/*
 * Returns the index of the innermost frame whose function is in the list `kind`, or -1. The search begins at frame `from` and
 * goes outwards. It ends at a frame that is a guess, and where the context of the access ends, for example at the code that an
 * interrupt interrupted.
 */
static int frame_of(const struct view *v, const struct guest_calls *calls, enum list_kind kind, unsigned from)
{
	for (unsigned i = 0; i < calls->count; i++) {
		const struct guest_frame *frame = &calls->frames[i];

		if (!frame->reliable || frame->context != calls->frames[0].context || frame->kind == UNWIND_INTERRUPTED)
			return -1;
		if (i >= from && rules_function(v->rules, kind, frame->symbol.name))
			return (int)i;
	}
	return -1;
}

/*
 * Returns whether a disk reads a page of the page cache while a system call copies the user's data into the page, by a function
 * that first waits for the end of the write-back if the disk needs stable pages.
 */
bool rule_write_back(const struct view *v, struct verdict *out)
{
	const struct view_side *cpu = &v->side[0], *device = &v->side[1];
	const struct guest_calls *calls = &cpu->side->calls;
	int copy, waits;

	if (device->side->kind != RACE_SIDE_DEVICE || device->writes || device->side->device.request.op != DEVICE_BLK_WRITE ||
	    cpu->reads || !cpu->writes || v->race->first.memory.kind != GUEST_MEMORY_PAGE)
		return false;
	copy = frame_of(v, calls, LIST_PAGE_COPY, 0);
	waits = copy < 0 ? -1 : frame_of(v, calls, LIST_STABLE_PAGES, (unsigned)copy + 1);
	if (waits < 0)
		return false;
	out->class = VERDICT_BENIGN;
	out->rule = RULE_CHANGED_UNDER_WRITE_BACK;
	verdict_evidence(
		out,
		"%s copies user data into a page of the page cache that %s writes to the disk; its caller %s waits first if "
		"the file system or the disk needs pages that do not change during write-back, and it did not wait; the page "
		"becomes dirty again and is written once more",
		calls->frames[copy].symbol.name, view_function(device), calls->frames[waits].symbol.name);
	return true;
}

static const char *what_happens(const struct view_side *cpu, const struct view_side *device)
{
	if (!device->writes)
		return "reads it: the request is not done, so the device may read the old or the new value";
	if (cpu->writes)
		return "fills it: the request is not done, so the bytes of either side may remain";
	return "fills it: the request is not done, so the value that is read may be old, new or a part of each";
}

static void not_awaited(const struct view *v, struct verdict *out)
{
	const struct view_side *cpu = &v->side[0], *device = &v->side[1];
	char request[DEVICE_TEXT_MAX];

	out->class = VERDICT_HARMFUL;
	out->rule = RULE_DEVICE_NOT_AWAITED;
	device_request(&device->side->device, request);
	verdict_evidence(out, "%s %s %s while the device %s (%s)", view_function(cpu), cpu->writes ? "changes" : "reads",
			 v->datum, what_happens(cpu, device), request);
}

bool rule_device(const struct view *v, struct verdict *out)
{
	if (v->side[1].side->kind != RACE_SIDE_DEVICE)
		return false;
	if (rule_spin(v, out)) {
		verdict_evidence(out, "; a device writes in a known order only to its ring");
		return true;
	}
	not_awaited(v, out);
	return true;
}
