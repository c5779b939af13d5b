// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/coverage/site.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 8 /* maximum number of hexadecimal digits of a 32-bit offset */

bool site_split(const char *site, char function[SITE_NAME_MAX], uint32_t *offset)
{
	const char *plus = strrchr(site, '+'), *digits = plus ? plus + 3 : NULL;
	size_t len;

	if (!plus || plus == site || strncmp(plus, "+0x", 3) != 0 || (size_t)(plus - site) >= SITE_NAME_MAX)
		return false;
	len = strlen(digits);
	if (!len || len > DIGITS_MAX || strspn(digits, "0123456789abcdef") != len || (digits[0] == '0' && len > 1))
		return false;
	*offset = (uint32_t)strtoul(digits, NULL, 16);
	memcpy(function, site, (size_t)(plus - site));
	function[plus - site] = '\0';
	return true;
}
