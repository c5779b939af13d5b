// SPDX-License-Identifier: GPL-2.0-or-later
/* Tells which slab objects of the guest are in use (guest_heap_open()). */
#include <stdlib.h>

#include "hv/guest/linux_guest.h"
#include "hv/guest/linux_sheaves.h"
#include "hv/guest/linux_slabs.h"

struct guest_heap {
	const struct guest *g;
	struct linux_slabs slabs;
};

struct guest_heap *guest_heap_open(const struct guest *g)
{
	struct guest_heap *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->g = g;
	if (linux_slabs_read(&h->slabs, g) == 0 && linux_mark_sheaves(&h->slabs, g) == 0)
		return h;
	guest_heap_close(h);
	return NULL;
}

/* Returns the state of the object that contains the byte, or NULL if there is none. */
static uint8_t *state_at(const struct guest_heap *h, uint64_t gva)
{
	uint32_t object;
	const struct linux_known_slab *slab = linux_slabs_at(&h->slabs, h->g, gva, &object);

	return slab ? &h->slabs.state[slab->first + object] : NULL;
}

bool guest_heap_uses(const struct guest_heap *h, uint64_t gva)
{
	const uint8_t *state = state_at(h, gva);

	return state && !(*state & (LINUX_OBJECT_FREE | LINUX_OBJECT_DROPPED));
}

bool guest_heap_has_free(const struct guest_heap *h, uint64_t gva)
{
	const uint8_t *state = state_at(h, gva);

	return state && *state & LINUX_OBJECT_FREE;
}

void guest_heap_drop(struct guest_heap *h, uint64_t gva)
{
	uint8_t *state = state_at(h, gva);

	if (state)
		*state |= LINUX_OBJECT_DROPPED;
}

void guest_heap_close(struct guest_heap *h)
{
	if (h)
		linux_slabs_free(&h->slabs);
	free(h);
}
