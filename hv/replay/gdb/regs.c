// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and writes the registers of a CPU in gdb's numbering, and writes their target description. */
#include "hv/replay/gdb/regs.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum feature { CORE, SSE, SEGMENTS, FEATURES };

static const char *const feature_names[FEATURES] = {
	[CORE] = "org.gnu.gdb.i386.core",
	[SSE] = "org.gnu.gdb.i386.sse",
	[SEGMENTS] = "org.gnu.gdb.i386.segments",
};

/*
 * The types that the target description declares before the registers of a feature. gdb shows a register of such a type field
 * by field.
 */
static const char *const feature_types[FEATURES] = {
	[CORE] = "<flags id=\"i386_eflags\" size=\"4\">"
		 "<field name=\"CF\" start=\"0\" end=\"0\"/><field name=\"\" start=\"1\" end=\"1\"/>"
		 "<field name=\"PF\" start=\"2\" end=\"2\"/><field name=\"AF\" start=\"4\" end=\"4\"/>"
		 "<field name=\"ZF\" start=\"6\" end=\"6\"/><field name=\"SF\" start=\"7\" end=\"7\"/>"
		 "<field name=\"TF\" start=\"8\" end=\"8\"/><field name=\"IF\" start=\"9\" end=\"9\"/>"
		 "<field name=\"DF\" start=\"10\" end=\"10\"/><field name=\"OF\" start=\"11\" end=\"11\"/>"
		 "<field name=\"NT\" start=\"14\" end=\"14\"/><field name=\"RF\" start=\"16\" end=\"16\"/>"
		 "<field name=\"VM\" start=\"17\" end=\"17\"/><field name=\"AC\" start=\"18\" end=\"18\"/>"
		 "<field name=\"VIF\" start=\"19\" end=\"19\"/><field name=\"VIP\" start=\"20\" end=\"20\"/>"
		 "<field name=\"ID\" start=\"21\" end=\"21\"/></flags>",
	[SSE] = "<vector id=\"v4f\" type=\"ieee_single\" count=\"4\"/><vector id=\"v2d\" type=\"ieee_double\" count=\"2\"/>"
		"<vector id=\"v16i8\" type=\"int8\" count=\"16\"/><vector id=\"v8i16\" type=\"int16\" count=\"8\"/>"
		"<vector id=\"v4i32\" type=\"int32\" count=\"4\"/><vector id=\"v2i64\" type=\"int64\" count=\"2\"/>"
		"<union id=\"vec128\"><field name=\"v4_float\" type=\"v4f\"/><field name=\"v2_double\" type=\"v2d\"/>"
		"<field name=\"v16_int8\" type=\"v16i8\"/><field name=\"v8_int16\" type=\"v8i16\"/>"
		"<field name=\"v4_int32\" type=\"v4i32\"/><field name=\"v2_int64\" type=\"v2i64\"/>"
		"<field name=\"uint128\" type=\"uint128\"/></union>",
	[SEGMENTS] = "",
};

/*
 * Stands in place of an offset for the x87 tag word, which needs a conversion. FXSAVE stores one bit for each register: 1 if
 * the register is not empty. gdb wants two bits for each register, as FSAVE stores them (SDM vol. 1, 10.5.1).
 */
#define FTAG SIZE_MAX

struct reg {
	const char *name, *type;
	const char *group; /* group in which gdb shows the register; NULL: gdb decides by the type */
	enum feature feature;
	uint8_t size; /* bytes in the protocol */
	uint8_t held; /* bytes at `offset` */
	bool writable;
	size_t offset; /* in struct replay_cpu, or FTAG */
};

#define AT(member) offsetof(struct replay_cpu, member)
#define FX(at) (AT(fx) + (at))
#define GPR(name, type, number)                                                 \
	{                                                                       \
		name, type, NULL, CORE, 8, 8, true, AT(regs.gpr) + 8 * (number) \
	}
#define SELECTOR(name, member)                                     \
	{                                                          \
		name, "int32", NULL, CORE, 4, 2, false, AT(member) \
	}
#define SYSTEM(name, member)                                       \
	{                                                          \
		name, "int64", NULL, CORE, 8, 8, false, AT(member) \
	}
#define STACK(name, number)                                                        \
	{                                                                          \
		name, "i387_ext", NULL, CORE, 10, 10, true, FX(32 + 16 * (number)) \
	}
#define FPU(name, at, held, writable)                             \
	{                                                         \
		name, "int", "float", CORE, 4, held, writable, at \
	}
#define XMM(name, number)                                                        \
	{                                                                        \
		name, "vec128", NULL, SSE, 16, 16, true, FX(160 + 16 * (number)) \
	}

/*
 * The registers. Those of one feature are in the order that gdb requires (GDB manual, G.5.7). The system registers follow the
 * registers of the core feature, as in QEMU.
 */
static const struct reg regs[] = {
	GPR("rax", "int64", X86_RAX),
	GPR("rbx", "int64", X86_RBX),
	GPR("rcx", "int64", X86_RCX),
	GPR("rdx", "int64", X86_RDX),
	GPR("rsi", "int64", X86_RSI),
	GPR("rdi", "int64", X86_RDI),
	GPR("rbp", "data_ptr", X86_RBP),
	GPR("rsp", "data_ptr", X86_RSP),
	GPR("r8", "int64", 8),
	GPR("r9", "int64", 9),
	GPR("r10", "int64", 10),
	GPR("r11", "int64", 11),
	GPR("r12", "int64", 12),
	GPR("r13", "int64", 13),
	GPR("r14", "int64", 14),
	GPR("r15", "int64", 15),
	{"rip", "code_ptr", NULL, CORE, 8, 8, true, AT(regs.rip)},
	{"eflags", "i386_eflags", NULL, CORE, 4, 4, true, AT(regs.rflags)},
	SELECTOR("cs", regs.cs),
	SELECTOR("ss", regs.ss),
	SELECTOR("ds", ds),
	SELECTOR("es", es),
	SELECTOR("fs", fs),
	SELECTOR("gs", gs),
	STACK("st0", 0),
	STACK("st1", 1),
	STACK("st2", 2),
	STACK("st3", 3),
	STACK("st4", 4),
	STACK("st5", 5),
	STACK("st6", 6),
	STACK("st7", 7),
	FPU("fctrl", FX(0), 2, true),
	FPU("fstat", FX(2), 2, false),
	FPU("ftag", FTAG, 0, false),
	FPU("fiseg", FX(12), 2, false),
	FPU("fioff", FX(8), 4, false),
	FPU("foseg", FX(20), 2, false),
	FPU("fooff", FX(16), 4, false),
	FPU("fop", FX(6), 2, false),
	{"k_gs_base", "int64", NULL, CORE, 8, 8, true, AT(kernel_gs_base)},
	SYSTEM("cr0", regs.cr0),
	SYSTEM("cr2", cr2),
	SYSTEM("cr3", regs.cr3),
	SYSTEM("cr4", regs.cr4),
	SYSTEM("cr8", cr8),
	SYSTEM("efer", regs.efer),
	XMM("xmm0", 0),
	XMM("xmm1", 1),
	XMM("xmm2", 2),
	XMM("xmm3", 3),
	XMM("xmm4", 4),
	XMM("xmm5", 5),
	XMM("xmm6", 6),
	XMM("xmm7", 7),
	XMM("xmm8", 8),
	XMM("xmm9", 9),
	XMM("xmm10", 10),
	XMM("xmm11", 11),
	XMM("xmm12", 12),
	XMM("xmm13", 13),
	XMM("xmm14", 14),
	XMM("xmm15", 15),
	{"mxcsr", "int", "vector", SSE, 4, 4, true, FX(24)},
	{"fs_base", "int64", NULL, SEGMENTS, 8, 8, true, AT(regs.fs_base)},
	{"gs_base", "int64", NULL, SEGMENTS, 8, 8, true, AT(regs.gs_base)},
};

#define REGS (sizeof(regs) / sizeof(regs[0]))

unsigned regs_count(void)
{
	return REGS;
}

unsigned regs_size(unsigned number)
{
	return regs[number].size;
}

/* Returns the tag of an x87 register: 0 valid, 1 zero, 2 special, such as infinity (SDM vol. 1, 8.1.7). */
static unsigned tag_of(const uint8_t st[10])
{
	uint64_t mantissa;
	uint16_t exponent;

	memcpy(&mantissa, st, sizeof(mantissa));
	memcpy(&exponent, st + 8, sizeof(exponent));
	exponent &= 0x7fff;
	if (!exponent && !mantissa)
		return 1;
	return exponent == 0x7fff || !exponent || !(mantissa >> 63) ? 2 : 0;
}

static uint16_t tags_of(const uint8_t *fx)
{
	unsigned top = fx[3] >> 3 & 7;
	uint16_t tags = 0;

	for (unsigned i = 0; i < 8; i++) {
		unsigned st = (i - top) & 7, tag = fx[4] >> i & 1 ? tag_of(fx + 32 + (size_t)16 * st) : 3;

		tags |= (uint16_t)(tag << (2 * i));
	}
	return tags;
}

unsigned regs_get(const struct replay_cpu *cpu, unsigned number, uint8_t out[REGS_ONE_MAX])
{
	const struct reg *r = &regs[number];
	uint16_t tags;

	memset(out, 0, REGS_ONE_MAX);
	if (r->offset == FTAG) {
		tags = tags_of(cpu->fx);
		memcpy(out, &tags, sizeof(tags));
	} else {
		memcpy(out, (const uint8_t *)cpu + r->offset, r->held);
	}
	return r->size;
}

int regs_set(struct replay_cpu *cpu, unsigned number, const uint8_t *value)
{
	const struct reg *r = &regs[number];
	uint8_t now[REGS_ONE_MAX];

	if (!r->writable) {
		regs_get(cpu, number, now);
		return memcmp(now, value, r->size) == 0 ? 0 : -1;
	}
	memcpy((uint8_t *)cpu + r->offset, value, r->held);
	return 0;
}

/* ---- the description ---- */

struct text {
	char *at;
	size_t len;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->at + t->len, REGS_XML_MAX - t->len, fmt, ap);
	va_end(ap);
	t->len += n > 0 ? (size_t)n : 0;
	if (t->len >= REGS_XML_MAX)
		t->len = REGS_XML_MAX - 1;
}

static void add_reg(struct text *t, const struct reg *r)
{
	add(t, "<reg name=\"%s\" bitsize=\"%u\" type=\"%s\"", r->name, r->size * 8u, r->type);
	if (r->group)
		add(t, " group=\"%s\"", r->group);
	add(t, "/>\n");
}

size_t regs_describe(char out[REGS_XML_MAX])
{
	struct text t = {.at = out};

	add(&t, "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target>\n"
		"<architecture>i386:x86-64</architecture>\n");
	for (enum feature f = 0; f < FEATURES; f++) {
		add(&t, "<feature name=\"%s\">\n%s\n", feature_names[f], feature_types[f]);
		for (size_t i = 0; i < REGS; i++)
			if (regs[i].feature == f)
				add_reg(&t, &regs[i]);
		add(&t, "</feature>\n");
	}
	add(&t, "</target>\n");
	return t.len;
}
