// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares versions of kernels, to decide whether a kernel has a fix that came with some version. */
#include "hv/campaign/store/version.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BANNER "Linux version "
#define PACKAGE " Debian " /* comes before the version of Debian's package, near the end of the version line */
#define RELEASED LONG_MAX  /* VERSION_CANDIDATE of a release that is no candidate, so that it sorts after its candidates */
#define NUMBER_DIGITS_MAX 9
#define SEPARATORS " ,"

/* Read the number at *text and move *text to the character after it. Returns false if there is none, or it is too long. */
static bool read_number(const char **text, long *out)
{
	size_t len = strspn(*text, "0123456789");

	if (!len || len > NUMBER_DIGITS_MAX)
		return false;
	*out = strtol(*text, NULL, 10);
	*text += len;
	return true;
}

bool version_read(const char *text, struct version *out)
{
	*out = (struct version){.part = {[VERSION_CANDIDATE] = RELEASED}};
	text += text[0] == 'v';
	if (!read_number(&text, &out->part[VERSION_MAJOR]) || *text++ != '.' || !read_number(&text, &out->part[VERSION_MINOR]))
		return false;
	if (text[0] == '.' && isdigit((unsigned char)text[1])) {
		text++;
		if (!read_number(&text, &out->part[VERSION_PATCH]))
			return false;
	}
	/* Debian writes ~rc2 in the versions of packages, so that they sort before the release. */
	if (strncmp(text, "-rc", 3) == 0 || strncmp(text, "~rc", 3) == 0) {
		text += 3;
		if (!read_number(&text, &out->part[VERSION_CANDIDATE]))
			return false;
	}
	for (int i = VERSION_MORE; i < VERSION_PARTS && text[0] == (i == VERSION_MORE ? '-' : '.'); i++) {
		text++;
		if (!read_number(&text, &out->part[i]))
			break;
	}
	return true;
}

int version_compare(const struct version *a, const struct version *b)
{
	for (int i = 0; i < VERSION_PARTS; i++) {
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	}
	return 0;
}

bool version_release(const char *banner, char out[VERSION_TEXT_MAX])
{
	size_t len;

	out[0] = '\0';
	if (strncmp(banner, BANNER, strlen(BANNER)) != 0)
		return false;
	banner += strlen(BANNER);
	len = strcspn(banner, " ");
	if (!len || len >= VERSION_TEXT_MAX)
		return false;
	snprintf(out, VERSION_TEXT_MAX, "%.*s", (int)len, banner);
	return true;
}

/* ---- fixes ---- */

/* The version of a kernel's release, and that of its package. If the version line names no package, both are the release's. */
struct kernel {
	struct version release, package;
};

static bool read_kernel(const char *banner, struct kernel *out)
{
	char release[VERSION_TEXT_MAX];
	const char *package = NULL;

	if (!version_release(banner, release) || !version_read(release, &out->release))
		return false;
	/* Take the last match: "Debian" can also be in the compiler's version, which comes earlier in the line. */
	for (const char *at = banner; (at = strstr(at, PACKAGE)) != NULL;)
		package = at += strlen(PACKAGE);
	if (!package || !version_read(package, &out->package))
		out->package = out->release;
	return true;
}

static int compare_lines(const struct version *a, const struct version *b)
{
	for (int i = VERSION_MAJOR; i <= VERSION_MINOR; i++) {
		if (a->part[i] != b->part[i])
			return a->part[i] < b->part[i] ? -1 : 1;
	}
	return 0;
}

static const struct version *comparable(const struct kernel *k, const struct version *fixed)
{
	bool counts_abi = fixed->part[VERSION_PATCH] == 0 && fixed->part[VERSION_MORE] != 0;

	return counts_abi ? &k->release : &k->package;
}

enum version_has version_has_mend(const char *banner, const char *fixed)
{
	enum version_has has = VERSION_HAS_NOT;
	bool newer = true, own = false;
	struct kernel k;

	if (!read_kernel(banner, &k))
		return VERSION_UNKNOWN;
	for (fixed += strspn(fixed, SEPARATORS); *fixed; fixed += strspn(fixed, SEPARATORS)) {
		struct version f;

		if (version_read(fixed, &f)) {
			int line = compare_lines(&k.release, &f);

			own |= line == 0;
			newer &= line > 0;
			if (line == 0 && version_compare(comparable(&k, &f), &f) >= 0)
				has = VERSION_HAS;
		}
		fixed += strcspn(fixed, SEPARATORS);
	}
	return !own && newer ? VERSION_HAS : has;
}
