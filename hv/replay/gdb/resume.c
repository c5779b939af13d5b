// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles packets that resume the machine, and reports to gdb why the machine has stopped. */
#include <inttypes.h>
#include <stdio.h>

#include "hv/replay/gdb/server.h"

/* Signal numbers of the protocol, which are gdb's own. */
enum { SIGNAL_INT = 2, SIGNAL_TRAP = 5, SIGNAL_ABORT = 6 };

static unsigned signal_of(const struct gdb_stop *stop)
{
	switch (stop->reason) {
	case GDB_INTERRUPTED:
		return SIGNAL_INT;
	case GDB_ENDED:
		return SIGNAL_ABORT;
	case GDB_STEPPED:
	case GDB_POINT:
	case GDB_NEWS:
		break;
	}
	return SIGNAL_TRAP;
}

static void reply_point(struct server *s, const struct gdb_point *p)
{
	switch (p->kind) {
	case RSP_SOFTWARE:
		if (s->swbreak)
			reply_text(s, "swbreak:;");
		break;
	case RSP_HARDWARE:
		if (s->hwbreak)
			reply_text(s, "hwbreak:;");
		break;
	case RSP_WATCH_WRITE:
		reply_text(s, "watch:%" PRIx64 ";", p->gva);
		break;
	case RSP_WATCH_READ:
		reply_text(s, "rwatch:%" PRIx64 ";", p->gva);
		break;
	case RSP_WATCH_ACCESS:
		reply_text(s, "awatch:%" PRIx64 ";", p->gva);
		break;
	}
}

void resume_why(struct server *s, struct cursor c)
{
	(void)c;
	reply_text(s, "T%02xthread:%x;", signal_of(&s->last), s->last.cpu + 1);
	if (s->last.reason == GDB_POINT)
		reply_point(s, &s->last.point);
}

static bool interrupted(void *arg)
{
	return link_interrupted(arg);
}

static void go(struct server *s, struct gdb_go go)
{
	char line[GDB_TEXT_MAX + 1];

	go.interrupted = interrupted;
	go.arg = &s->link;
	s->last = (struct gdb_stop){.reason = GDB_INTERRUPTED, .cpu = s->cpu};
	if (s->machine->go(s->machine->ctx, &go, &s->last, &s->failure) < 0)
		return;
	s->cpu = s->last.cpu;
	if (s->last.text[0]) {
		snprintf(line, sizeof(line), "%s\n", s->last.text);
		say(s, line);
	}
	resume_why(s, (struct cursor){0});
}

void resume_continue(struct server *s, struct cursor c)
{
	(void)c;
	go(s, (struct gdb_go){.cpus = s->resumed});
}

void resume_step(struct server *s, struct cursor c)
{
	unsigned cpu = s->resumed >> s->cpu & 1 ? s->cpu : (unsigned)__builtin_ctz(s->resumed);

	(void)c;
	go(s, (struct gdb_go){.step = true, .cpu = cpu, .cpus = 1u << cpu});
}

/*
 * One action of vCont. The action applies to the CPUs in `cpus`, except those that an earlier action of the same packet has
 * named.
 */
struct action {
	bool step;
	unsigned cpus;
};

static bool parse_action(const struct server *s, struct cursor *c, struct action *out)
{
	uint64_t signal;
	uint8_t what;

	if (!skip(c, ";") || c->at == c->end)
		return false;
	what = *c->at++;
	if ((what == 'C' || what == 'S') && !number(c, &signal))
		return false;
	*out = (struct action){.step = what == 's' || what == 'S', .cpus = (1u << s->machine->cpus) - 1};
	if (!out->step && what != 'c' && what != 'C')
		return false;
	return !skip(c, ":") || thread(s, c, &out->cpus);
}

/*
 * gdb steps one thread and lets all others run meanwhile, unless its user has set scheduler-locking. Here the other CPUs stay
 * stopped during a step, because the order decides when they run.
 */
static void v_cont(struct server *s, struct cursor c)
{
	struct gdb_go decided = {0};
	unsigned named = 0;
	struct action a;

	while (c.at != c.end) {
		if (!parse_action(s, &c, &a))
			return refuse(s, REFUSED_FORM);
		a.cpus &= ~named;
		named |= a.cpus;
		if (!a.step)
			decided.cpus |= a.cpus;
		else if (!decided.step && a.cpus)
			decided = (struct gdb_go){
				.step = true,
				.cpu = a.cpus >> s->cpu & 1 ? s->cpu : (unsigned)__builtin_ctz(a.cpus),
			};
	}
	if (!decided.step && !decided.cpus)
		return refuse(s, REFUSED_FORM);
	go(s, decided);
}

void resume_v(struct server *s, struct cursor c)
{
	if (skip(&c, "Cont?"))
		reply_text(s, "vCont;c;C;s;S");
	else if (skip(&c, "Cont"))
		v_cont(s, c);
}
