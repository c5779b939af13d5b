/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of a machine, as a file may have it, up to where KVM checks it. The first byte of the input says whether the rest
 * is the block itself or changes to one of good form. A block that is taken is loaded into devices, which are then used.
 */
#include "hv/vmm/pci/silent.h"
#include "hv/vmm/snapshot/block.h"
#include "tests/fuzz/rig.h"
#include "tests/unit/vmm/snapshot_made.h"

static void set_line(void *ctx, unsigned gsi, bool level)
{
	(void)ctx;
	(void)gsi;
	(void)level;
}

static const struct irq_line line = {.set = set_line};

/* Read all registers, and write some. */
static void use(const struct bus_ops *ops, void *dev, unsigned len)
{
	for (unsigned offset = 0; offset < len; offset++) {
		ops->read(dev, offset, 1);
		ops->write(dev, offset, 1, 0x80 | offset);
		ops->read(dev, offset, 1);
	}
}

static void load_board(const struct block *block)
{
	static int nowhere = -1;
	const struct power_line power = {.end = rig_end};
	struct serial_state serial_state;
	struct rtc_state rtc_state;
	struct pm_state pm_state;
	struct serial serial;
	struct rtc rtc;
	struct pm pm;

	serial_init(&serial, nowhere, &line, NULL);
	rtc_init(&rtc, &line);
	pm_init(&pm, &line, &power);
	block_get(block, SECTION_SERIAL, 0, &serial_state, sizeof(serial_state));
	block_get(block, SECTION_RTC, 0, &rtc_state, sizeof(rtc_state));
	block_get(block, SECTION_PM, 0, &pm_state, sizeof(pm_state));
	if (serial_load(&serial, &serial_state))
		use(&serial_ops, &serial, SERIAL_LEN);
	if (rtc_load(&rtc, &rtc_state)) {
		rtc_tick(&rtc, 1800000000);
		for (uint64_t i = 0; i < 128; i++) {
			rtc_ops.write(&rtc, 0, 1, i);
			rtc_ops.read(&rtc, 1, 1);
		}
		use(&rtc_ops, &rtc, RTC_LEN);
	}
	if (pm_load(&pm, 1000, &pm_state))
		use(&pm_ops, &pm, PM_LEN);
	serial_destroy(&serial);
	rtc_destroy(&rtc);
	pm_destroy(&pm);
}

static void use_card(struct rig *m, struct virtio *card)
{
	struct virtio_saved saved;

	for (unsigned offset = 0; offset < VIRTIO_COMMON_LEN; offset += 4)
		virtio_regs_ops.read(card, offset, 4);
	virtio_regs_ops.read(card, VIRTIO_DEVICE, 4);
	for (unsigned i = 0; i < card->queues; i++)
		virtio_regs_ops.write(card, VIRTIO_NOTIFY + VIRTIO_NOTIFY_STEP * i, 2, i);
	virtio_save(card, &saved);
	fuzz_require(virtio_identity_is_good(&saved.identity));
	rig_config(m, MADE_CARD, 4, 2, 0);
	virtio_regs_ops.write(card, VIRTIO_COMMON + 0x14, 1, 0);
}

static void load_card(const struct block *block)
{
	static struct rig m;
	struct virtio_saved saved;
	struct silent *card;

	if (!block_find(block, SECTION_PCI_DEVICE, MADE_CARD))
		return;
	block_get(block, SECTION_PCI_DEVICE, MADE_CARD, &saved, sizeof(saved));
	if (!virtio_identity_is_good(&saved.identity))
		return;
	rig_open(&m);
	card = silent_new(&m.virtio, &saved, NULL);
	fuzz_require(card);
	pci_function_load(&m.pci, MADE_CARD, saved.pci, saved.intx);
	if (virtio_load(virtio_in_slot(&m.pci, MADE_CARD), &saved))
		use_card(&m, virtio_in_slot(&m.pci, MADE_CARD));
	silent_free(card);
	rig_close(&m);
}

static void read_block(const struct vm_state *state)
{
	static struct block block;
	struct vm_state_facts facts;
	struct err err = {0};

	if (vm_state_check(state, &facts, &err) < 0) {
		fuzz_refused(&err);
		return;
	}
	fuzz_require(block_open(state, &block, NULL) == 0 && facts.cpus == block.machine.cpus);
	load_board(&block);
	load_card(&block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct block_writer w = {0};
	struct vm_state state;
	size_t devices;

	if (!size)
		return 0;
	if (data[0] & 1) {
		/* A buffer of exactly this size, so that AddressSanitizer sees a read after its end. */
		state = (struct vm_state){.data = malloc(size), .len = size - 1};
		fuzz_require(state.data);
		memcpy(state.data, data + 1, size - 1);
	} else {
		made_machine(&w);
		devices = w.len;
		made_devices(&w);
		fuzz_require(block_end(&w, &state, NULL) == 0);
		const struct fuzz_range ranges[] = {{state.data, state.len}, {state.data + devices, state.len - devices}};

		fuzz_patch(ranges, 2, data + 1, size - 1);
	}
	read_block(&state);
	vm_state_free(&state);
	return 0;
}
