/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ORC tables in made-up guest memory, in the three layouts that kernels have had. */
#ifndef OUTRIDER_TESTS_UNIT_TEST_SYM_ORC_WORLD_H
#define OUTRIDER_TESTS_UNIT_TEST_SYM_ORC_WORLD_H

#include "symbols/unwind/orc.h"
#include "tests/unit/symbols/btf_maker.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define IPS 0xffffffff82c00000ull
#define ENTRIES 0xffffffff82d00000ull
#define TEXT 0xffffffff81000000ull
#define MODULE 0xffffffffc0100000ull
#define STRUCT_MODULE 64
#define NUM_ORCS 8
#define ORC_IP 16
#define ORC 24
#define ENTRY_SIZE 6

enum layout { WITH_END, WITH_END_AND_SIGNAL, WITH_SIGNAL, LAYOUTS };

struct world {
	enum layout layout;
	struct btf *btf;
	struct orc_format format;
	struct fake_memory mem;
	struct guest_reader reader;
	struct blob ips, entries;
	uint8_t module[STRUCT_MODULE];
};

static inline void bits(struct btf_maker *m, const char *name, uint32_t type, uint32_t offset, uint32_t size)
{
	make_field(m, name, type, size << 24 | offset);
}

static inline void make_entry_type(struct btf_maker *m, enum layout layout, uint32_t size)
{
	uint32_t s16 = make_int(m, "s16", 2), u32 = make_int(m, "unsigned int", 4);

	make_type(m, "orc_entry", BTF_STRUCT | KIND_FLAG, layout == WITH_END_AND_SIGNAL ? 7 : 6, size);
	make_field(m, "sp_offset", s16, 0);
	make_field(m, "bp_offset", s16, 16);
	bits(m, "sp_reg", u32, 32, 4);
	bits(m, "bp_reg", u32, 36, 4);
	bits(m, "type", u32, 40, layout == WITH_SIGNAL ? 3 : 2);
	if (layout != WITH_END)
		bits(m, "signal", u32, layout == WITH_SIGNAL ? 43 : 42, 1);
	if (layout != WITH_SIGNAL)
		bits(m, "end", u32, layout == WITH_END ? 42 : 43, 1);
}

static inline void make_module_type(struct btf_maker *m)
{
	uint32_t u32 = make_int(m, "u32", 4), ptr = make_type(m, "", BTF_PTR, 0, 0), arch;

	arch = make_type(m, "mod_arch_specific", BTF_STRUCT, 3, 24);
	make_field(m, "num_orcs", u32, 0);
	make_field(m, "orc_unwind_ip", ptr, (ORC_IP - NUM_ORCS) * 8);
	make_field(m, "orc_unwind", ptr, (ORC - NUM_ORCS) * 8);
	make_type(m, "module", BTF_STRUCT, 1, STRUCT_MODULE);
	make_field(m, "arch", arch, NUM_ORCS * 8);
}

static inline struct btf *make_types(enum layout layout, uint32_t size)
{
	struct btf_maker m = {0};
	struct btf *btf;
	struct blob b;

	make_entry_type(&m, layout, size);
	make_module_type(&m);
	b = make_btf(&m);
	btf = btf_parse(b.bytes, b.len, NULL);
	assert_non_null(btf);
	make_free(&m);
	blob_free(&b);
	return btf;
}

static inline void open_world(struct world *w, enum layout layout)
{
	*w = (struct world){.layout = layout};
	w->btf = make_types(layout, ENTRY_SIZE);
	assert_int_equal(orc_find_format(w->btf, &w->format, NULL), 0);
	w->reader = fake_reader(&w->mem);
}

static inline void close_world(struct world *w)
{
	btf_free(w->btf);
	blob_free(&w->ips);
	blob_free(&w->entries);
}

/* Add an entry as the kernel's objtool writes it. `raw` is the byte with type, signal and end. */
static inline void add(struct world *w, uint64_t addr, int sp_offset, int bp_offset, unsigned sp, unsigned bp, unsigned raw)
{
	blob_u32(&w->ips, (uint32_t)(addr - (IPS + w->ips.len)));
	blob_u16(&w->entries, (uint16_t)sp_offset);
	blob_u16(&w->entries, (uint16_t)bp_offset);
	blob_u8(&w->entries, sp | bp << 4);
	blob_u8(&w->entries, raw);
}

static inline struct orc_table finish(struct world *w)
{
	w->mem.count = 0;
	fake_memory_map(&w->mem, IPS, w->ips.bytes, w->ips.len);
	fake_memory_map(&w->mem, ENTRIES, w->entries.bytes, w->entries.len);
	fake_memory_map(&w->mem, MODULE, w->module, sizeof(w->module));
	return (struct orc_table){IPS, ENTRIES, (uint32_t)(w->ips.len / 4)};
}

static inline int find(const struct world *w, const struct orc_table *table, uint64_t pc, struct orc_rule *out)
{
	return orc_find_rule(&w->reader, &w->format, table, pc, out);
}

#endif
