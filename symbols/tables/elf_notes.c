/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbols/tables/elf_notes.h"

#include <elf.h>
#include <string.h>

static uint64_t padded(uint64_t size)
{
	return (size + 3) & ~UINT64_C(3);
}

size_t elf_notes_build_id(const uint8_t *notes, size_t len, size_t max, const uint8_t **id)
{
	uint64_t at = 0;

	while (at < len && len - at >= sizeof(Elf64_Nhdr)) {
		uint64_t name, desc;
		Elf64_Nhdr note;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		desc = name + padded(note.n_namesz);
		if (desc > len || note.n_descsz > len - desc)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && !memcmp(notes + name, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= max) {
			*id = notes + desc;
			return note.n_descsz;
		}
		at = desc + padded(note.n_descsz);
	}
	return 0;
}
