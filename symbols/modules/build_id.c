/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "symbols/modules/build_id.h"

#define MAX_NOTES 8
#define MAX_NOTE_BYTES 1024

struct notes_layout {
	struct btf_member attrs; /* the array, in struct module_notes_attrs */
	uint32_t stride;
	struct btf_member name, size, data; /* in struct bin_attribute */
};

static bool find_layout(const struct btf *btf, struct notes_layout *l)
{
	l->stride = btf_sizeof(btf, "bin_attribute");
	return l->stride && l->stride <= 512 && !btf_member(btf, "module_notes_attrs", "attrs", &l->attrs) &&
	       !btf_member(btf, "bin_attribute", "attr.name", &l->name) &&
	       !btf_member(btf, "bin_attribute", "size", &l->size) && !btf_member(btf, "bin_attribute", "private", &l->data) &&
	       l->name.size == 8 && l->size.size == 8 && l->data.size == 8;
}

/* ELF notes (gABI, "Note Section"): header, name and descriptor, each padded to four bytes. */
static bool find_build_id(const uint8_t *notes, size_t len, struct module_info *module)
{
	size_t pos = 0;

	while (len - pos >= sizeof(Elf64_Nhdr)) {
		const uint8_t *name = notes + pos + sizeof(Elf64_Nhdr);
		Elf64_Nhdr note;
		size_t name_len, desc_len;

		memcpy(&note, notes + pos, sizeof(note));
		pos += sizeof(note);
		name_len = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		desc_len = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name_len > len - pos || desc_len > len - pos - name_len)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(name, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= sizeof(module->build_id)) {
			memcpy(module->build_id, name + name_len, note.n_descsz);
			module->build_id_len = note.n_descsz;
			return true;
		}
		pos += name_len + desc_len;
	}
	return false;
}

/* One attribute: 1 found, 0 another note, -1 no note any more. */
static int from_attribute(const struct guest_reader *reader, const struct notes_layout *l, uint64_t attr,
			  struct module_info *module)
{
	uint8_t notes[MAX_NOTE_BYTES];
	uint64_t name, size, data;
	char text[5];

	if (reader->read(reader->ctx, attr + l->name.offset, &name, sizeof(name)) ||
	    reader->read(reader->ctx, attr + l->size.offset, &size, sizeof(size)) ||
	    reader->read(reader->ctx, attr + l->data.offset, &data, sizeof(data)) ||
	    reader->read(reader->ctx, name, text, sizeof(text)) || memcmp(text, ".note", sizeof(text)))
		return -1;
	if (!size || size > sizeof(notes) || reader->read(reader->ctx, data, notes, size))
		return 0;
	return find_build_id(notes, size, module);
}

static void from_notes(const struct guest_reader *reader, const struct btf *btf, uint64_t notes_attrs,
		       struct module_info *module)
{
	struct notes_layout l;

	if (!notes_attrs || !find_layout(btf, &l))
		return;
	/* The count is kept differently by version; the attributes' names tell where they end. */
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
