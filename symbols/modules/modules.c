/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walks the guest's list of modules. The kernel changes the list under module_mutex with the RCU list functions, which do not
 * exclude a reader outside the guest: the walk can see any intermediate state.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
#include "hv/base/x86.h"
#include "symbols/modules/build_id.h"
#include "symbols/modules/layout.h"
#include "symbols/modules/modules.h"

#define MAX_MODULES 4096	/* bounds the walk of a hostile list; stock kernels have a few hundred modules */
#define MAX_TEXT (256ull << 20) /* bytes; bounds what a hostile guest can claim */
#define ATTEMPTS 5		/* modules_read() fails if the list changes during each of this many walks */
#define UNFORMED 3 /* MODULE_STATE_UNFORMED: the kernel is still setting up the module, and its ranges are not valid yet */

/* A walk along the list of modules. */
struct walk {
	const struct guest_reader *reader;
	struct module_layout layout;
	uint64_t head;	/* GVA of the list head */
	uint64_t at;	/* GVA of the current entry */
	uint64_t prev;	/* GVA of the entry before the current entry, or of the head */
	unsigned count; /* entries visited */
	uint8_t module[MODULE_STRUCT_MAX];
};

static int read_u64(const struct guest_reader *reader, uint64_t gva, uint64_t *v)
{
	return reader->read(reader->ctx, gva, v, sizeof(*v));
}

static int walk_start(struct walk *w, const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf,
		      struct err *err)
{
	w->reader = reader;
	w->head = symtab_addr(kernel, "modules");
	if (!w->head)
		return err_set(err, EXIT_INPUT, "modules: this kernel has no list of modules");
	return module_layout_find(btf, &w->layout, err);
}

/*
 * Step to the next entry and read the first `bytes` of its struct module into w->module. Returns 1, or 0 at the end of the
 * list, or -1 if the list is unreadable or being changed. The check of `prev` detects a change: list_del_rcu() poisons the
 * `prev` of a removed entry, and while an entry is being added, its successor's `prev` still points to another entry.
 */
static int walk_next(struct walk *w, size_t bytes)
{
	uint64_t links[2];

	if (w->count == 0) {
		w->prev = w->head;
		if (read_u64(w->reader, w->head, &w->at))
			return -1;
	} else {
		w->prev = w->at;
		memcpy(&w->at, w->module + w->layout.list.offset, sizeof(w->at));
	}
	if (w->at == w->head)
		return 0;
	if (++w->count > MAX_MODULES || !x86_kernel_address(w->at) || w->at % sizeof(uint64_t))
		return -1;
	if (w->reader->read(w->reader->ctx, w->at - w->layout.list.offset, w->module, bytes))
		return -1;
	memcpy(links, w->module + w->layout.list.offset, sizeof(links));
	return links[1] == w->prev ? 1 : -1;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x9e3779b97f4a7c15ull + (hash >> 29);
}

/* Hash the entries' addresses and states. Reads each struct module only up to the end of `state` and `list`. */
static int stamp(struct walk *w, uint64_t *out)
{
	const struct module_layout *l = &w->layout;
	size_t list_end = l->list.offset + l->list.size, state_end = l->state.offset + l->state.size;
	uint64_t hash = 0;
	int more;

	w->count = 0;
	while ((more = walk_next(w, list_end > state_end ? list_end : state_end)) > 0)
		hash = mix(mix(hash, w->at), module_field(w->module, &l->state));
	*out = mix(hash, w->count);
	return more;
}

int modules_stamp(const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf, uint64_t *out)
{
	struct walk w;

	return walk_start(&w, reader, kernel, btf, NULL) ? -1 : stamp(&w, out);
}

/*
 * Copy the module's name. Returns false if the name has unprintable characters, blanks or slashes: a real name comes from the
 * file's name, and has letters, digits, '_', rarely '-' or '.'.
 */
static bool copy_name(const struct walk *w, char name[MODULE_NAME_MAX])
{
	size_t room = w->layout.name.size < MODULE_NAME_MAX ? w->layout.name.size : MODULE_NAME_MAX;
	const char *from = (const char *)w->module + w->layout.name.offset;
	size_t len = strnlen(from, room);

	if (!len || len == room)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (from[i] <= ' ' || from[i] > '~' || from[i] == '/')
			return false;
	}
	memcpy(name, from, len + 1);
	return true;
}

/* Read a range of text. A range that lies outside the kernel half, exceeds MAX_TEXT or wraps around counts as missing. */
static bool text_range(const struct walk *w, const struct btf_member *base, const struct btf_member *size, uint64_t *start,
		       uint64_t *len)
{
	*start = module_field(w->module, base);
	*len = module_field(w->module, size);
	if (x86_kernel_address(*start) && *len && *len <= MAX_TEXT && *start + *len > *start)
		return true;
	*start = *len = 0;
	return false;
}

static bool inside_text(const struct module_info *m, uint64_t start, uint64_t len)
{
	return start >= m->text && start - m->text <= m->text_size && len <= m->text_size - (start - m->text);
}

/* Fill in *m from the struct module that the walk has read. Returns -1 if its fields contradict each other. */
static int take_module(const struct walk *w, struct module_info *m)
{
	const struct module_layout *l = &w->layout;

	*m = (struct module_info){
		.addr = w->at - l->list.offset,
		.state = (enum module_state)module_field(w->module, &l->state),
	};
	if (!copy_name(w, m->name))
		return -1;
	text_range(w, &l->text, &l->text_size, &m->text, &m->text_size);
	text_range(w, &l->init_text, &l->init_text_size, &m->init_text, &m->init_text_size);
	if (text_range(w, &l->noinstr, &l->noinstr_size, &m->noinstr, &m->noinstr_size) &&
	    !inside_text(m, m->noinstr, m->noinstr_size))
		return -1;
	if (text_range(w, &l->kprobes, &l->kprobes_size, &m->kprobes, &m->kprobes_size) &&
	    !inside_text(m, m->kprobes, m->kprobes_size))
		return -1;
	return 0;
}

/*
 * Walk the list and append all modules to *list. Returns 0, or -1 if the list changed or memory ran out. Sets err only if
 * memory ran out.
 */
static int collect_modules(struct walk *w, struct module_info **list, size_t *n, struct err *err)
{
	struct module_info *to;
	int more;

	w->count = 0;
	while ((more = walk_next(w, w->layout.size)) > 0) {
		uint64_t state = module_field(w->module, &w->layout.state);

		if (state == UNFORMED)
			continue;
		to = list_grow(list, n, sizeof(*to), NULL);
		if (!to)
			return err_set(err, EXIT_INTERNAL, "modules: out of memory");
		if (state > UNFORMED || take_module(w, to))
			return -1;
	}
	return more;
}

int modules_read(const struct guest_reader *reader, const struct symtab *kernel, const struct btf *btf,
		 struct module_info **list, size_t *n, struct err *err)
{
	uint64_t before, after;
	struct walk w;

	*list = NULL;
	*n = 0;
	if (walk_start(&w, reader, kernel, btf, err))
		return -1;
	for (unsigned i = 0; i < ATTEMPTS; i++) {
		if (!stamp(&w, &before) && !collect_modules(&w, list, n, err) && !stamp(&w, &after) && before == after) {
			for (size_t m = 0; m < *n; m++)
				module_read_build_id(reader, btf, &w.layout, &(*list)[m]);
			return 0;
		}
		free(*list);
		*list = NULL;
		*n = 0;
	}
	return err_set(err, EXIT_INPUT, "modules: the guest's list of modules changes all the time or is corrupt");
}
