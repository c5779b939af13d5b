/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the kernel's symbols from the kallsyms tables in the guest's memory, so that no symbol file is needed. */
#include "symbols/tables/kallsyms.h"
#include "symbols/tables/symtab.h"
#include "symbols/tables/symtab_build.h"

#define BUDGET (64ull << 20) /* steps of the search; stock kernels need 0.3 to 7 million */

/* Add all names. Returns 1, or 0 if the tables do not hold valid names, or -1 with err. */
static int add_names(const struct kallsyms *k, struct symtab_builder *b, struct err *err)
{
	size_t pos = k->names, len;

	for (uint32_t i = 0; i < k->num; i++) {
		char name[SYMTAB_MAX_NAME];
		size_t n;

		if (!kallsyms_name_length(k, &pos, &len))
			return 0;
		n = kallsyms_expand(k, pos, len, name, sizeof(name));
		if (n < 2 || !symtab_name_ok(name, n))
			return 0;
		pos += len;
		/* Linux 5.10 also lists the compiler's local labels (.L*). No report or rule needs them. */
		if (n > 3 && name[1] == '.' && name[2] == 'L')
			continue;
		if (symtab_builder_add(b, name + 1, n - 1, kallsyms_address(k, i), 0, name[0], err))
			return -1;
	}
	return 1;
}

/* Read all symbols. Returns NULL with err; or NULL without err if these are no kallsyms tables, and the search must go on. */
static struct symtab *read_kallsyms(const struct kallsyms *k, struct err *err)
{
	struct symtab_builder *b = symtab_builder_new();
	int added;

	if (!b) {
		err_set(err, EXIT_INTERNAL, "kallsyms: out of memory");
		return NULL;
	}
	added = add_names(k, b, err);
	if (added == 1)
		return symtab_builder_finish(b, err);
	symtab_builder_free(b);
	return NULL;
}

static struct symtab *search_image(const struct guest_image *image, struct err *err)
{
	struct kallsyms k = {.image = image, .budget = BUDGET};
	size_t from = image->first;

	while (kallsyms_find_tokens(&k, &from)) {
		struct symtab *st;

		if (!kallsyms_find_names(&k) || !kallsyms_find_offsets(&k))
			continue;
		st = read_kallsyms(&k, err);
		if (st || (err && err->code != EXIT_OK))
			return st;
	}
	err_set(err, EXIT_INPUT,
		"kallsyms: no intact symbol tables in the guest's kernel; give its vmlinux or System.map by --symbols");
	return NULL;
}

struct symtab *symtab_from_kallsyms(const struct guest_reader *reader, uint64_t start, uint64_t end, struct err *err)
{
	struct guest_image image;
	struct symtab *st;

	if (guest_image_read(reader, start, end, &image, err))
		return NULL;
	st = search_image(&image, err);
	guest_image_free(&image);
	return st;
}
