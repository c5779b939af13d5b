// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a race from its JSON object in a report, which is not trusted. */
#include "hv/report/json/race_read.h"

#include <stdlib.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/report/datum.h"
#include "hv/report/json/device_json.h"
#include "hv/report/json/read.h"
#include "hv/report/json/names_json.h"
#include "hv/report/json/replay_json.h"
#include "hv/report/json/side_locks_json.h"
#include "hv/report/json/window_json.h"
#include "hv/report/words.h"

#define PID_MAX INT32_MAX
#define CPU_MAX UINT16_MAX
#define MODULES_MAX 4096 /* maximum number of modules of a race */

/*
 * Read a member that is the word for an enum value. Returns the value that lookup() gives for the word, or `fallback` on error.
 */
static int read_word(struct json_reader *r, const json_t *o, const char *key, int (*lookup)(const char *word), int fallback)
{
	int value = lookup(json_read_string(r, o, key));

	if (value >= 0)
		return value;
	json_read_wrong(r, key, "a known word");
	return fallback;
}

static void read_context(struct json_reader *r, const json_t *parent, struct guest_context *out)
{
	const json_t *o = json_read_object(r, parent, "context");

	*out = (struct guest_context){.pid = -1};
	if (!o)
		return;
	if (context_from_word(json_read_string(r, o, "kind"), out) < 0)
		json_read_wrong(r, "context", "of a known kind");
	if (json_read_optional(o, "pid"))
		out->pid = (int32_t)json_read_number(r, o, "pid", PID_MAX);
	json_read_text(r, o, "comm", out->comm, sizeof(out->comm));
	out->irqs_off = json_read_optional(o, "irqs_off") && json_read_bool(r, o, "irqs_off");
	out->preempt_off = json_read_optional(o, "preempt_off") && json_read_bool(r, o, "preempt_off");
	/* Reports of older versions lack the member "preempt_count": the count stays 0. */
	if (json_read_optional(o, "preempt_count"))
		out->preempt_count = (uint32_t)json_read_number(r, o, "preempt_count", UINT32_MAX);
	out->rcu_known = json_read_optional(o, "rcu_nesting") != NULL;
	if (out->rcu_known)
		out->rcu_nesting = (uint32_t)json_read_number(r, o, "rcu_nesting", UINT32_MAX);
}

static void read_registers(struct json_reader *r, const json_t *side, struct x86_regs *regs)
{
	const json_t *o = json_read_object(r, side, "registers");

	if (!o)
		return;
	for (int i = 0; i < X86_GPRS; i++)
		regs->gpr[i] = json_read_hex(r, o, gpr_names[i]);
	regs->rip = json_read_hex(r, o, "rip");
	regs->rflags = json_read_hex(r, o, "rflags");
	regs->cs = (uint16_t)json_read_hex(r, o, "cs");
	regs->ss = (uint16_t)json_read_hex(r, o, "ss");
	regs->fs_base = json_read_hex(r, o, "fs_base");
	regs->gs_base = json_read_hex(r, o, "gs_base");
	regs->cr0 = json_read_hex(r, o, "cr0");
	regs->cr3 = json_read_hex(r, o, "cr3");
	regs->cr4 = json_read_hex(r, o, "cr4");
	regs->efer = json_read_hex(r, o, "efer");
}

/*
 * Returns the member "offset", a whole number of 64 bits. It may be negative: invalid tables of a guest can put a function's
 * start after the address.
 */
static uint64_t read_offset(struct json_reader *r, const json_t *o)
{
	const json_t *value = json_object_get(o, "offset");

	if (!json_is_integer(value))
		json_read_wrong(r, "offset", "a whole number");
	return (uint64_t)json_integer_value(value);
}

/* Read module, function and the offset of `address` in the function. */
static void read_symbol(struct json_reader *r, const json_t *o, uint64_t address, struct guest_symbol *out)
{
	if (!json_read_optional(o, "function"))
		return;
	json_read_text(r, o, "module", out->module, sizeof(out->module));
	json_read_text(r, o, "function", out->name, sizeof(out->name));
	out->addr = address - read_offset(r, o);
}

static void read_frame(struct json_reader *r, const json_t *o, struct guest_frame *out)
{
	struct guest_context context;

	*out = (struct guest_frame){0};
	out->pc = json_read_hex(r, o, "pc");
	out->kind = (uint8_t)read_word(r, o, "kind", frame_from_word, UNWIND_CALL);
	if (context_from_word(json_read_string(r, o, "context"), &context) < 0)
		json_read_wrong(r, "context", "a known word");
	out->context = context.kind;
	out->reliable = json_read_bool(r, o, "reliable");
	read_symbol(r, o, out->pc, &out->symbol);
	if (json_read_optional(o, "function_size"))
		out->symbol.size = json_read_number(r, o, "function_size", INT64_MAX);
}

static void read_calls(struct json_reader *r, const json_t *stack, struct race *race, unsigned which)
{
	const json_t *frames = json_read_array(r, stack, "frames", UNWIND_FRAMES_MAX);
	struct guest_calls *out = &race->first.sides[which].calls;

	for (size_t i = 0; i < json_array_size(frames); i++) {
		const json_t *frame = json_array_get(frames, i);

		read_frame(r, frame, &out->frames[i]);
		/*
		 * Skip the first frame: the file has its source lines in the side's object, and read_cpu_side() reads them
		 * there.
		 */
		if (i)
			names_source_read(r, frame, which, (unsigned)i, &race->names);
		out->guessed |= !out->frames[i].reliable;
	}
	out->count = (unsigned)json_array_size(frames);
	if (json_read_optional(stack, "unwound_to"))
		out->origin = (enum guest_origin)read_word(r, stack, "unwound_to", origin_from_word, GUEST_ORIGIN_UNKNOWN);
	if (json_read_optional(stack, "trouble") && trouble_from_phrase(json_read_string(r, stack, "trouble"), out) < 0)
		json_read_wrong(r, "trouble", "a known reason");
}

static void read_stack(struct json_reader *r, const json_t *parent, struct race *race, unsigned which)
{
	const json_t *o = json_read_object(r, parent, "stack"), *below;
	struct race_side *side = &race->first.sides[which];
	size_t used = 0;

	if (!o)
		return;
	side->stack_len = json_read_bytes(r, o, "bytes", side->stack, RACE_STACK_MAX);
	below = json_read_array(r, o, "interrupted", GUEST_STACKS_MAX - 1);
	for (size_t i = 0; i < json_array_size(below); i++) {
		const json_t *memory = json_array_get(below, i);

		side->interrupted[i].gva = json_read_hex(r, memory, "address");
		side->interrupted[i].len = json_read_bytes(r, memory, "bytes", side->below + used, RACE_STACK_MAX - used);
		used += side->interrupted[i].len;
	}
	read_calls(r, o, race, which);
}

static void read_access(struct json_reader *r, const json_t *parent, struct race_side *side, uint8_t *rw)
{
	const json_t *o = json_read_object(r, parent, "access");

	if (!o)
		return;
	*rw = side->rw = (uint8_t)read_word(r, o, "kind", access_from_word, 0);
	side->locked = json_read_bool(r, o, "locked");
	side->gva = json_read_hex(r, o, "address");
	side->size = (uint32_t)json_read_number(r, o, "size", UINT32_MAX);
}

/* Read the member "code". Reports of older versions lack the list of calls in it. */
static void read_code(struct json_reader *r, const json_t *parent, struct race_side *side)
{
	const json_t *o = json_read_object(r, parent, "code"), *calls;

	if (!o)
		return;
	side->code_gva = json_read_hex(r, o, "address");
	side->code_len = json_read_bytes(r, o, "bytes", side->code, RACE_CODE_MAX);
	calls = json_read_optional(o, "calls") ? json_read_array(r, o, "calls", RACE_CALLEES_MAX) : NULL;
	for (size_t i = 0; i < json_array_size(calls); i++) {
		struct race_callee *callee = &side->callees[side->callee_count++];
		const json_t *call = json_array_get(calls, i);

		*callee = (struct race_callee){0};
		callee->at = (uint16_t)json_read_number(r, call, "at", RACE_CODE_MAX);
		json_read_text(r, call, "function", callee->name, sizeof(callee->name));
	}
}

static void read_site(struct json_reader *r, const json_t *o, struct race *race, unsigned which)
{
	json_read_text(r, o, "site", race->site[which], SITE_NAME_MAX);
	if (!race->site[which][0])
		json_read_wrong(r, "site", "the name of a site");
}

static void read_cpu_side(struct json_reader *r, const json_t *o, struct race *race, unsigned which)
{
	struct race_side *side = &race->first.sides[which];

	read_site(r, o, race, which);
	side->pc = json_read_optional(o, "pc") ? json_read_hex(r, o, "pc") : 0;
	read_access(r, o, side, &race->rw[which]);
	side->cpu = (uint16_t)json_read_number(r, o, "cpu", CPU_MAX);
	read_context(r, o, &side->context);
	side_locks_read(r, o, &side->locks);
	read_registers(r, o, &side->regs);
	read_symbol(r, o, site_address(side), &side->symbol);
	if (side->symbol.name[0])
		side->symbol.size = json_read_number(r, o, "function_size", INT64_MAX);
	names_source_read(r, o, which, 0, &race->names);
	names_datum_read(r, o, which, &race->names);
	read_stack(r, o, race, which);
	read_code(r, o, side);
}

/* Read a side whose access a device or an unseen writer made. */
static void read_other_side(struct json_reader *r, const json_t *o, struct race *race, unsigned which)
{
	struct race_side side = {.kind = RACE_SIDE_DEVICE};

	if (!json_read_optional(o, "device")) {
		snprintf(race->site[which], SITE_NAME_MAX, "unknown");
		return;
	}
	read_site(r, o, race, which);
	device_read(r, o, &side.device, &side.rw);
	race->rw[which] = side.rw;
	race_keep_device(race, which, &side);
}

static void read_side(struct json_reader *r, const json_t *o, struct race *race, unsigned which)
{
	struct race_side *side = &race->first.sides[which];
	struct race_side_room *room;

	side->kind = json_read_bool(r, o, "unknown") ? RACE_SIDE_UNSEEN : RACE_SIDE_CPU;
	if (side->kind != RACE_SIDE_CPU) {
		read_other_side(r, o, race, which);
		return;
	}
	room = malloc(sizeof(*room));
	if (room) {
		race_side_use_room(side, room);
		read_cpu_side(r, o, race, which);
	}
	if (!room || race_keep_side(race, which, side) < 0)
		json_read_wrong(r, "sides", "small enough for the memory there is");
	free(room);
}

static void read_value(struct json_reader *r, const json_t *o, const char *key, uint32_t len, uint8_t *bytes)
{
	if (len && value_from_text(json_read_string(r, o, key), len, bytes) < 0)
		json_read_wrong(r, key, "a value of the datum's size");
}

static uint32_t read_datum(struct json_reader *r, const json_t *parent, uint64_t *gva, uint64_t *gpa)
{
	const json_t *o = json_read_object(r, parent, "datum");

	if (!o)
		return 0;
	*gva = json_read_hex(r, o, "address");
	*gpa = json_read_hex(r, o, "physical");
	return (uint32_t)json_read_number(r, o, "size", RACE_DATA_MAX);
}

static void read_instance_side(struct json_reader *r, const json_t *o, struct race_instance_side *out)
{
	out->kind = RACE_SIDE_CPU;
	if (json_read_bool(r, o, "unknown"))
		out->kind = json_read_optional(o, "device") ? RACE_SIDE_DEVICE : RACE_SIDE_UNSEEN;
	if (out->kind == RACE_SIDE_DEVICE)
		device_read(r, o, &out->device, &out->rw);
	if (out->kind != RACE_SIDE_CPU)
		return;
	out->rw = (uint8_t)read_word(r, o, "kind", access_from_word, 0);
	out->locked = json_read_bool(r, o, "locked");
	out->cpu = (uint16_t)json_read_number(r, o, "cpu", CPU_MAX);
	read_context(r, o, &out->context);
}

static void read_instance(struct json_reader *r, const json_t *o, struct race_instance *out)
{
	const json_t *sides = json_read_array(r, o, "sides", 2);

	out->time_ns = json_read_seconds(r, o, "time_s");
	out->held_ns = json_read_number(r, o, "held_us", INT64_MAX / 1000) * 1000;
	out->how = (enum race_how)read_word(r, o, "how", how_from_word, RACE_BY_WATCH);
	out->data_len = read_datum(r, o, &out->gva, &out->gpa);
	read_value(r, o, "value_before", out->data_len, out->before);
	read_value(r, o, "value_after", out->data_len, out->after);
	for (int i = 0; i < 2; i++)
		read_instance_side(r, json_array_get(sides, (size_t)i), &out->sides[i]);
}

static void read_first(struct json_reader *r, const json_t *o, struct race *race)
{
	const json_t *sides = json_read_array(r, o, "sides", 2);
	struct observation *first = &race->first;
	uint64_t gva = 0;

	first->how = (enum race_how)read_word(r, o, "how", how_from_word, RACE_BY_WATCH);
	window_read(r, o, &first->window);
	first->data_len = read_datum(r, o, &gva, &first->gpa);
	read_value(r, o, "value_before", first->data_len, first->before);
	read_value(r, o, "value_after", first->data_len, first->after);
	datum_memory_read(r, o, &first->memory);
	first->taint.known = json_read_optional(o, "taint") != NULL;
	if (first->taint.known)
		first->taint.flags = json_read_hex(r, o, "taint");
	for (unsigned i = 0; i < 2; i++)
		read_side(r, json_array_get(sides, i), race, i);
	if (first->sides[0].kind != RACE_SIDE_CPU)
		json_read_wrong(r, "sides", "a list whose first side was made by a CPU");
}

static void read_instances(struct json_reader *r, const json_t *o, struct race *race)
{
	const json_t *instances = json_read_array(r, o, "instances", RACE_INSTANCES_MAX);

	for (size_t i = 0; i < json_array_size(instances); i++) {
		struct race_instance *instance = race_add_instance(race);

		if (!instance) {
			json_read_wrong(r, "instances", "small enough for the memory there is");
			return;
		}
		read_instance(r, json_array_get(instances, i), instance);
	}
	if (!race->kept) {
		json_read_wrong(r, "instances", "a list of at least one");
		return;
	}
	/* The file has these members of the first observation only in the first instance, so copy them from there. */
	race->first.time_ns = race->instances[0].time_ns;
	race->first.held_ns = race->instances[0].held_ns;
	for (int i = 0; i < 2; i++)
		race->first.sides[i].rw = race->instances[0].sides[i].rw;
}

/* Read the list of the ids of the race's modules. Reports of older versions lack the list: the race then has no modules. */
static void read_modules(struct json_reader *r, const json_t *o, struct race *race)
{
	const json_t *list = json_read_optional(o, "modules") ? json_read_array(r, o, "modules", MODULES_MAX) : NULL;

	if (!json_array_size(list))
		return;
	race->modules = calloc(json_array_size(list), sizeof(*race->modules));
	if (!race->modules) {
		json_read_wrong(r, "modules", "small enough for the memory there is");
		return;
	}
	for (size_t i = 0; i < json_array_size(list); i++)
		race->modules[race->module_count++] = (uint64_t)json_integer_value(json_array_get(list, i));
}

/*
 * Find out which of the datum's two names is the better one, and store its index. The file has no member for the index, but the
 * race's member "name" repeats the better name.
 */
static void read_best(const json_t *o, struct race *race)
{
	const char *path = json_string_value(json_object_get(json_object_get(o, "name"), "path"));
	char clean[DEBUGINFO_PATH_MAX];

	if (!race->names || !path)
		return;
	clean_text(path, strlen(path), clean, sizeof(clean));
	race->names->best = strcmp(race->names->datum[0].path, clean) != 0;
}

static void read_id(struct json_reader *r, const json_t *o, struct race *race)
{
	const char *id = json_read_string(r, o, "id");

	if (strlen(id) != RACE_ID_MAX - 1 || strspn(id, "0123456789abcdef") != RACE_ID_MAX - 1)
		json_read_wrong(r, "id", "12 hexadecimal digits");
	else
		memcpy(race->id, id, RACE_ID_MAX);
}

struct race *race_read(const json_t *object, const char *what, struct err *err)
{
	struct json_reader r = {.what = what, .err = err};
	struct race *race = race_new();

	if (!race) {
		err_set(err, EXIT_INTERNAL, "out of memory while reading %s", what);
		return NULL;
	}
	read_id(&r, object, race);
	race->count = json_read_number(&r, object, "count", INT64_MAX);
	race->first_ns = json_read_seconds(&r, object, "first_s");
	race->last_ns = json_read_seconds(&r, object, "last_s");
	read_first(&r, object, race);
	read_instances(&r, object, race);
	read_modules(&r, object, race);
	replay_read(&r, object, race);
	read_best(object, race);
	race->suspected = json_read_optional(object, "suspected") && json_read_bool(&r, object, "suspected");
	if (!r.failed)
		return race;
	race_free(race);
	return NULL;
}
