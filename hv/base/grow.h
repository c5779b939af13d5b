/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds items to lists. Pure functions of the list. Any thread. */
#ifndef OUTRIDER_BASE_GROW_H
#define OUTRIDER_BASE_GROW_H

#include <stddef.h>

#include "hv/base/err.h"

/*
 * Append a zeroed item of `item` bytes to a list. `list` is the address of the list's pointer, which is NULL while the list is
 * empty, and *count grows by 1. Only these functions may allocate the list: they double the list's memory when *count is a
 * power of two. Returns the item, or NULL with err set if memory runs out; then the list is unchanged.
 */
void *list_grow(void *list, size_t *count, size_t item, struct err *err);

/* As list_grow(), but the new item gets the index `at`, and each item whose index was `at` or higher moves up by one. */
void *list_insert(void *list, size_t *count, size_t at, size_t item, struct err *err);

#endif
