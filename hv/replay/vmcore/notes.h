/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The notes of an ELF core. Internal to this folder. */
#ifndef OUTRIDER_REPLAY_VMCORE_NOTES_H
#define OUTRIDER_REPLAY_VMCORE_NOTES_H

#include "hv/replay/vmcore/core.h"

/*
 * Make all notes of the core, as one block. Returns the block, which the caller frees, with *len set, or NULL when memory runs
 * out.
 */
uint8_t *notes_make(const struct vmcore *core, size_t *len);

#endif
