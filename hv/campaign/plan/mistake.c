// SPDX-License-Identifier: GPL-2.0-or-later
/* Explains mistakes in a campaign file for which the grammar's documentation does not say the reason. */
#include "hv/campaign/plan/mistake.h"

#include <stdio.h>
#include <string.h>

#include "hv/base/clean.h"
#include "hv/campaign/plan/document.h"

#define NAME_MAX_LEN 64 /* as in docs/campaign.rng */
#define NAME_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+.-"
/* At most this many bytes of the campaign file's text are quoted, with the NUL: enough for the user to find the place. */
#define QUOTE_MAX 41
#define BLANKS " \t\r\n"

/* Copy the first bytes of a text of the file, made printable. */
static const char *quote(const char *text, char out[QUOTE_MAX])
{
	clean_text(text, strnlen(text, QUOTE_MAX - 1), out, QUOTE_MAX);
	return out;
}

bool mistake_in_name(const xmlNode *node, const char *value, char out[MISTAKE_MAX])
{
	static const char wanted[] =
		"expected 1 to 64 letters, digits and the characters _ + . -, and no . or - at the beginning";
	const char *element = (const char *)node->name;
	size_t good = strspn(value, NAME_CHARACTERS);
	char quoted[QUOTE_MAX], wrong[QUOTE_MAX];

	if (!value[0] || (!value[good] && strlen(value) <= NAME_MAX_LEN && value[0] != '.' && value[0] != '-'))
		return false;
	if (value[good] == '/')
		snprintf(out, MISTAKE_MAX, "<%.60s> has the name '%s', with a '/': %s; %s", element, quote(value, quoted),
			 document_is(node, "campaign") ? "files are named after the campaign"
						       : "a '/' separates the names in a run's key",
			 wanted);
	else if (value[good])
		snprintf(out, MISTAKE_MAX, "<%.60s> has the name '%s', with a '%s'; %s", element, quote(value, quoted),
			 quote((const char[]){value[good], '\0'}, wrong), wanted);
	else
		snprintf(out, MISTAKE_MAX, "<%.60s> has the name '%s'; %s", element, quote(value, quoted), wanted);
	return true;
}

bool mistake_of_namespace(const xmlNode *node, char out[MISTAKE_MAX])
{
	char uri[QUOTE_MAX], prefix[QUOTE_MAX];

	if (!node->ns)
		return false;
	quote(node->ns->href ? (const char *)node->ns->href : "", uri);
	if (node->ns->prefix)
		snprintf(out, MISTAKE_MAX,
			 "<%s:%.60s> is in the namespace '%s', and the elements of campaign files are in none; remove the "
			 "prefix '%s:' "
			 "from it",
			 quote((const char *)node->ns->prefix, prefix), (const char *)node->name, uri, prefix);
	else
		snprintf(out, MISTAKE_MAX,
			 "<%.60s> is in the namespace '%s', and the elements of campaign files are in none; remove xmlns='%s'",
			 (const char *)node->name, uri, uri);
	return true;
}

/* Returns the number of newlines in the first `len` bytes of a text. */
static long lines_in(const char *text, size_t len)
{
	long lines = 0;

	for (size_t i = 0; i < len; i++)
		lines += text[i] == '\n';
	return lines;
}

bool mistake_of_text(const xmlNode *node, char out[MISTAKE_MAX], long *line)
{
	for (const xmlNode *n = node->children; n; n = n->next) {
		const char *text = n->content ? (const char *)n->content : "";
		size_t before = strspn(text, BLANKS);
		char quoted[QUOTE_MAX];

		if ((n->type != XML_TEXT_NODE && n->type != XML_CDATA_SECTION_NODE) || !text[before])
			continue;
		/* Go back to the line of the first word: xmlGetLineNo() returns the line in which a text node ends. */
		*line = xmlGetLineNo(n) - lines_in(text + before, strlen(text + before));
		quote(text + before, quoted);
		quoted[strcspn(quoted, "\\")] = '\0';
		snprintf(out, MISTAKE_MAX,
			 "the text '%s' is between the elements of <%.60s>, where no text is read; remove it, or make it a "
			 "comment: "
			 "<!-- ... -->",
			 quoted, (const char *)node->name);
		return true;
	}
	return false;
}
