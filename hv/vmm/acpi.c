/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Builds the ACPI tables of a machine in guest RAM. The structs are the tables of ACPI 6.4, chapter 5, and of the PCI Firmware
 * Specification, byte by byte.
 */
#include "hv/vmm/acpi.h"

#include <stdbool.h>
#include <string.h>

#include "dsdt.h"
#include "hv/vmm/layout.h"

#define PACKED __attribute__((packed))

struct table_header {
	char signature[4];
	uint32_t length;
	uint8_t revision, checksum;
	char oem_id[6], oem_table_id[8];
	uint32_t oem_revision;
	char creator_id[4];
	uint32_t creator_revision;
} PACKED;

struct rsdp {
	char signature[8];
	uint8_t checksum;
	char oem_id[6];
	uint8_t revision;
	uint32_t rsdt;
	uint32_t length;
	uint64_t xsdt;
	uint8_t extended_checksum, reserved[3];
} PACKED;

struct generic_address { /* the Generic Address Structure, 5.2.3.2 */
	uint8_t space, bits, offset, access;
	uint64_t address;
} PACKED;

struct fadt { /* 5.2.9, revision 6.0 */
	struct table_header header;
	uint32_t facs, dsdt;
	uint8_t reserved0, profile;
	uint16_t sci;
	uint32_t smi_cmd;
	uint8_t acpi_enable, acpi_disable, s4bios, pstate;
	uint32_t pm1a_event, pm1b_event, pm1a_control, pm1b_control, pm2_control, pm_timer, gpe0, gpe1;
	uint8_t pm1_event_len, pm1_control_len, pm2_control_len, pm_timer_len, gpe0_len, gpe1_len, gpe1_base, cst;
	uint16_t c2_latency, c3_latency, flush_size, flush_stride;
	uint8_t duty_offset, duty_width, day_alarm, month_alarm, century;
	uint16_t boot_flags;
	uint8_t reserved1;
	uint32_t flags;
	struct generic_address reset;
	uint8_t reset_value;
	uint16_t arm_flags;
	uint8_t minor_version;
	uint64_t x_facs, x_dsdt;
	struct generic_address x_pm1a_event, x_pm1b_event, x_pm1a_control, x_pm1b_control, x_pm2_control, x_pm_timer, x_gpe0,
		x_gpe1;
	struct generic_address sleep_control, sleep_status;
	uint64_t hypervisor;
} PACKED;

struct facs {
	char signature[4];
	uint32_t length, hardware, waking, lock, flags;
	uint64_t x_waking;
	uint8_t version, reserved[31];
} PACKED;

struct madt {
	struct table_header header;
	uint32_t lapic, flags;
} PACKED;

struct madt_lapic {
	uint8_t type, length, uid, apic_id;
	uint32_t flags;
} PACKED;

struct madt_ioapic {
	uint8_t type, length, id, reserved;
	uint32_t address, gsi_base;
} PACKED;

struct madt_override {
	uint8_t type, length, bus, source;
	uint32_t gsi;
	uint16_t flags;
} PACKED;

struct madt_nmi {
	uint8_t type, length, uid;
	uint16_t flags;
	uint8_t lint;
} PACKED;

struct mcfg { /* the MCFG table with one range of bus numbers (PCI Firmware Specification 3.3, 4.1.2) */
	struct table_header header;
	uint64_t reserved0, address;
	uint16_t segment;
	uint8_t first_bus, last_bus;
	uint32_t reserved1;
} PACKED;

struct xsdt {
	struct table_header header;
	uint64_t table[3]; /* GPAs of the FADT, MADT and MCFG; the FADT leads to the DSDT and the FACS */
} PACKED;

_Static_assert(sizeof(struct table_header) == 36 && sizeof(struct rsdp) == 36 && sizeof(struct fadt) == 276 &&
		       sizeof(struct facs) == 64,
	       "ACPI table layouts");

enum {
	FADT_WBINVD = 1 << 0,
	FADT_PROC_C1 = 1 << 2,
	FADT_PWR_BUTTON = 1 << 4, /* no power button in the fixed hardware */
	FADT_SLP_BUTTON = 1 << 5, /* no sleep button in the fixed hardware */
	FADT_TMR_VAL_EXT = 1 << 8,
	FADT_RESET_REG_SUP = 1 << 10,
	BOOT_LEGACY_DEVICES = 1 << 0, /* there is an ISA device, the serial port. Bit 1 stays clear: no i8042 to probe */
	BOOT_NO_VGA = 1 << 2,
	SPACE_IO = 1,
};

struct builder {
	uint8_t *buf;
	size_t cap, used;
	uint64_t gpa;
	bool full;
};

/*
 * Reserve `len` zeroed bytes of the buffer, aligned to 64 bytes as the FACS requires, and set *gpa to their GPA. Returns NULL
 * if the buffer has no room; every later call then returns NULL too.
 */
static void *take_room(struct builder *b, size_t len, uint64_t *gpa)
{
	size_t at = (b->used + 63) & ~(size_t)63;

	if (b->full || at > b->cap || len > b->cap - at) {
		b->full = true;
		return NULL;
	}
	memset(b->buf + at, 0, len);
	b->used = at + len;
	*gpa = b->gpa + at;
	return b->buf + at;
}

static uint8_t checksum(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint8_t sum = 0;

	while (len--)
		sum = (uint8_t)(sum + *p++);
	return (uint8_t)-sum;
}

static void finish_table(struct table_header *h, const char *signature, uint8_t revision, size_t len)
{
	memcpy(h->signature, signature, 4);
	h->length = (uint32_t)len;
	h->revision = revision;
	memcpy(h->oem_id, "OUTRDR", 6);
	memcpy(h->oem_table_id, "OUTRIDER", 8);
	h->oem_revision = 1;
	memcpy(h->creator_id, "OUTR", 4);
	h->creator_revision = 1;
	h->checksum = 0;
	h->checksum = checksum(h, len);
}

static struct generic_address io_address(uint16_t port, uint8_t bytes)
{
	return (struct generic_address){
		.space = SPACE_IO, .bits = (uint8_t)(bytes * 8), .access = bytes == 4 ? 3 : bytes, .address = port};
}

static uint64_t build_fadt(struct builder *b, uint64_t facs, uint64_t dsdt)
{
	uint64_t gpa = 0;
	struct fadt *f = take_room(b, sizeof(*f), &gpa);

	if (!f)
		return 0;
	f->facs = (uint32_t)facs;
	f->dsdt = (uint32_t)dsdt;
	f->sci = SCI_GSI;
	f->pm1a_event = PM_PORT;
	f->pm1a_control = PM_PORT + 4;
	f->pm_timer = PM_PORT + 8;
	f->pm1_event_len = 4;
	f->pm1_control_len = 2;
	f->pm_timer_len = 4;
	f->c2_latency = 0xfff; /* latencies above the limits mean that C2 and C3 do not exist */
	f->c3_latency = 0xfff;
	f->century = 0x32;
	f->boot_flags = BOOT_LEGACY_DEVICES | BOOT_NO_VGA;
	f->flags = FADT_WBINVD | FADT_PROC_C1 | FADT_PWR_BUTTON | FADT_SLP_BUTTON | FADT_TMR_VAL_EXT | FADT_RESET_REG_SUP;
	f->reset = io_address(RESET_PORT, 1);
	f->reset_value = 0x0e;
	f->x_dsdt = dsdt;
	f->x_pm1a_event = io_address(PM_PORT, 4);
	f->x_pm1a_event.access = 2; /* two 16-bit registers */
	f->x_pm1a_control = io_address(PM_PORT + 4, 2);
	f->x_pm_timer = io_address(PM_PORT + 8, 4);
	finish_table(&f->header, "FACP", 6, sizeof(*f));
	return gpa;
}

static uint64_t build_facs(struct builder *b)
{
	uint64_t gpa = 0;
	struct facs *f = take_room(b, sizeof(*f), &gpa);

	if (!f)
		return 0;
	memcpy(f->signature, "FACS", 4);
	f->length = sizeof(*f);
	f->version = 1;
	return gpa;
}

static uint64_t build_dsdt(struct builder *b)
{
	uint64_t gpa = 0;
	void *to = take_room(b, sizeof(dsdt_aml_code), &gpa);

	if (to)
		memcpy(to, dsdt_aml_code, sizeof(dsdt_aml_code));
	return gpa;
}

static uint64_t build_madt(struct builder *b, unsigned cpus)
{
	size_t len = sizeof(struct madt) + cpus * sizeof(struct madt_lapic) + sizeof(struct madt_ioapic) +
		     sizeof(struct madt_override) + sizeof(struct madt_nmi);
	uint64_t gpa = 0;
	struct madt *m = take_room(b, len, &gpa);
	uint8_t *at;

	if (!m)
		return 0;
	at = (uint8_t *)(m + 1);
	m->lapic = LAPIC_GPA;
	m->flags = 1; /* PCAT_COMPAT: the machine also has 8259s */
	for (unsigned i = 0; i < cpus; i++, at += sizeof(struct madt_lapic))
		memcpy(at, &(struct madt_lapic){0, sizeof(struct madt_lapic), (uint8_t)i, (uint8_t)i, 1},
		       sizeof(struct madt_lapic));
	memcpy(at, &(struct madt_ioapic){1, sizeof(struct madt_ioapic), 0, 0, IOAPIC_GPA, 0}, sizeof(struct madt_ioapic));
	at += sizeof(struct madt_ioapic);
	/*
	 * The SCI is active high and level-triggered. All other ISA lines keep KVM's defaults: edge-triggered, pin number equal
	 * to line number.
	 */
	memcpy(at, &(struct madt_override){2, sizeof(struct madt_override), 0, SCI_GSI, SCI_GSI, 0xd},
	       sizeof(struct madt_override));
	at += sizeof(struct madt_override);
	memcpy(at, &(struct madt_nmi){4, sizeof(struct madt_nmi), 0xff, 0, 1}, sizeof(struct madt_nmi));
	finish_table(&m->header, "APIC", 4, len);
	return gpa;
}

static uint64_t build_mcfg(struct builder *b)
{
	uint64_t gpa = 0;
	struct mcfg *m = take_room(b, sizeof(*m), &gpa);

	if (!m)
		return 0;
	m->address = PCI_ECAM_GPA;
	finish_table(&m->header, "MCFG", 1, sizeof(*m));
	return gpa;
}

size_t acpi_build(uint8_t *buf, size_t cap, uint64_t gpa, unsigned cpus)
{
	struct builder b = {.buf = buf, .cap = cap, .gpa = gpa};
	uint64_t rsdp_gpa = 0, xsdt_gpa = 0, fadt, madt, mcfg;
	struct rsdp *rsdp = take_room(&b, sizeof(*rsdp), &rsdp_gpa);
	struct xsdt *xsdt = take_room(&b, sizeof(*xsdt), &xsdt_gpa);
	uint64_t facs = build_facs(&b);
	uint64_t dsdt = build_dsdt(&b);

	fadt = build_fadt(&b, facs, dsdt);
	madt = build_madt(&b, cpus);
	mcfg = build_mcfg(&b);
	if (b.full)
		return 0;
	xsdt->table[0] = fadt;
	xsdt->table[1] = madt;
	xsdt->table[2] = mcfg;
	finish_table(&xsdt->header, "XSDT", 1, sizeof(*xsdt));
	memcpy(rsdp->signature, "RSD PTR ", 8);
	memcpy(rsdp->oem_id, "OUTRDR", 6);
	rsdp->revision = 2;
	rsdp->length = sizeof(*rsdp);
	rsdp->xsdt = xsdt_gpa;
	rsdp->checksum = checksum(rsdp, 20);
	rsdp->extended_checksum = checksum(rsdp, sizeof(*rsdp));
	return b.used;
}
