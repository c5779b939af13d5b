/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cards and their workers over time; sequence.h says what an input is. tests/unit/vmm/test_sequence.c runs the same under
 * ThreadSanitizer.
 *
 * fuzz: slow: an input makes a machine with four cards, starts up to nine threads, and carries out up to 400 operations
 */
#include "tests/fuzz/sequence.h"

uint8_t guest_ram[SEQ_RAM] __attribute__((aligned(4096)));

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	seq_run(data, size);
	return 0;
}
