// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/base/shell_word.h"

#include <stdlib.h>
#include <string.h>

void shell_word(FILE *out, const char *word, size_t most)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_";
	size_t len = strlen(word);

	if (len && len <= most && strspn(word, plain) == len) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (size_t i = 0; i < len && i < most; i++) {
		if (word[i] == '\'')
			fputs("'\\''", out);
		else
			fputc(word[i], out);
	}
	fputs(len > most ? "...'" : "'", out);
}

char *shell_word_copy(const char *word, size_t most)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	shell_word(out, word, most);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
