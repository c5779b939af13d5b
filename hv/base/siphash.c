// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/base/siphash.h"

#include <sys/random.h>

#include "hv/base/clock.h"

void siphash_key_make(struct siphash_key *key)
{
	if (getrandom(key, sizeof(*key), GRND_NONBLOCK) != (ssize_t)sizeof(*key))
		*key = (struct siphash_key){{(uint64_t)(uintptr_t)key, monotonic_ns()}};
}
