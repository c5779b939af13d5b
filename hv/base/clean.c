// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/base/clean.h"

#include <stdio.h>

void clean_text(const char *text, size_t n, char *out, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < n && text[i] != '\0' && used + 5 <= size; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte >= ' ' && byte < 0x7f && byte != '\\')
			out[used++] = text[i];
		else
			used += (size_t)snprintf(out + used, size - used, "\\x%02x", byte);
	}
	out[used] = '\0';
}

void unclean_text(const char *clean, char *out, size_t size)
{
	size_t used = 0;
	unsigned byte;

	while (*clean != '\0' && used + 1 < size) {
		if (clean[0] == '\\' && clean[1] == 'x' && sscanf(clean + 2, "%2x", &byte) == 1) {
			clean += clean[3] ? 4 : 3;
			out[used++] = (char)byte;
		} else {
			out[used++] = *clean++;
		}
	}
	out[used] = '\0';
}
