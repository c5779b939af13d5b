// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads numbers, sizes and times in option values. */
#include "hv/cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Read the number at the start of `text`. It must begin with a digit: strtoull() would also accept signs and leading blanks. */
static int leading_number(const char *text, const char **rest, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -1;
	errno = 0;
	*out = strtoull(text, &end, text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10);
	*rest = end;
	return errno ? -1 : 0;
}

static int in_range(uint64_t value, uint64_t min, uint64_t max, uint64_t *out)
{
	if (value < min || value > max)
		return -1;
	*out = value;
	return 0;
}

int cli_number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *rest;
	uint64_t value;

	if (leading_number(text, &rest, &value) < 0 || *rest != '\0')
		return -1;
	return in_range(value, min, max, out);
}

int cli_size(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	static const char suffixes[] = "KMGT";
	const char *rest, *suffix;
	unsigned shift = 20;
	uint64_t value;

	if (leading_number(text, &rest, &value) < 0)
		return -1;
	if (*rest != '\0') {
		suffix = strchr(suffixes, toupper((unsigned char)*rest));
		if (!suffix || rest[1] != '\0')
			return -1;
		shift = 10 * (unsigned)(suffix - suffixes + 1);
	}
	if (value > UINT64_MAX >> shift)
		return -1;
	return in_range(value << shift, min, max, out);
}

int cli_time(const char *text, uint64_t *out)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"", 1000000000}, {"s", 1000000000}, {"ms", 1000000}, {"m", 60000000000}, {"h", 3600000000000}};
	const char *rest;
	uint64_t value;

	if (leading_number(text, &rest, &value) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(rest, units[i].name) != 0)
			continue;
		if (value > UINT64_MAX / units[i].ns)
			return -1;
		*out = value * units[i].ns;
		return 0;
	}
	return -1;
}
