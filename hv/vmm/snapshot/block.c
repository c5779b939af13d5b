/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes and reads a block: the saved state of a machine as bytes, in sections. A section has a type, an index and data
 * (block.h). A block that is read is not trusted.
 */
#include "hv/vmm/snapshot/block.h"

#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/x86.h"
#include "hv/vmm/cpuid.h"
#include "hv/vmm/pci/pci.h"
#include "hv/vmm/platform/pm.h"
#include "hv/vmm/platform/rtc.h"
#include "hv/vmm/platform/serial.h"
#include "hv/vmm/virtio/saved.h"

#define BLOCK_VERSION 1
#define ALIGN 8u
#define XSAVE_MAX (64u << 10)
#define MSRS_MAX 1024u

static const char magic[8] = {'O', 'U', 'T', 'R', 'S', 'N', 'A', 'P'};

struct header {
	char magic[8];
	uint32_t version, sections;
	uint64_t len; /* bytes of the whole block */
};

struct section_header {
	uint32_t type, index;
	uint64_t len; /* bytes of data, without this header and without the padding before the next section */
};

_Static_assert(sizeof(struct header) % ALIGN == 0 && sizeof(struct section_header) % ALIGN == 0, "sections are aligned");

/* The number of sections of a type in a block: one, or one for each vCPU, interrupt controller or slot of the PCI bus. */
enum how_many { ONE, EACH_CPU, EACH_CHIP, EACH_SLOT };

static const struct kind {
	const char *what; /* the name for messages; NULL: no section has this type */
	enum how_many how_many;
	size_t least, most, step; /* the valid lengths in bytes: from `least` to `most`, multiples of `step` */
} kinds[SECTION_END] = {
#define EXACT(what, how_many, type)                           \
	{                                                     \
		what, how_many, sizeof(type), sizeof(type), 1 \
	}
	[SECTION_MACHINE] = EXACT("the machine", ONE, struct block_machine),
	[SECTION_CPUID] = {"CPUID", EACH_CPU, sizeof(struct kvm_cpuid_entry2),
			   CPUID_ENTRIES_MAX * sizeof(struct kvm_cpuid_entry2), sizeof(struct kvm_cpuid_entry2)},
	[SECTION_SREGS] = EXACT("control registers", EACH_CPU, struct kvm_sregs),
	[SECTION_XCRS] = EXACT("XCR0", EACH_CPU, struct kvm_xcrs),
	[SECTION_XSAVE] = {"the FPU", EACH_CPU, sizeof(struct kvm_xsave), XSAVE_MAX, 1},
	[SECTION_MSRS] = {"MSRs", EACH_CPU, sizeof(struct kvm_msr_entry), MSRS_MAX * sizeof(struct kvm_msr_entry),
			  sizeof(struct kvm_msr_entry)},
	[SECTION_REGS] = EXACT("registers", EACH_CPU, struct kvm_regs),
	[SECTION_LAPIC] = EXACT("the local APIC", EACH_CPU, struct kvm_lapic_state),
	[SECTION_EVENTS] = EXACT("pending events", EACH_CPU, struct kvm_vcpu_events),
	[SECTION_DEBUG] = EXACT("debug registers", EACH_CPU, struct kvm_debugregs),
	[SECTION_MP] = EXACT("the MP state", EACH_CPU, struct kvm_mp_state),
	[SECTION_TSC] = EXACT("the TSC", EACH_CPU, uint64_t),
	[SECTION_IRQCHIP] = EXACT("an interrupt controller", EACH_CHIP, struct kvm_irqchip),
	[SECTION_PIT] = EXACT("the timer", ONE, struct kvm_pit_state2),
	[SECTION_SERIAL] = EXACT("the serial port", ONE, struct serial_state),
	[SECTION_RTC] = EXACT("the clock", ONE, struct rtc_state),
	[SECTION_PM] = EXACT("power management", ONE, struct pm_state),
	[SECTION_PCI] = EXACT("the PCI bus", ONE, struct pci_state),
	[SECTION_PCI_DEVICE] = EXACT("a PCI device", EACH_SLOT, struct virtio_saved),
#undef EXACT
};

/* ---- writing ---- */

/* Append `len` zeroed bytes. Returns their address, or NULL if memory has run out. */
static void *grow(struct block_writer *w, size_t len)
{
	void *at;

	if (w->failed)
		return NULL;
	if (w->room - w->len < len) {
		size_t room = (w->room + len) * 2;
		uint8_t *data = realloc(w->data, room);

		if (!data) {
			w->failed = true;
			return NULL;
		}
		w->data = data;
		w->room = room;
	}
	at = w->data + w->len;
	memset(at, 0, len);
	w->len += len;
	return at;
}

static size_t aligned(size_t len)
{
	return (len + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

void *block_add(struct block_writer *w, enum section type, uint32_t index, size_t len)
{
	struct section_header *header;

	if (!w->len)
		grow(w, sizeof(struct header));
	header = grow(w, sizeof(*header) + aligned(len));
	if (!header)
		return NULL;
	*header = (struct section_header){.type = type, .index = index, .len = len};
	w->sections++;
	return header + 1;
}

void block_put(struct block_writer *w, enum section type, uint32_t index, const void *data, size_t len)
{
	void *at = block_add(w, type, index, len);

	if (at)
		memcpy(at, data, len);
}

int block_end(struct block_writer *w, struct vm_state *out, struct err *err)
{
	struct header header = {.version = BLOCK_VERSION, .sections = w->sections, .len = w->len};

	if (w->failed || !w->len) {
		block_drop(w);
		return err_set(err, EXIT_INTERNAL, "out of memory for the state of the machine");
	}
	memcpy(header.magic, magic, sizeof(magic));
	memcpy(w->data, &header, sizeof(header));
	*out = (struct vm_state){.data = w->data, .len = w->len};
	*w = (struct block_writer){0};
	return 0;
}

void block_drop(struct block_writer *w)
{
	free(w->data);
	*w = (struct block_writer){0};
}

/* ---- reading ---- */

static int bad(struct err *err, const char *what)
{
	return err_set(err, EXIT_INPUT, "the state of the machine is not usable: %s", what);
}

static int bad_section(struct err *err, const struct block_section *s, const char *what)
{
	return err_set(err, EXIT_INPUT, "the state of the machine is not usable: %s (%u): %s", kinds[s->type].what, s->index,
		       what);
}

static int read_header(const struct vm_state *state, struct header *header, struct err *err)
{
	if (state->len < sizeof(*header))
		return bad(err, "it is truncated");
	memcpy(header, state->data, sizeof(*header));
	if (memcmp(header->magic, magic, sizeof(magic)))
		return bad(err, "it is something else");
	if (header->version != BLOCK_VERSION)
		return err_set(err, EXIT_INPUT,
			       "the state of the machine is of version %u, and this outrider reads version %u; save it anew",
			       header->version, BLOCK_VERSION);
	if (header->len != state->len)
		return bad(err, header->len > state->len ? "it is truncated" : "something follows its end");
	if (header->sections > BLOCK_SECTIONS_MAX)
		return bad(err, "it has too many sections");
	return 0;
}

/* Returns the number of different indices that sections of this type can have. */
static uint32_t most_of(const struct block *block, enum section type)
{
	switch (kinds[type].how_many) {
	case ONE:
		return 1;
	case EACH_CPU:
		return block->machine.cpus;
	case EACH_CHIP:
		return BLOCK_IRQCHIPS;
	default:
		return PCI_SLOTS;
	}
}

static int check_section(const struct block *block, const struct block_section *s, struct err *err)
{
	const struct kind *kind = &kinds[s->type];

	if (s->len < kind->least || s->len > kind->most || s->len % kind->step)
		return bad_section(err, s, "it has a wrong length");
	if (s->index >= most_of(block, s->type))
		return bad_section(err, s, "there is no such part");
	return block_find(block, s->type, s->index) ? bad_section(err, s, "it is there twice") : 0;
}

/* Read SECTION_MACHINE. It must be the first section, because the checks of all other sections use it. */
static int read_machine(struct block *block, const struct block_section *s, struct err *err)
{
	struct block_machine *m = &block->machine;

	if (s->type != SECTION_MACHINE || s->len != sizeof(*m))
		return bad(err, "it does not begin with the section of the machine");
	memcpy(m, s->data, sizeof(*m));
	if (!m->cpus || m->cpus > VMM_MAX_CPUS || m->intel > 1 || !m->memory || m->memory % X86_PAGE_SIZE || !m->tsc_khz)
		return bad_section(err, s, "it is no machine");
	return 0;
}

/* Read the section at *at, and advance *at to the next section. */
static int read_section(const struct vm_state *state, size_t *at, struct block *block, struct err *err)
{
	struct section_header header;
	struct block_section s;

	if (state->len - *at < sizeof(header))
		return bad(err, "it is truncated");
	memcpy(&header, state->data + *at, sizeof(header));
	*at += sizeof(header);
	/* The first test bounds header.len, so that aligned() in the second test cannot overflow. */
	if (header.len > state->len - *at || aligned((size_t)header.len) > state->len - *at)
		return bad(err, "it is truncated");
	if (header.type >= SECTION_END || !kinds[header.type].what)
		return bad(err, "it has a section of an unknown type");
	s = (struct block_section){
		.type = header.type, .index = header.index, .data = state->data + *at, .len = (size_t)header.len};
	*at += aligned(s.len);
	if (!block->count && read_machine(block, &s, err) < 0)
		return -1;
	if (check_section(block, &s, err) < 0)
		return -1;
	block->section[block->count++] = s;
	return 0;
}

static int check_all_there(const struct block *block, struct err *err)
{
	for (unsigned type = SECTION_MACHINE; type < SECTION_END; type++)
		for (uint32_t i = 0; kinds[type].how_many != EACH_SLOT && i < most_of(block, type); i++)
			if (!block_find(block, type, i))
				return err_set(err, EXIT_INPUT, "the state of the machine is not usable: %s (%u) is missing",
					       kinds[type].what, i);
	return 0;
}

int block_open(const struct vm_state *state, struct block *block, struct err *err)
{
	struct header header;
	size_t at = sizeof(header);

	*block = (struct block){0};
	if (read_header(state, &header, err) < 0)
		return -1;
	for (uint32_t i = 0; i < header.sections; i++)
		if (read_section(state, &at, block, err) < 0)
			return -1;
	if (at != state->len)
		return bad(err, "something follows its last section");
	return check_all_there(block, err);
}

const struct block_section *block_find(const struct block *block, enum section type, uint32_t index)
{
	for (unsigned i = 0; i < block->count; i++)
		if (block->section[i].type == type && block->section[i].index == index)
			return &block->section[i];
	return NULL;
}

void block_get(const struct block *block, enum section type, uint32_t index, void *out, size_t len)
{
	const struct block_section *s = block_find(block, type, index);

	memcpy(out, s->data, len < s->len ? len : s->len);
}
