/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the guest's code as the guest wrote it, without the breakpoints of the detector. */
#ifndef OUTRIDER_DETECT_CORE_CODE_H
#define OUTRIDER_DETECT_CORE_CODE_H

#include <stddef.h>
#include <stdint.h>

struct detect;

/*
 * Copy `len` bytes of code at GVA `gva` as the guest wrote it, without the detector's INT3s. Returns 0, or -1 when any byte
 * cannot be read. Takes d->lock through detect_enter(), so it must not be called in a callback.
 */
int detect_code(struct detect *d, uint64_t gva, void *buf, size_t len);

#endif
