// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/json/complaint_json.h"
#include "hv/report/json/race_json.h"

#include "hv/race/race_key.h"
#include "hv/report/datum.h"
#include "hv/report/json/device_json.h"
#include "hv/report/json/side_locks_json.h"
#include "hv/report/json/write.h"
#include "hv/report/json/names_json.h"
#include "hv/report/json/replay_json.h"
#include "hv/report/json/window_json.h"
#include "hv/report/words.h"

static json_t *value_json(const uint8_t *bytes, uint32_t len)
{
	char text[VALUE_TEXT_MAX];

	value_text(bytes, len, text);
	return len ? json_string(text) : json_null();
}

static json_t *memory_json(struct json_builder *b, uint64_t gva, const uint8_t *bytes, size_t len)
{
	json_t *memory = json_object();

	json_put(b, memory, "address", json_hex(gva));
	json_put(b, memory, "bytes", json_bytes(bytes, len));
	return memory;
}

static json_t *registers_json(struct json_builder *b, const struct x86_regs *regs)
{
	json_t *o = json_object();

	for (int i = 0; i < X86_GPRS; i++)
		json_put(b, o, gpr_names[i], json_hex(regs->gpr[i]));
	json_put(b, o, "rip", json_hex(regs->rip));
	json_put(b, o, "rflags", json_hex(regs->rflags));
	json_put(b, o, "cs", json_hex(regs->cs));
	json_put(b, o, "ss", json_hex(regs->ss));
	json_put(b, o, "fs_base", json_hex(regs->fs_base));
	json_put(b, o, "gs_base", json_hex(regs->gs_base));
	json_put(b, o, "cr0", json_hex(regs->cr0));
	json_put(b, o, "cr3", json_hex(regs->cr3));
	json_put(b, o, "cr4", json_hex(regs->cr4));
	json_put(b, o, "efer", json_hex(regs->efer));
	return o;
}

static json_t *context_json(struct json_builder *b, const struct guest_context *context)
{
	json_t *o = json_object();

	json_put(b, o, "kind", json_string(context_word(context)));
	json_put(b, o, "pid", context->pid >= 0 ? json_integer(context->pid) : json_null());
	json_put(b, o, "comm", json_clean(context->comm, sizeof(context->comm)));
	json_put(b, o, "irqs_off", context->known ? json_boolean(context->irqs_off) : json_null());
	json_put(b, o, "preempt_off", context->known ? json_boolean(context->preempt_off) : json_null());
	json_put(b, o, "preempt_count",
		 context->known && (context->preempt_count || !context->preempt_off) ? json_integer(context->preempt_count)
										     : json_null());
	json_put(b, o, "rcu_nesting", context->rcu_known ? json_integer(context->rcu_nesting) : json_null());
	return o;
}

static void put_symbol(struct json_builder *b, json_t *o, const struct race_side *side)
{
	const struct guest_symbol *symbol = &side->symbol;
	bool named = symbol->name[0] != '\0';

	json_put(b, o, "module", json_clean(symbol->module, sizeof(symbol->module)));
	json_put(b, o, "function", json_clean(symbol->name, sizeof(symbol->name)));
	json_put(b, o, "offset", named ? json_integer((json_int_t)(site_address(side) - symbol->addr)) : json_null());
	json_put(b, o, "function_size", named ? json_whole(symbol->size) : json_null());
}

static json_t *frame_json(struct json_builder *b, const struct guest_frame *frame)
{
	const struct guest_symbol *symbol = &frame->symbol;
	const struct guest_context context = {.known = true, .kind = frame->context};
	bool named = symbol->name[0] != '\0';
	json_t *o = json_object();

	json_put(b, o, "pc", json_hex(frame->pc));
	json_put(b, o, "module", json_clean(symbol->module, sizeof(symbol->module)));
	json_put(b, o, "function", json_clean(symbol->name, sizeof(symbol->name)));
	json_put(b, o, "offset", named ? json_integer((json_int_t)(frame->pc - symbol->addr)) : json_null());
	json_put(b, o, "function_size", symbol->size ? json_whole(symbol->size) : json_null());
	json_put(b, o, "kind", json_string(frame_word(frame->kind)));
	json_put(b, o, "context", json_string(context_word(&context)));
	json_put(b, o, "reliable", json_boolean(frame->reliable));
	return o;
}

static json_t *stack_json(struct json_builder *b, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	json_t *o = memory_json(b, side->regs.gpr[X86_RSP], side->stack, side->stack_len);
	json_t *frames = json_array(), *interrupted = json_array();
	const char *origin = origin_word(side->calls.origin), *trouble = trouble_phrase(&side->calls);
	const uint8_t *bytes = side->below;

	for (int i = 0; i < GUEST_STACKS_MAX - 1 && side->interrupted[i].len; i++) {
		json_append(b, interrupted, memory_json(b, side->interrupted[i].gva, bytes, side->interrupted[i].len));
		bytes += side->interrupted[i].len;
	}
	for (unsigned i = 0; i < side->calls.count; i++) {
		json_t *frame = frame_json(b, &side->calls.frames[i]);

		json_put(b, frame, "source", names_source_json(b, race->names, which, i));
		json_append(b, frames, frame);
	}
	json_put(b, o, "interrupted", interrupted);
	json_put(b, o, "frames", frames);
	json_put(b, o, "unwound_to", origin ? json_string(origin) : json_null());
	json_put(b, o, "trouble", side->calls.count && trouble ? json_string(trouble) : json_null());
	return o;
}

static json_t *code_json(struct json_builder *b, const struct race_side *side)
{
	json_t *o = memory_json(b, side->code_gva, side->code, side->code_len), *calls = json_array();

	for (uint32_t i = 0; i < side->callee_count; i++) {
		json_t *call = json_object();

		json_put(b, call, "at", json_integer(side->callees[i].at));
		json_put(b, call, "function", json_clean(side->callees[i].name, sizeof(side->callees[i].name)));
		json_append(b, calls, call);
	}
	json_put(b, o, "calls", calls);
	return o;
}

static json_t *side_json(struct json_builder *b, const struct race *race, unsigned which)
{
	const struct race_side *side = &race->first.sides[which];
	json_t *o = json_object(), *access = json_object();

	json_put(b, o, "unknown", json_boolean(side->kind != RACE_SIDE_CPU));
	if (side->kind != RACE_SIDE_CPU) {
		json_decref(access);
		if (side->kind == RACE_SIDE_DEVICE) {
			json_put(b, o, "site", json_string(race->site[which]));
			json_put(b, o, "device", device_json(b, &side->device, race->rw[which]));
		}
		return o;
	}
	json_put(b, o, "site", json_string(race->site[which]));
	put_symbol(b, o, side);
	json_put(b, o, "pc", side->pc ? json_hex(side->pc) : json_null());
	json_put(b, access, "kind", json_string(access_word(race->rw[which])));
	json_put(b, access, "locked", json_boolean(side->locked));
	json_put(b, access, "address", json_hex(side->gva));
	json_put(b, access, "size", json_integer(side->size));
	json_put(b, o, "access", access);
	json_put(b, o, "cpu", json_integer(side->cpu));
	json_put(b, o, "context", context_json(b, &side->context));
	if (side->locks.known)
		json_put(b, o, "locks", side_locks_json(b, &side->locks));
	json_put(b, o, "registers", registers_json(b, &side->regs));
	json_put(b, o, "source", names_source_json(b, race->names, which, 0));
	json_put(b, o, "datum", names_datum_json(b, race->names, which));
	json_put(b, o, "stack", stack_json(b, race, which));
	json_put(b, o, "code", code_json(b, side));
	return o;
}

static json_t *instance_side_json(struct json_builder *b, const struct race_instance_side *side)
{
	json_t *o = json_object();

	json_put(b, o, "unknown", json_boolean(side->kind != RACE_SIDE_CPU));
	if (side->kind == RACE_SIDE_DEVICE)
		json_put(b, o, "device", device_json(b, &side->device, side->rw));
	if (side->kind != RACE_SIDE_CPU)
		return o;
	json_put(b, o, "kind", json_string(access_word(side->rw)));
	json_put(b, o, "locked", json_boolean(side->locked));
	json_put(b, o, "cpu", json_integer(side->cpu));
	json_put(b, o, "context", context_json(b, &side->context));
	return o;
}

static json_t *datum_json(struct json_builder *b, uint64_t gva, uint64_t gpa, uint32_t len)
{
	json_t *o = json_object();

	json_put(b, o, "address", json_hex(gva));
	json_put(b, o, "physical", json_hex(gpa));
	json_put(b, o, "size", json_integer(len));
	return o;
}

static json_t *instance_json(struct json_builder *b, const struct race_instance *instance)
{
	json_t *o = json_object(), *sides = json_array();

	json_put(b, o, "time_s", json_seconds(instance->time_ns));
	json_put(b, o, "held_us", json_whole(instance->held_ns / 1000));
	json_put(b, o, "how", json_string(how_word(instance->how)));
	json_put(b, o, "datum", datum_json(b, instance->gva, instance->gpa, instance->data_len));
	json_put(b, o, "value_before", value_json(instance->before, instance->data_len));
	json_put(b, o, "value_after", value_json(instance->after, instance->data_len));
	for (int i = 0; i < 2; i++)
		json_append(b, sides, instance_side_json(b, &instance->sides[i]));
	json_put(b, o, "sides", sides);
	return o;
}

json_t *race_json(const struct race *race)
{
	const struct observation *first = &race->first;
	json_t *o = json_object(), *sides = json_array(), *instances = json_array(), *modules = json_array();
	struct json_builder b = {0};
	struct race_key key;

	race_key(race, &key);
	for (size_t i = 0; i < race->module_count; i++)
		json_append(&b, modules, json_whole(race->modules[i]));

	json_put(&b, o, "id", json_string(race->id));
	json_put(&b, o, "identity", json_string(key.identity));
	json_put(&b, o, "alias", key.alias[0] ? json_string(key.alias) : json_null());
	json_put(&b, o, "count", json_whole(race->count));
	json_put(&b, o, "first_s", json_seconds(race->first_ns));
	json_put(&b, o, "last_s", json_seconds(race->last_ns));
	json_put(&b, o, "how", json_string(how_word(first->how)));
	if (first->window.known)
		json_put(&b, o, "window", window_json(&b, &first->window));
	json_put(&b, o, "datum", datum_json(&b, first->sides[0].gva, first->gpa, first->data_len));
	json_put(&b, o, "value_before", value_json(first->before, first->data_len));
	json_put(&b, o, "value_after", value_json(first->after, first->data_len));
	json_put(&b, o, "name", race->names ? names_datum_json(&b, race->names, race->names->best) : json_null());
	json_put(&b, o, "memory", datum_memory_json(&b, &first->memory));
	json_put(&b, o, "taint", first->taint.known ? json_hex(first->taint.flags) : json_null());
	json_put(&b, o, "modules", modules);
	for (unsigned i = 0; i < 2; i++)
		json_append(&b, sides, side_json(&b, race, i));
	json_put(&b, o, "sides", sides);
	for (unsigned i = 0; i < race->kept; i++)
		json_append(&b, instances, instance_json(&b, &race->instances[i]));
	json_put(&b, o, "instances", instances);
	json_put(&b, o, "replay", race->replay ? replay_json(&b, race->replay) : json_null());
	if (race->suspected)
		json_put(&b, o, "suspected", json_true());
	if (race->complaint.link != COMPLAINT_UNLINKED)
		json_put(&b, o, "complaint", race_complaint_json(&race->complaint));
	json_put(&b, o, "verdict", json_null());
	json_put(&b, o, "group", json_null());
	if (!b.failed)
		return o;
	json_decref(o);
	return NULL;
}
