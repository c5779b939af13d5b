// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Recognizes complaints of a Linux kernel in the lines of its log (linux_complaint.h). The open complaint is the complaint
 * whose lines are being collected.
 */
#include "hv/guest/linux_complaint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 160	   /* maximum number of lines of a complaint: registers, code and 64 calls take about 100 */
#define LINE_BYTES_MAX 200 /* maximum number of bytes read of a line; COMPLAINT_TEXT_MAX has room for them, made printable */

/* How the first line of a complaint begins. The first entry that fits counts, so a special one is before a more general one. */
static const struct {
	const char *begin;
	/* A text that the line must contain after its beginning. NULL: none. */
	const char *part;
	enum complaint_kind kind;
	bool fatal;
} beginnings[] = {
	{"Kernel panic - not syncing: stack-protector", NULL, COMPLAINT_STACK_PROTECTOR, true},
	{"Kernel panic - not syncing", NULL, COMPLAINT_PANIC, true},
	{"watchdog: BUG: soft lockup", NULL, COMPLAINT_LOCKUP, false},
	{"BUG: soft lockup", NULL, COMPLAINT_LOCKUP, false},
	{"BUG: workqueue lockup", NULL, COMPLAINT_LOCKUP, false},
	{"watchdog: ", "ard LOCKUP", COMPLAINT_LOCKUP, false},
	{"NMI watchdog: ", "ard LOCKUP", COMPLAINT_LOCKUP, false},
	{"rcu: INFO: rcu_", "stall", COMPLAINT_LOCKUP, false},
	{"rcu: INFO: rcu_", "starved", COMPLAINT_LOCKUP, false},
	{"INFO: rcu_", "stall", COMPLAINT_LOCKUP, false},
	{"INFO: task ", " blocked for more than ", COMPLAINT_HUNG_TASK, false},
	{"INFO: task ", " blocked in I/O wait ", COMPLAINT_HUNG_TASK, false},
	{"BUG: KASAN: ", NULL, COMPLAINT_SANITIZER, false},
	{"BUG: KCSAN: ", NULL, COMPLAINT_SANITIZER, false},
	{"BUG: KMSAN: ", NULL, COMPLAINT_SANITIZER, false},
	{"BUG: KFENCE: ", NULL, COMPLAINT_SANITIZER, false},
	{"UBSAN: ", NULL, COMPLAINT_SANITIZER, false},
	{"BUG: kernel NULL pointer dereference", NULL, COMPLAINT_OOPS, true},
	{"BUG: unable to handle ", NULL, COMPLAINT_OOPS, true},
	{"BUG: stack guard page was hit", NULL, COMPLAINT_OOPS, true},
	{"BUG: ", NULL, COMPLAINT_BUG, false},
	{"BUG ", "): ", COMPLAINT_SLAB, false},
	{"cache_from_obj: Wrong slab cache", NULL, COMPLAINT_SLAB, false},
	{"kernel BUG at ", NULL, COMPLAINT_BUG, true},
	{"list_add corruption", NULL, COMPLAINT_LIST, false},
	{"list_del corruption", NULL, COMPLAINT_LIST, false},
	{"slab: double free", NULL, COMPLAINT_SLAB, false},
	{"refcount_t: ", NULL, COMPLAINT_REFCOUNT, false},
	{"usercopy: Kernel memory ", NULL, COMPLAINT_BUG, false},
	{"WARNING: possible ", NULL, COMPLAINT_LOCKDEP, false},
	{"WARNING: inconsistent ", NULL, COMPLAINT_LOCKDEP, false},
	{"WARNING: suspicious ", NULL, COMPLAINT_LOCKDEP, false},
	{"WARNING: bad unlock", NULL, COMPLAINT_LOCKDEP, false},
	{"WARNING: held lock", NULL, COMPLAINT_LOCKDEP, false},
	{"WARNING: ", " at ", COMPLAINT_WARNING, false},
	{"Oops", NULL, COMPLAINT_OOPS, true},
	{"general protection fault", NULL, COMPLAINT_OOPS, true},
	{"invalid opcode: ", NULL, COMPLAINT_OOPS, true},
	{"divide error: ", NULL, COMPLAINT_OOPS, true},
	{"stack segment: ", NULL, COMPLAINT_OOPS, true},
	{"int3: ", NULL, COMPLAINT_OOPS, true},
	{"double fault: ", NULL, COMPLAINT_OOPS, true},
	{"Unable to handle kernel ", NULL, COMPLAINT_OOPS, true},
};

#define BEGINNINGS (sizeof(beginnings) / sizeof(beginnings[0]))

static bool begins(const char *line, size_t len, const char *with)
{
	size_t n = strlen(with);

	return len >= n && memcmp(line, with, n) == 0;
}

/* Returns the index in beginnings[] of the entry that fits the line, or BEGINNINGS if the line begins no complaint. */
static size_t beginning_of(const char *line, size_t len)
{
	size_t i = 0;

	for (; i < BEGINNINGS; i++) {
		const char *part = beginnings[i].part;

		if (begins(line, len, beginnings[i].begin) && (!part || memmem(line, len, part, strlen(part))))
			break;
	}
	return i;
}

const char *linux_line_text(const char *line, const char *end)
{
	while (line < end && *line == '[') {
		const char *at = line + 1;

		while (at < end && strchr(" 0123456789.TC", *at) && *at)
			at++;
		if (at == end || *at != ']' || at + 1 == end || (at[1] != ' ' && at[1] != '['))
			break;
		line = at + 1 + (at[1] == ' ');
	}
	return line;
}

enum complaint_kind linux_complaint_of(const char *line, size_t len)
{
	size_t i = beginning_of(line, len);

	return i < BEGINNINGS ? beginnings[i].kind : COMPLAINT_NONE;
}

bool linux_complaint_is_fatal(enum complaint_kind kind, const char *line, size_t len)
{
	size_t i = beginning_of(line, len);

	return kind != COMPLAINT_NONE && i < BEGINNINGS && beginnings[i].fatal;
}

/* ---- what the lines of a complaint say ---- */

/*
 * Read "function+0x18/0x40 [module]" at the beginning of `text`. Ignores the text after this place. Returns false if there is
 * no such place.
 */
static bool read_place(const char *text, struct complaint_place *out)
{
	struct complaint_place p = {0};
	uint64_t size;
	int used = 0;

	if (sscanf(text, "%127[A-Za-z0-9_.$]+0x%" SCNx64 "/0x%" SCNx64 "%n", p.function, &p.offset, &size, &used) < 3 || !used)
		return false;
	if (text[used] == ' ' && text[used + 1] == '[')
		sscanf(text + used, " [%63[A-Za-z0-9_.-]", p.module);
	snprintf(p.text, sizeof(p.text), "%s+0x%" PRIx64 "/0x%" PRIx64 "%s%s%s", p.function, p.offset, size,
		 p.module[0] ? " [" : "", p.module, p.module[0] ? "]" : "");
	*out = p;
	return true;
}

/* Read the number after `words` in a line. Returns false if the words or the number are missing. */
static bool read_number(const char *line, const char *words, int base, uint64_t *out)
{
	const char *at = strstr(line, words);
	char *end;

	if (!at)
		return false;
	at += strlen(words);
	*out = strtoull(at, &end, base);
	return end != at;
}

/* Read "CPU: 1 PID: 123 Comm: name with blanks Tainted: ...", which newer kernels write with "UID: 0" in between. */
static void read_task(struct complaint *c, const char *line)
{
	const char *comm = strstr(line, "Comm: "), *end;
	uint64_t number;

	if (read_number(line, "CPU: ", 10, &number) && number < INT32_MAX)
		c->cpu = (int)number;
	if (read_number(line, "PID: ", 10, &number) && number < INT32_MAX)
		c->pid = (int32_t)number;
	if (!comm)
		return;
	comm += strlen("Comm: ");
	end = strstr(comm, " Tainted: ");
	if (!end)
		end = strstr(comm, " Not tainted");
	if (!end)
		end = comm + strlen(comm);
	snprintf(c->comm, sizeof(c->comm), "%.*s", (int)(end - comm), comm);
}

/* Read the place of a WARN(): "... at FILE:LINE FUNCTION" or, since Linux 6.19, "... FILE:LINE at FUNCTION, CPU#0: comm/12". */
static void read_warn_place(struct complaint *c, const char *line)
{
	const char *at = strstr(line, " at ");

	if (!at || read_place(at + 4, &c->where))
		return;
	at = strchr(at + 4, ' ');
	if (at)
		read_place(at + 1, &c->where);
}

/*
 * Read "INFO: task name with blanks:12 blocked ...". The line does not say on which CPU: the task is asleep, and another task
 * (khungtaskd) writes the line.
 */
static void read_hung_task(struct complaint *c, const char *line)
{
	const char *comm = line + strlen("INFO: task "), *end = strstr(comm, " blocked "), *colon;

	colon = end ? memrchr(comm, ':', (size_t)(end - comm)) : NULL;
	if (!colon)
		return;
	snprintf(c->comm, sizeof(c->comm), "%.*s", (int)(colon - comm), comm);
	c->pid = (int32_t)strtol(colon + 1, NULL, 10);
}

/* Read the place of "... stack-protector: Kernel stack is corrupted in: FUNCTION". */
static void read_stack_place(struct complaint *c, const char *line)
{
	const char *at = strstr(line, " in: ");

	if (at)
		read_place(at + strlen(" in: "), &c->where);
}

static void read_address(struct complaint *c, const char *line)
{
	if (c->address_known)
		return;
	c->address_known = read_number(line, "address: ", 16, &c->address) || read_number(line, "address 0x", 16, &c->address);
}

/*
 * Read a line of the call trace, and add its function to the complaint's frames. Returns false if the line does not belong to a
 * call trace.
 */
static bool read_trace(struct linux_complaints *l, const char *line)
{
	struct complaint *c = &l->open;

	if (line[0] != ' ')
		return false;
	line += strspn(line, " ");
	if (line[0] == '?' || line[0] == '<' || c->frame_count == COMPLAINT_FRAMES_MAX)
		return true;
	if (!read_place(line, &c->frames[c->frame_count]))
		return false;
	c->frame_count++;
	return true;
}

/* Read a line of the open complaint that is not its first line. */
static void read_part(struct linux_complaints *l, const char *line)
{
	struct complaint *c = &l->open;

	if (l->in_trace && read_trace(l, line))
		return;
	l->in_trace = begins(line, strlen(line), "Call Trace:");
	if (begins(line, strlen(line), "CPU: "))
		read_task(c, line);
	else if (begins(line, strlen(line), "RIP: 0010:") && !c->where.text[0])
		read_place(line + strlen("RIP: 0010:"), &c->where);
	else if (begins(line, strlen(line), "Code: ") && !c->code[0])
		snprintf(c->code, sizeof(c->code), "%s", line + strlen("Code: "));
}

/* ---- the beginning and the end of a complaint ---- */

void linux_complaints_finish(struct linux_complaints *l, linux_complaint_found *found, void *ctx)
{
	struct complaint whole = l->open;

	l->open = (struct complaint){0};
	l->in_trace = false;
	if (whole.kind != COMPLAINT_NONE)
		found(ctx, &whole);
}

/*
 * Returns true if a line that can begin a complaint belongs to the open complaint instead. One defect can print several such
 * lines: "list_del corruption", then "kernel BUG at", then "invalid opcode". The line belongs to the open complaint if the same
 * `caller` (a task or a CPU) wrote both, and the open complaint has no place (RIP) and no call trace yet.
 */
static bool continues(const struct linux_complaints *l, uint32_t caller)
{
	return l->open.kind != COMPLAINT_NONE && l->caller == caller && !l->open.where.text[0] && !l->open.frame_count;
}

static void begin(struct linux_complaints *l, size_t beginning, uint64_t log_ns, uint32_t caller, const char *line)
{
	l->open = (struct complaint){.kind = beginnings[beginning].kind, .log_ns = log_ns, .cpu = -1, .pid = -1};
	l->caller = caller;
	l->lines = 0;
	l->in_trace = false;
	snprintf(l->open.text, sizeof(l->open.text), "%s",
		 l->open.kind == COMPLAINT_WARNING && l->warn_text[0] && l->cut_caller == caller ? l->warn_text : line);
}

/* Read a line that can begin a complaint: it begins a new one, or continues the open one (see continues()). */
static void take_beginning(struct linux_complaints *l, size_t beginning, uint64_t log_ns, uint32_t caller, const char *line,
			   linux_complaint_found *found, void *ctx)
{
	if (!continues(l, caller)) {
		linux_complaints_finish(l, found, ctx);
		begin(l, beginning, log_ns, caller, line);
	}
	l->open.fatal |= beginnings[beginning].fatal;
	read_address(&l->open, line);
	if (beginnings[beginning].kind == COMPLAINT_WARNING) {
		read_task(&l->open, line);
		read_warn_place(&l->open, line);
	} else if (beginnings[beginning].kind == COMPLAINT_HUNG_TASK) {
		read_hung_task(&l->open, line);
	} else if (beginnings[beginning].kind == COMPLAINT_STACK_PROTECTOR) {
		read_stack_place(&l->open, line);
	}
}

void linux_complaints_line(struct linux_complaints *l, uint64_t log_ns, uint32_t caller, const char *line, size_t len,
			   linux_complaint_found *found, void *ctx)
{
	char clean[COMPLAINT_TEXT_MAX];
	size_t beginning = beginning_of(line, len);
	bool cut_here = begins(line, len, "------------[ cut here ]");

	while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
		len--;
	clean_text(line, len < LINE_BYTES_MAX ? len : LINE_BYTES_MAX, clean, sizeof(clean));
	if (beginning < BEGINNINGS) {
		take_beginning(l, beginning, log_ns, caller, clean, found, ctx);
	} else if (begins(line, len, "---[ end ")) {
		if (l->caller == caller)
			linux_complaints_finish(l, found, ctx);
	} else if (l->open.kind != COMPLAINT_NONE && l->caller == caller && !cut_here) {
		read_part(l, clean);
		if (++l->lines == LINES_MAX)
			linux_complaints_finish(l, found, ctx);
	}
	/* Lines that other tasks or CPUs wrote may come between "cut here" and the text of the WARN(): ignore these lines. */
	if (!cut_here && l->cut_caller != caller)
		return;
	snprintf(l->warn_text, sizeof(l->warn_text), "%s", l->cut_here ? clean : "");
	l->cut_here = cut_here;
	l->cut_caller = caller;
}
