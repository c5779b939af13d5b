// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes the identity of a suspicion: a hash of what stays the same in every build of the kernel. */
#include "hv/report/locks/suspicion_key.h"

#include <stdio.h>
#include <string.h>

/* Maximum number of bytes of a lock's or datum's name that enter the hash; no name is longer. */
#define NAME_MAX_SHOWN 256

void suspicion_function(const char *site, char out[SITE_NAME_MAX])
{
	const char *colon = strchr(site, ':'), *name = colon ? colon + 1 : site;
	size_t len = strcspn(name, "+");

	/*
	 * Cut off suffixes of the compiler such as ".isra.0", as race_key() does: a C function has no dot in its name. A dot
	 * that is the first character stays.
	 */
	if (len > 1)
		len = 1 + strcspn(name + 1, ".+");
	snprintf(out, SITE_NAME_MAX, "%.*s", (int)((size_t)(name - site) + len), site);
}

/* Returns the name, or "?" for an address, which changes with each boot. */
static const char *lasting(const char *name)
{
	return name[0] && strncmp(name, "0x", 2) != 0 ? name : "?";
}

void suspicion_identity(enum suspicion_kind kind, const char *site_a, const char *site_b, const char *lock, const char *datum,
			char out[RACE_ID_MAX])
{
	char function[2][SITE_NAME_MAX], text[2 * SITE_NAME_MAX + 2 * NAME_MAX_SHOWN + 64];

	suspicion_function(site_a, function[0]);
	suspicion_function(site_b, function[1]);
	snprintf(text, sizeof(text), "%d %s <-> %s under %.*s on %.*s", (int)kind, function[0], function[1], NAME_MAX_SHOWN,
		 lasting(lock), NAME_MAX_SHOWN, lasting(datum));
	race_id("suspicion", text, out);
}
