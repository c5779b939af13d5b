// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/device.h"

#include <inttypes.h>
#include <stdio.h>

#include "hv/base/clean.h"

#define TYPE_TEXT_MAX CLEAN_MAX(DEVICE_TYPE_MAX)

void device_kind(const struct device_access *access, char out[DEVICE_TEXT_MAX])
{
	const struct device_request *request = &access->request;
	char type[TYPE_TEXT_MAX];

	clean_text(request->type, sizeof(request->type), type, sizeof(type));
	snprintf(out, DEVICE_TEXT_MAX, "%s (%s request)", type, device_op_word(request->op));
}

void device_request(const struct device_access *access, char out[DEVICE_TEXT_MAX])
{
	const struct device_request *request = &access->request;
	char type[TYPE_TEXT_MAX], sector[32] = "";

	clean_text(request->type, sizeof(request->type), type, sizeof(type));
	if (device_op_has_sector(request->op))
		snprintf(sector, sizeof(sector), " of sector %" PRIu64, request->sector);
	snprintf(out, DEVICE_TEXT_MAX, "%s %u, queue %u: %s%s, descriptor %u, segment %u", type, request->index, request->queue,
		 device_op_word(request->op), sector, request->head, access->descriptor);
}

void device_thread(const struct device_access *access, char out[DEVICE_TEXT_MAX])
{
	const struct device_request *request = &access->request;
	char thread[CLEAN_MAX(DEVICE_THREAD_MAX)];

	clean_text(request->thread, sizeof(request->thread), thread, sizeof(thread));
	snprintf(out, DEVICE_TEXT_MAX, "thread %s (tid %" PRId32 ")", thread[0] ? thread : "without a name", request->tid);
}
