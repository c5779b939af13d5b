/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the offsets and sizes of the members of struct module in the guest's kernel. */
#include <stdbool.h>
#include <string.h>

#include "symbols/modules/layout.h"

/*
 * Look up `path`, and if that fails, `older`. Linux up to 6.3 describes a module's text in core_layout and init_layout, and
 * since 6.4 in mem[].
 */
static void find_either(const struct btf *btf, const char *path, const char *older, struct btf_member *out)
{
	if (btf_member(btf, "module", path, out) && (!older || btf_member(btf, "module", older, out)))
		*out = (struct btf_member){0};
}

static bool fits_module(const struct btf_member *m, uint32_t size, uint32_t most)
{
	return m->size && m->size <= most && m->offset <= size && m->size <= size - m->offset;
}

/*
 * Treat a member as missing, so that it is never read, if it does not lie inside struct module (`size` bytes) or has more than
 * `most` bytes.
 */
static void drop_unfit(struct btf_member *m, uint32_t size, uint32_t most)
{
	if (m->size && !fits_module(m, size, most))
		*m = (struct btf_member){0};
}

int module_layout_find(const struct btf *btf, struct module_layout *out, struct err *err)
{
	struct btf_member *const words[] = {
		&out->state,	    &out->text,	   &out->text_size,    &out->init_text, &out->init_text_size, &out->noinstr,
		&out->noinstr_size, &out->kprobes, &out->kprobes_size, &out->kallsyms,	&out->notes_attrs,
	};

	*out = (struct module_layout){.size = btf_sizeof(btf, "module")};
	find_either(btf, "list", NULL, &out->list);
	find_either(btf, "state", NULL, &out->state);
	find_either(btf, "name", NULL, &out->name);
	find_either(btf, "mem[MOD_TEXT].base", "core_layout.base", &out->text);
	find_either(btf, "mem[MOD_TEXT].size", "core_layout.text_size", &out->text_size);
	find_either(btf, "mem[MOD_INIT_TEXT].base", "init_layout.base", &out->init_text);
	find_either(btf, "mem[MOD_INIT_TEXT].size", "init_layout.text_size", &out->init_text_size);
	find_either(btf, "noinstr_text_start", NULL, &out->noinstr);
	find_either(btf, "noinstr_text_size", NULL, &out->noinstr_size);
	find_either(btf, "kprobes_text_start", NULL, &out->kprobes);
	find_either(btf, "kprobes_text_size", NULL, &out->kprobes_size);
	find_either(btf, "build_id", NULL, &out->build_id);
	find_either(btf, "notes_attrs", NULL, &out->notes_attrs);
	find_either(btf, "kallsyms", NULL, &out->kallsyms);
	find_either(btf, "core_kallsyms", NULL, &out->core_kallsyms);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		drop_unfit(words[i], out->size, sizeof(uint64_t));
	drop_unfit(&out->core_kallsyms, out->size, out->size);
	if (!out->size || out->size > MODULE_STRUCT_MAX || !fits_module(&out->list, out->size, 16) || out->list.size != 16 ||
	    !fits_module(&out->name, out->size, 1024) || !out->state.size || !out->text.size || !out->text_size.size)
		return err_set(err, EXIT_INPUT, "modules: this kernel's type information has no usable struct module");
	return 0;
}

uint64_t module_field(const uint8_t *module, const struct btf_member *member)
{
	uint64_t v = 0;

	memcpy(&v, module + member->offset, member->size <= sizeof(v) ? member->size : 0);
	return v;
}
