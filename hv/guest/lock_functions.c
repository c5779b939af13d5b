// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses lists of lock functions (lock_functions.h). docs/locks.md describes their format. */
#include "hv/guest/lock_functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits on a list, in bytes and lines. */
#define LIST_BYTES_MAX (1u << 20)
#define LIST_LINES_MAX 4096u
#define WORDS_MAX 8u	      /* of a line */
#define ARGS 6u		      /* number of arguments that the System V ABI passes in registers */
#define OFFSET_MAX (1l << 20) /* bytes */

static const char builtin[] =
#include "linux_locks.h"
	;

struct lock_functions {
	struct lock_function *list;
	size_t count;
};

static const char *const ops[] = {"take",    "try",   "give", "free",	"new",	"outer", "release",
				  "acquire", "share", "stop", "caller", "pass", "reuse"};
/* The words for enum lock_kind in a list. LOCK_CALLBACK has no word, because no function takes or releases it. */
static const char *const kinds[LOCK_CALLBACK] = {"spin", "rwlock", "mutex", "rtmutex", "semaphore", "rwsem", "seq", "bit"};
static const char *const handovers[HANDOVER_KINDS] = {"completion", "work", "timer", "irq", "thread", "napi", "serial"};

/* A line being parsed. */
struct line {
	const char *path;
	unsigned number;
	char *words[WORDS_MAX + 1];
	unsigned count;
};

static int wrong(const struct line *line, struct err *err, const char *what, const char *word)
{
	return err_set(err, EXIT_INPUT, "%s:%u: %s%s%s", line->path, line->number, what, word ? ": " : "", word ? word : "");
}

static int index_of(const char *word, const char *const *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(word, list[i]) == 0)
			return (int)i;
	}
	return -1;
}

/* Parse "code:" and one or more bytes of two hexadecimal digits each. */
static int read_code(const struct line *line, struct lock_function *f, struct err *err)
{
	const char *digits = f->name + 5;
	size_t n = strlen(digits) / 2;

	if (f->op != LOCK_GIVE)
		return wrong(line, err, "code: is for give lines only", f->name);
	if (!n || n > LOCK_CODE_MAX || strlen(digits) % 2 || strspn(digits, "0123456789abcdef") != strlen(digits))
		return wrong(line, err, "code: is followed by 1 to 16 bytes, in hexadecimal", f->name);
	for (size_t i = 0; i < n; i++) {
		const char byte[] = {digits[2 * i], digits[2 * i + 1], 0};

		f->code[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	f->code_len = (uint8_t)n;
	return 0;
}

/* Copy "NAME" or "NAME|NAME". */
static int copy_names(const struct line *line, char to[128], const char *from, struct err *err)
{
	if (!*from || strlen(from) >= 128)
		return wrong(line, err, "the names after given-by: have 1 to 127 characters", from);
	memcpy(to, from, strlen(from) + 1);
	return 0;
}

static int copy_name(const struct line *line, char to[64], const char *from, struct err *err)
{
	if (!*from || strlen(from) >= 64)
		return wrong(line, err, "a name has 1 to 63 characters", from);
	memcpy(to, from, strlen(from) + 1);
	return 0;
}

/* Parse "arg0" to "arg5" or "variable:NAME", with an optional "+16", the offset of the lock. */
static int read_argument(const struct line *line, char *word, struct lock_function *f, struct err *err)
{
	char *plus = strchr(word, '+'), *end;

	if (plus) {
		long offset = strtol(plus + 1, &end, 0);

		if (!plus[1] || *end || offset < 0 || offset > OFFSET_MAX)
			return wrong(line, err, "an offset is a number from 0 to 1048576", plus + 1);
		f->offset = (int32_t)offset;
		*plus = 0;
	}
	if (strncmp(word, "variable:", 9) == 0) {
		f->arg = LOCK_ARG_VARIABLE;
		return copy_name(line, f->variable, word + 9, err);
	}
	if (strlen(word) != 4 || strncmp(word, "arg", 3) != 0 || word[3] < '0' || word[3] >= '0' + (char)ARGS)
		return wrong(line, err, "give arg0 to arg5, or variable:NAME, in place of", word);
	f->arg = (uint8_t)(word[3] - '0');
	return 0;
}

/*
 * Parse an offset like "+24" at `word`. Returns the offset, and sets *end to what follows it. Returns -1 if there is no valid
 * offset.
 */
static long read_offset(const char *word, char **end)
{
	long offset = word[0] == '+' && word[1] >= '0' && word[1] <= '9' ? strtol(word + 1, end, 0) : -1;

	return offset > OFFSET_MAX ? -1 : offset;
}

/*
 * Parse what follows "calls:": "arg0" to "arg5", or the offset of a pointer, as in "+24". In "+40|+72", the second offset is
 * for kernels that have the pointer at another place.
 */
static int read_calls(const struct line *line, const char *word, struct lock_function *f, struct err *err)
{
	long offset, other = 0;
	char *end;

	if (f->op == LOCK_RELEASE && strncmp(word, "arg", 3) == 0 && word[3] >= '0' && word[3] < '0' + (char)ARGS && !word[4]) {
		f->calls = LOCK_CALLS_ARGUMENT;
		f->calls_at = word[3] - '0';
		return 0;
	}
	offset = read_offset(word, &end);
	if (offset >= 0 && *end == '|')
		other = read_offset(end + 1, &end);
	if (offset < 0 || other < 0 || *end)
		return wrong(line, err,
			     f->op == LOCK_RELEASE ? "calls: is followed by arg0 to arg5, or by an offset from +0 to +1048576"
						   : "calls: of a caller is followed by an offset from +0 to +1048576",
			     word);
	f->calls = LOCK_CALLS_MEMBER;
	f->calls_at = (int32_t)offset;
	f->calls_or_at = (int32_t)other;
	return 0;
}

/* Parse what follows "also:": TYPE.MEMBER. */
static int read_also(const struct line *line, const char *word, struct lock_function *f, struct err *err)
{
	const char *dot = strchr(word, '.');
	size_t n = dot ? (size_t)(dot - word) : 0;

	if (!n || n >= sizeof(f->also_type) || !dot[1] || strlen(dot + 1) >= sizeof(f->also_member))
		return wrong(line, err, "also: is followed by the name of a struct, a dot, and the name of its member", word);
	memcpy(f->also_type, word, n);
	memcpy(f->also_member, dot + 1, strlen(dot + 1) + 1);
	return 0;
}

static int read_word(const struct line *line, const char *word, struct lock_function *f, bool *result, struct err *err)
{
	bool no_words = f->op != LOCK_TAKE && f->op != LOCK_TRY && f->op != LOCK_GIVE;

	if ((f->op == LOCK_RELEASE || f->op == LOCK_CALLER) && strncmp(word, "calls:", 6) == 0)
		return read_calls(line, word + 6, f, err);
	if (f->op == LOCK_NEW && strncmp(word, "also:", 5) == 0)
		return read_also(line, word + 5, f, err);
	if ((f->op == LOCK_TRY || f->op == LOCK_ACQUIRE) && (strcmp(word, "zero") == 0 || strcmp(word, "nonzero") == 0)) {
		f->nonzero = word[0] == 'n';
		f->tested = f->op == LOCK_ACQUIRE;
		*result = true;
	} else if (f->op == LOCK_ACQUIRE && strcmp(word, "stops") == 0) {
		f->stops = true;
	} else if (no_words) {
		return wrong(line, err, "no such word", word);
	} else if (strcmp(word, "shared") == 0) {
		f->shared = true;
	} else if (strcmp(word, "no-irq") == 0) {
		f->off |= LOCK_NO_IRQ | LOCK_NO_SOFTIRQ;
	} else if (strcmp(word, "no-softirq") == 0) {
		f->off |= LOCK_NO_SOFTIRQ;
	} else if (f->op != LOCK_GIVE && f->kind == LOCK_SEMAPHORE && strcmp(word, "exclusive") == 0) {
		f->exclusive = true;
	} else if (f->op == LOCK_GIVE && strcmp(word, "at-return") == 0) {
		f->at_return = true;
	} else if ((f->op == LOCK_TAKE || f->op == LOCK_TRY) && strncmp(word, "given-by:", 9) == 0) {
		return copy_names(line, f->given_by, word + 9, err);
	} else {
		return wrong(line, err, "no such word", word);
	}
	return 0;
}

static int read_line(const struct line *line, struct lock_function *f, struct err *err)
{
	int op = index_of(line->words[0], ops, sizeof(ops) / sizeof(*ops)), kind;
	bool handover = op == LOCK_RELEASE || op == LOCK_ACQUIRE || op == LOCK_STOP || op == LOCK_CALLER;
	bool no_argument = op == LOCK_OUTER || op == LOCK_NEW || op == LOCK_CALLER;
	bool object = op == LOCK_FREE || op == LOCK_NEW || op == LOCK_PASS || op == LOCK_REUSE, result = false;
	unsigned at = object ? 1 : 2;

	*f = (struct lock_function){.op = (enum lock_op)op};
	if (op < 0)
		return wrong(line, err,
			     "a line begins with take, try, give, share, release, acquire, stop, caller, free, reuse, pass, "
			     "new or outer, "
			     "not with",
			     line->words[0]);
	if (line->count < at + (no_argument ? 1u : 2u))
		return wrong(line, err, "words are missing at the end of the line", NULL);
	if (!object) {
		kind = handover ? index_of(line->words[1], handovers, HANDOVER_KINDS)
				: index_of(line->words[1], kinds, LOCK_CALLBACK);
		if (kind < 0)
			return wrong(line, err, handover ? "no such kind of hand-over" : "no such kind of lock",
				     line->words[1]);
		if (handover && kind == HANDOVER_SERIAL && op != LOCK_CALLER)
			return wrong(line, err, "only a caller line can have the kind", line->words[1]);
		f->kind = (uint8_t)kind;
	}
	if (copy_name(line, f->name, line->words[at++], err) < 0)
		return -1;
	if (strncmp(f->name, "code:", 5) == 0 && read_code(line, f, err) < 0)
		return -1;
	if (!no_argument && read_argument(line, line->words[at++], f, err) < 0)
		return -1;
	for (; at < line->count; at++) {
		if (read_word(line, line->words[at], f, &result, err) < 0)
			return -1;
	}
	if (f->code_len && f->at_return)
		return wrong(line, err, "at-return is for functions, not for inlined code", f->name);
	return op == LOCK_TRY && !result
		       ? wrong(line, err, "write zero or nonzero: the result by which the function says that the lock is taken",
			       NULL)
		       : 0;
}

static int by_name(const void *a, const void *b)
{
	const struct lock_function *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	return order ? order : (int)(one->op == LOCK_OUTER) - (int)(other->op == LOCK_OUTER);
}

/* Add a line, which replaces a built-in line of the same name. */
static int add(struct lock_functions *l, const struct line *line, const struct lock_function *f, struct err *err)
{
	struct lock_function *list = NULL;
	char before[64];

	for (size_t i = 0; i < l->count; i++) {
		if (by_name(&l->list[i], f) != 0)
			continue;
		if (l->list[i].line) {
			snprintf(before, sizeof(before), "line %u has this name, too", l->list[i].line);
			return wrong(line, err, before, f->name);
		}
		l->list[i] = *f;
		return 0;
	}
	if (l->count < LIST_LINES_MAX)
		list = realloc(l->list, (l->count + 1) * sizeof(*list));
	if (!list)
		return wrong(line, err, "there are too many lines, or no memory for them", NULL);
	l->list = list;
	l->list[l->count++] = *f;
	return 0;
}

/* Parse a list; modifies `text`. `users`: the list is the user's, and must not be empty. */
static int read_text(struct lock_functions *l, const char *path, char *text, bool users, struct err *err)
{
	struct line line = {.path = path};
	char *rest = text, *row;
	bool empty = true;

	while ((row = strsep(&rest, "\n"))) {
		struct lock_function f;
		char *save = NULL, *word;

		line.number++;
		line.count = 0;
		row[strcspn(row, "#")] = 0;
		for (word = strtok_r(row, " \t\r", &save); word; word = strtok_r(NULL, " \t\r", &save)) {
			if (line.count == WORDS_MAX)
				return wrong(&line, err, "too many words", NULL);
			line.words[line.count++] = word;
		}
		if (!line.count)
			continue;
		if (read_line(&line, &f, err) < 0)
			return -1;
		f.line = users ? line.number : 0;
		if (add(l, &line, &f, err) < 0)
			return -1;
		empty = false;
	}
	if (users && empty)
		return err_set(err, EXIT_INPUT, "%s: no lock function is in it: give a list of lock functions", path);
	qsort(l->list, l->count, sizeof(*l->list), by_name);
	return 0;
}

struct lock_functions *lock_functions_new(struct err *err)
{
	struct lock_functions *l = calloc(1, sizeof(*l));
	char *text = strdup(builtin);

	if (l && text && read_text(l, "linux_locks.conf", text, false, err) == 0) {
		free(text);
		return l;
	}
	if (err->code == EXIT_OK)
		err_set(err, EXIT_INTERNAL, "out of memory for the list of lock functions");
	free(text);
	lock_functions_free(l);
	return NULL;
}

void lock_functions_free(struct lock_functions *l)
{
	if (!l)
		return;
	free(l->list);
	free(l);
}

/* Returns the file's text with a NUL, or NULL with `err` set. */
static char *read_file(const char *path, struct err *err)
{
	char *text = malloc(LIST_BYTES_MAX + 1);
	FILE *file = text ? fopen(path, "re") : NULL;
	size_t n;

	if (!text || !file) {
		err_set(err, text ? EXIT_INPUT : EXIT_INTERNAL, "%s: %s", path, text ? strerror(errno) : "out of memory");
		goto fail;
	}
	n = fread(text, 1, LIST_BYTES_MAX, file);
	text[n] = 0;
	if (ferror(file) || !feof(file) || memchr(text, 0, n)) {
		err_set(err, EXIT_INPUT, "%s: %s", path,
			ferror(file)  ? strerror(errno)
			: !feof(file) ? "larger than 1 MiB: give a list of lock functions"
				      : "no text: give a list of lock functions");
		goto fail;
	}
	fclose(file);
	return text;
fail:
	if (file)
		fclose(file);
	free(text);
	return NULL;
}

int lock_functions_load(struct lock_functions *l, const char *path, struct err *err)
{
	struct lock_functions all = {.list = malloc((l->count + 1) * sizeof(*all.list)), .count = l->count};
	char *text = read_file(path, err);
	int rc = -1;

	if (!text || !all.list)
		goto out;
	memcpy(all.list, l->list, l->count * sizeof(*all.list));
	if (read_text(&all, path, text, true, err) < 0)
		goto out;
	free(l->list);
	*l = all;
	all.list = NULL;
	rc = 0;
out:
	if (rc && err->code == EXIT_OK)
		err_set(err, EXIT_INTERNAL, "out of memory for the list of lock functions");
	free(all.list);
	free(text);
	return rc;
}

size_t lock_functions_count(const struct lock_functions *l)
{
	return l->count;
}

const struct lock_function *lock_functions_get(const struct lock_functions *l, size_t i)
{
	return &l->list[i];
}
