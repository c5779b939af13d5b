// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/json/device_json.h"

#include "hv/report/words.h"
#include "symbols/insn/insn.h"

json_t *device_json(struct json_builder *b, const struct device_access *access, uint8_t rw)
{
	const struct device_request *request = &access->request;
	json_t *o = json_object();

	json_put(b, o, "type", json_clean(request->type, sizeof(request->type)));
	json_put(b, o, "index", json_integer(request->index));
	json_put(b, o, "queue", json_integer(request->queue));
	json_put(b, o, "op", json_string(device_op_word(request->op)));
	json_put(b, o, "sector", device_op_has_sector(request->op) ? json_whole(request->sector) : json_null());
	json_put(b, o, "descriptor", json_integer(request->head));
	json_put(b, o, "segment", json_integer(access->descriptor));
	json_put(b, o, "kind", json_string(access_word(rw)));
	json_put(b, o, "gpa", json_hex(access->gpa));
	json_put(b, o, "bytes", json_integer(access->len));
	json_put(b, o, "thread", json_clean(request->thread, sizeof(request->thread)));
	json_put(b, o, "tid", json_integer(request->tid));
	return o;
}

void device_read(struct json_reader *r, const json_t *side, struct device_access *access, uint8_t *rw)
{
	const json_t *o = json_read_object(r, side, "device");
	struct device_request *request = &access->request;
	int kind;

	*access = (struct device_access){0};
	*rw = 0;
	if (!o)
		return;
	json_read_text(r, o, "type", request->type, sizeof(request->type));
	request->index = (unsigned)json_read_number(r, o, "index", UINT32_MAX);
	request->queue = (unsigned)json_read_number(r, o, "queue", UINT16_MAX);
	request->op = device_op_from_word(request->type, json_read_string(r, o, "op"));
	if (json_read_optional(o, "sector"))
		request->sector = json_read_number(r, o, "sector", INT64_MAX);
	request->head = (uint16_t)json_read_number(r, o, "descriptor", UINT16_MAX);
	access->descriptor = (uint16_t)json_read_number(r, o, "segment", UINT16_MAX);
	kind = access_from_word(json_read_string(r, o, "kind"));
	if (kind <= 0)
		json_read_wrong(r, "kind", "a kind of access");
	else
		*rw = (uint8_t)kind;
	access->write = *rw & INSN_WRITE;
	access->gpa = json_read_hex(r, o, "gpa");
	access->len = (uint32_t)json_read_number(r, o, "bytes", UINT32_MAX);
	json_read_text(r, o, "thread", request->thread, sizeof(request->thread));
	request->tid = (int32_t)json_read_number(r, o, "tid", INT32_MAX);
}
