/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "hv/race/printable.h"

#include "hv/base/clean.h"

static void clean_symbol(struct guest_symbol *symbol)
{
	clean_field(symbol->module, sizeof(symbol->module));
	clean_field(symbol->name, sizeof(symbol->name));
}

void printable_context(struct guest_context *context)
{
	clean_field(context->comm, sizeof(context->comm));
}

void printable_device(struct device_access *device)
{
	clean_field(device->request.type, sizeof(device->request.type));
	clean_field(device->request.thread, sizeof(device->request.thread));
}

void printable_locks(struct race_locks *locks)
{
	for (unsigned i = 0; i < locks->set.count; i++)
		clean_field(locks->name[i], sizeof(locks->name[i]));
}

void printable_side(struct race_side *side)
{
	printable_context(&side->context);
	clean_symbol(&side->symbol);
	printable_locks(&side->locks);
	for (unsigned i = 0; i < side->calls.count; i++)
		clean_symbol(&side->calls.frames[i].symbol);
	for (uint32_t i = 0; i < side->callee_count; i++)
		clean_field(side->callees[i].name, sizeof(side->callees[i].name));
}

void printable_memory(struct guest_memory *memory)
{
	clean_symbol(&memory->symbol);
	clean_field(memory->cache, sizeof(memory->cache));
	clean_field(memory->type, sizeof(memory->type));
	clean_field(memory->member, sizeof(memory->member));
}

void printable_names(struct race_names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		clean_field(names->lines[i].function, sizeof(names->lines[i].function));
		clean_field(names->lines[i].file, sizeof(names->lines[i].file));
	}
	for (size_t i = 0; i < names->file_count; i++)
		clean_field(names->files[i], sizeof(names->files[i]));
	for (int i = 0; i < 2; i++) {
		struct datum_name *d = &names->datum[i];

		clean_field(d->path, sizeof(d->path));
		clean_field(d->variable, sizeof(d->variable));
		clean_field(d->owner, sizeof(d->owner));
		clean_field(d->member, sizeof(d->member));
		clean_field(d->type, sizeof(d->type));
		clean_field(d->before, sizeof(d->before));
		clean_field(d->after, sizeof(d->after));
	}
}
