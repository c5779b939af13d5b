// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/base/grow.h"

#include <stdlib.h>
#include <string.h>

void *list_grow(void *list, size_t *count, size_t item, struct err *err)
{
	char *bytes;

	/* Copy the pointer: the caller's variable is a pointer of another type. */
	memcpy(&bytes, list, sizeof(bytes));
	if (!(*count & (*count - 1))) {
		char *more = realloc(bytes, (*count ? 2 * *count : 1) * item);

		if (!more) {
			err_set(err, EXIT_INTERNAL, "out of memory");
			return NULL;
		}
		bytes = more;
		memcpy(list, &bytes, sizeof(bytes));
	}
	return memset(bytes + (*count)++ * item, 0, item);
}

void *list_insert(void *list, size_t *count, size_t at, size_t item, struct err *err)
{
	size_t later = (*count - at) * item;
	char *place = list_grow(list, count, item, err);

	if (!place)
		return NULL;
	place -= later;
	memmove(place + item, place, later);
	return memset(place, 0, item);
}
