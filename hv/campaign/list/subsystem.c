// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps source files to subsystems by the kernel's file MAINTAINERS. The file has sections: a title, then lines of a letter, a
 * colon and a tab. F: is a pattern of files that belong to the section, X: a pattern of files that do not belong to it, and N:
 * a regular expression that the paths of its files match. Wildcards do not match a slash. A pattern that ends with a slash
 * matches everything below the folder (Documentation/process/maintainers.rst).
 */
#include "hv/campaign/list/subsystem.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"

#define FILE_MAX_BYTES (16u << 20)

struct pattern {
	char letter;	     /* F, X or N */
	const char *text;    /* without a slash at its end */
	size_t literal;	     /* number of characters of `text` before the first wildcard */
	bool below;	     /* The pattern ended with a slash. */
	regex_t regex;	     /* the compiled pattern, for N only */
	const char *section; /* title of the section */
};

struct subsystems {
	char *text; /* the text of the file MAINTAINERS; each line ends with a NUL */
	struct pattern *list;
	size_t count;
};

/* ---- reading ---- */

static char *read_whole(const char *path, struct err *err)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t len;

	if (!file || !(text = malloc(FILE_MAX_BYTES + 1))) {
		err_set(err, file ? EXIT_INTERNAL : EXIT_INPUT, "%s: %s", path, strerror(errno));
		goto out;
	}
	len = fread(text, 1, FILE_MAX_BYTES, file);
	text[len] = '\0';
	if (!ferror(file) && feof(file))
		goto out;
	err_set(err, EXIT_INPUT, "%s: %s", path,
		ferror(file) ? strerror(errno) : "it is too large for the kernel's file MAINTAINERS");
	free(text);
	text = NULL;
out:
	if (file)
		fclose(file);
	return text;
}

/*
 * Add the pattern `text` of a line with this letter (F, X or N) in the section with the title `section`. Skips a regular
 * expression that does not compile, since those in MAINTAINERS have Perl's syntax.
 */
static int add_pattern(struct subsystems *s, char letter, char *text, const char *section)
{
	struct pattern *p = list_grow(&s->list, &s->count, sizeof(*p), NULL);
	size_t len = strlen(text);

	if (!p)
		return -1;
	*p = (struct pattern){.letter = letter, .text = text, .section = section};
	if (letter == 'N') {
		s->count -= regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB) != 0;
		return 0;
	}
	p->below = len && text[len - 1] == '/';
	if (p->below)
		text[len - 1] = '\0';
	p->literal = strcspn(text, "*?[");
	/* Drop the pattern again if it matches every file, as "*" does. */
	s->count -= p->literal == 0 && !strpbrk(text, "/");
	return 0;
}

static int parse(struct subsystems *s)
{
	const char *section = NULL;
	char *rest = s->text, *line;

	while ((line = strsep(&rest, "\n"))) {
		char letter = line[0];

		line[strcspn(line, "\r")] = '\0';
		if (!letter || isspace((unsigned char)letter))
			continue;
		if (line[1] != ':') {
			section = line;
			continue;
		}
		line += 2 + strspn(line + 2, " \t");
		if (section && *line && strchr("FXN", letter) && add_pattern(s, letter, line, section) < 0)
			return -1;
	}
	return 0;
}

struct subsystems *subsystems_read(const char *folder, struct err *err)
{
	struct subsystems *s = calloc(1, sizeof(*s));
	char *path = NULL;

	if (!s || asprintf(&path, "%s/MAINTAINERS", folder) < 0) {
		path = NULL;
		err_set(err, EXIT_INTERNAL, "out of memory");
		goto fail;
	}
	s->text = read_whole(path, err);
	if (!s->text)
		goto fail;
	if (parse(s) < 0) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		goto fail;
	}
	if (!s->count) {
		err_set(err, EXIT_INPUT,
			"%s is not the kernel's file MAINTAINERS: it has no section with a line F: or N:", path);
		goto fail;
	}
	free(path);
	return s;
fail:
	free(path);
	subsystems_free(s);
	return NULL;
}

void subsystems_free(struct subsystems *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].letter == 'N')
			regfree(&s->list[i].regex);
	}
	free(s->list);
	free(s->text);
	free(s);
}

/* ---- finding ---- */

static bool fits(const struct pattern *p, const char *file)
{
	if (p->letter == 'N')
		return regexec(&p->regex, file, 0, NULL, 0) == 0;
	if (strncmp(p->text, file, p->literal) != 0)
		return false;
	/* Reject the folder itself: the pattern is for the files below it. */
	if (p->below && strcmp(p->text, file) == 0)
		return false;
	return fnmatch(p->text, file, FNM_PATHNAME | (p->below ? FNM_LEADING_DIR : 0)) == 0;
}

static bool left_out(const struct subsystems *s, const char *section, const char *file)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].letter == 'X' && s->list[i].section == section && fits(&s->list[i], file))
			return true;
	}
	return false;
}

const char *subsystem_find(const struct subsystems *s, const char *file)
{
	const struct pattern *best = NULL;
	size_t best_len = 0;

	for (size_t i = 0; s && file[0] && i < s->count; i++) {
		const struct pattern *p = &s->list[i];
		/*
		 * Rank the pattern by its length: a longer pattern is more specific. A pattern of N: gets the lowest rank,
		 * because it matches a word anywhere in the path.
		 */
		size_t len = p->letter == 'N' ? 1 : 2 + p->literal + strlen(p->text);

		if (p->letter == 'X' || len <= best_len || !fits(p, file) || left_out(s, p->section, file))
			continue;
		best = p;
		best_len = len;
	}
	return best ? best->section : NULL;
}

const char *subsystem_folder(const char *file, const char *module, char *out, size_t size)
{
	const char *first = strchr(file, '/'), *second = first ? strchr(first + 1, '/') : NULL;
	const char *end = second ? second : first;

	if (end && file[0] != '/')
		snprintf(out, size, "%.*s", (int)(end - file), file);
	else
		snprintf(out, size, "%s", module[0] ? module : "kernel");
	return out;
}
