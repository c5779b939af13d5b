/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the build id of a loaded module. */
#include "symbols/modules/build_id.h"

#include <stdbool.h>
#include <string.h>

#include "symbols/tables/elf_notes.h"

/* At most this many notes are read, each of at most this many bytes. The limits bound what a hostile guest can cost. */
#define MAX_NOTES 8
#define MAX_NOTE_BYTES 1024

/* Layout of the ELF notes that the kernel keeps for a module: an array of struct bin_attribute. */
struct notes_layout {
	struct btf_member attrs;	    /* the array, in struct module_notes_attrs */
	uint32_t stride;		    /* bytes of an element */
	struct btf_member name, size, data; /* in struct bin_attribute */
};

static bool find_notes_layout(const struct btf *btf, struct notes_layout *l)
{
	l->stride = btf_sizeof(btf, "bin_attribute");
	return l->stride && l->stride <= 512 && !btf_member(btf, "module_notes_attrs", "attrs", &l->attrs) &&
	       !btf_member(btf, "bin_attribute", "attr.name", &l->name) &&
	       !btf_member(btf, "bin_attribute", "size", &l->size) && !btf_member(btf, "bin_attribute", "private", &l->data) &&
	       l->name.size == 8 && l->size.size == 8 && l->data.size == 8;
}

/*
 * Read one attribute. Returns 1 if the attribute holds the build id, 0 if it is another note, and -1 if it is no note: then the
 * array has ended.
 */
static int from_attribute(const struct guest_reader *reader, const struct notes_layout *l, uint64_t attr,
			  struct module_info *module)
{
	uint8_t notes[MAX_NOTE_BYTES];
	const uint8_t *id;
	uint64_t name, size, data;
	char text[5];

	if (reader->read(reader->ctx, attr + l->name.offset, &name, sizeof(name)) ||
	    reader->read(reader->ctx, attr + l->size.offset, &size, sizeof(size)) ||
	    reader->read(reader->ctx, attr + l->data.offset, &data, sizeof(data)) ||
	    reader->read(reader->ctx, name, text, sizeof(text)) || memcmp(text, ".note", sizeof(text)))
		return -1;
	if (!size || size > sizeof(notes) || reader->read(reader->ctx, data, notes, size))
		return 0;
	module->build_id_len = elf_notes_build_id(notes, size, sizeof(module->build_id), &id);
	if (!module->build_id_len)
		return 0;
	memcpy(module->build_id, id, module->build_id_len);
	return 1;
}

static void from_notes(const struct guest_reader *reader, const struct btf *btf, uint64_t notes_attrs,
		       struct module_info *module)
{
	struct notes_layout l;

	if (!notes_attrs || !find_notes_layout(btf, &l))
		return;
	/*
	 * Recognise an attribute by its name, which begins with ".note". The kernel's count of the attributes is not used,
	 * because its place depends on the kernel's version.
	 */
	for (unsigned i = 0; i < MAX_NOTES; i++) {
		if (from_attribute(reader, &l, notes_attrs + l.attrs.offset + (uint64_t)i * l.stride, module))
			return;
	}
}

void module_read_build_id(const struct guest_reader *reader, const struct btf *btf, const struct module_layout *layout,
			  struct module_info *module)
{
	const struct btf_member *id = &layout->build_id;
	uint64_t notes_attrs = 0;

	module->build_id_len = 0;
	if (id->size && id->size <= sizeof(module->build_id) &&
	    !reader->read(reader->ctx, module->addr + id->offset, module->build_id, id->size)) {
		module->build_id_len = id->size;
		return;
	}
	if (layout->notes_attrs.size == sizeof(notes_attrs) &&
	    !reader->read(reader->ctx, module->addr + layout->notes_attrs.offset, &notes_attrs, sizeof(notes_attrs)))
		from_notes(reader, btf, notes_attrs, module);
}
