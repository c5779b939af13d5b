// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CPU against a device. The memory of a request belongs to the device until the device says that the request is done (virtio
 * 1.2, section 2.7; Linux, Documentation/core-api/dma-api.rst), so such a race is a bug unless something speaks for it. This
 * rule decides every race with a device. No other rule is asked: these know CPUs, which have code, locks and marks.
 *
 * What speaks for it is one thing: a system call that writes to a page of the page cache which a disk is being given just then
 * ("stable pages", mm/page-writeback.c). Where a file system or a disk needs pages that do not change under write-back, the
 * code that copies the user's data waits for the end of the write-back first (folio_wait_stable()). Where it does not need
 * such pages, the page is dirty again and is written once more. Whether it is such a copy is known of the call stack.
 */
#include "hv/report/device.h"
#include "pruner/rules/rules.h"

/*
 * The first frame of a function in the list `kind`, at `from` or further out. -1: there is none, or none before a guess, or
 * none in the context of the access.
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

/* A disk is given a page of the page cache, into which a system call copies the user's data by a function that waits first. */
static bool is_write_back(const struct view *v, struct verdict *out)
{
	const struct view_side *cpu = &v->side[0], *device = &v->side[1];
	const struct guest_calls *calls = &cpu->side->calls;
	int copy, waits;

	if (device->writes || device->side->device.request.op != DEVICE_BLK_WRITE || cpu->reads || !cpu->writes ||
	    v->race->first.memory.kind != GUEST_MEMORY_PAGE)
		return false;
	copy = frame_of(v, calls, LIST_PAGE_COPY, 0);
	waits = copy < 0 ? -1 : frame_of(v, calls, LIST_STABLE_PAGES, (unsigned)copy + 1);
	if (waits < 0)
		return false;
	out->class = VERDICT_BENIGN;
	out->rule = "changed-under-write-back";
	verdict_evidence(
		out,
		"%s copies user data into a page of the page cache that %s writes to the disk; %s, which called it, waits "
		"first where the file system or the disk needs pages that stay as they are, and did not wait; the page is "
		"dirty again and is written once more",
		calls->frames[copy].symbol.name, view_function(device), calls->frames[waits].symbol.name);
	return true;
}

static const char *what_happens(const struct view_side *cpu, const struct view_side *device)
{
	if (!device->writes)
		return "reads it: the request was not done, and which value the device gets is chance";
	if (cpu->writes)
		return "fills it: the request was not done, and whose bytes stay is chance";
	return "fills it: the request was not done, and what is read may be old, new or a part of each";
}

static void not_awaited(const struct view *v, struct verdict *out)
{
	const struct view_side *cpu = &v->side[0], *device = &v->side[1];
	char request[DEVICE_TEXT_MAX];

	out->class = VERDICT_HARMFUL;
	out->rule = "device-not-awaited";
	device_request(&device->side->device, request);
	verdict_evidence(out, "%s %s %s while the device %s (%s)", view_function(cpu), cpu->writes ? "changes" : "reads",
			 v->datum, what_happens(cpu, device), request);
}

bool rule_device(const struct view *v, struct verdict *out)
{
	if (!v->side[1].side->by_device)
		return false;
	if (is_write_back(v, out))
		return true;
	if (rule_spin(v, out)) {
		verdict_evidence(out, "; a device promises no order of what it writes but that of the ring");
		return true;
	}
	not_awaited(v, out);
	return true;
}
