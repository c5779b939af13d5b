// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes and reads the fields of a scenario: its facts, its rendezvous and its config. One list of all fields serves both
 * writing and reading, so that the two cannot differ.
 */
#include <string.h>

#include "hv/base/clean.h"
#include "hv/replay/scenario/format.h"

struct walk {
	uint8_t *out;	   /* NULL: read the fields */
	const uint8_t *in; /* NULL: write the fields */
	size_t at, len;
	uint32_t version; /* of the format */
	bool wrong;	  /* the input is too short, or a text is too long */
};

static void bytes(struct walk *w, void *data, size_t len)
{
	if (len > w->len - w->at) {
		w->wrong = true;
		return;
	}
	if (w->out)
		memcpy(w->out + w->at, data, len);
	else
		memcpy(data, w->in + w->at, len);
	w->at += len;
}

static void u64(struct walk *w, uint64_t *value)
{
	bytes(w, value, sizeof(*value));
}

static void u32(struct walk *w, uint32_t *value)
{
	bytes(w, value, sizeof(*value));
}

static void u16(struct walk *w, uint16_t *value)
{
	bytes(w, value, sizeof(*value));
}

static void u8(struct walk *w, uint8_t *value)
{
	bytes(w, value, sizeof(*value));
}

/* Read or write a bool as one byte. A byte from a file may have any value, but a bool must be 0 or 1. */
static void truth(struct walk *w, bool *value)
{
	uint8_t byte = *value ? 1 : 0;

	u8(w, &byte);
	*value = byte != 0;
}

static void choice(struct walk *w, int *value)
{
	uint32_t number = (uint32_t)*value;

	u32(w, &number);
	*value = number > INT32_MAX ? INT32_MAX : (int)number;
}

/*
 * A text is stored as its length and its bytes, so that files stay valid when a later version has room for longer texts. Texts
 * are made printable on writing, because they may come from the guest, and on reading, because a file may contain anything.
 */
static void text(struct walk *w, char *value, size_t size)
{
	uint16_t len = 0;

	if (w->out) {
		value[size - 1] = '\0';
		clean_field(value, size);
		len = (uint16_t)strlen(value);
	}
	u16(w, &len);
	if (len >= size) {
		w->wrong = true;
		return;
	}
	bytes(w, value, len);
	if (w->out)
		return;
	value[len] = '\0';
	clean_field(value, size);
}

static void regs(struct walk *w, struct x86_regs *r)
{
	for (unsigned i = 0; i < X86_GPRS; i++)
		u64(w, &r->gpr[i]);
	u64(w, &r->rip);
	u64(w, &r->rflags);
	u64(w, &r->cr0);
	u64(w, &r->cr3);
	u64(w, &r->cr4);
	u64(w, &r->efer);
	u64(w, &r->fs_base);
	u64(w, &r->gs_base);
	u64(w, &r->idt_base);
	u16(w, &r->cs);
	u16(w, &r->ss);
}

static void context(struct walk *w, struct guest_context *c)
{
	uint32_t pid = (uint32_t)c->pid;

	u32(w, &pid);
	c->pid = (int32_t)pid;
	text(w, c->comm, sizeof(c->comm));
	truth(w, &c->known);
	truth(w, &c->irqs_off);
	truth(w, &c->preempt_off);
	u8(w, &c->kind);
	truth(w, &c->rcu_known);
	u32(w, &c->rcu_nesting);
}

static void side(struct walk *w, struct rendezvous_side *s)
{
	uint32_t cpu = s->cpu;

	u32(w, &cpu);
	s->cpu = cpu;
	regs(w, &s->regs);
	context(w, &s->context);
	text(w, s->symbol.module, sizeof(s->symbol.module));
	text(w, s->symbol.name, sizeof(s->symbol.name));
	u64(w, &s->symbol.addr);
	u64(w, &s->symbol.size);
	u64(w, &s->gva);
	u64(w, &s->gpa);
	u32(w, &s->size);
	u8(w, &s->rw);
	u8(w, &s->insn_len);
	u64(w, &s->return_address);
	u64(w, &s->cfa);
}

static void difference(struct walk *w, struct replay_difference *d)
{
	truth(w, &d->is_register);
	u8(w, &d->side);
	u8(w, &d->len);
	u64(w, &d->gpa);
	u64(w, &d->gva);
	bytes(w, d->bytes, sizeof(d->bytes));
	text(w, d->name, sizeof(d->name));
}

/* Files contain these numbers: a new number must come last, and needs a new SCENARIO_VERSION. */
_Static_assert(REPLAY_FAILURE == 2 && REPLAY_OUTCOMES == 3, "the outcomes in version 1 of the scenario format");
_Static_assert(REPLAY_CANNOT_LOAD == 5 && REPLAY_FAILURES == 6, "the failures in version 1 of the scenario format");
_Static_assert(REPLAY_END_FAULT == 4 && REPLAY_ENDS == 5, "the ends of regions in version 1 of the scenario format");
_Static_assert(REPLAY_MACHINE_HANG == 5 && REPLAY_MACHINES == 6, "the ends of machines in version 1 of the scenario format");
_Static_assert(GUEST_TASK == 0 && GUEST_NMI == 3, "the contexts in version 1 of the scenario format");

#define CHOICE(w, type, member)          \
	do {                             \
		int value = (int)member; \
		choice(w, &value);       \
		member = (type)value;    \
	} while (0)

static void order(struct walk *w, struct replay_order *o)
{
	for (unsigned i = 0; i < 2; i++) {
		CHOICE(w, enum replay_end, o->regions[i].end);
		u64(w, &o->regions[i].instructions);
	}
	CHOICE(w, enum replay_machine, o->machine);
	text(w, o->trouble, sizeof(o->trouble));
}

static void instance(struct walk *w, struct replay_instance *i)
{
	CHOICE(w, enum replay_outcome, i->outcome);
	CHOICE(w, enum replay_failure, i->why);
	text(w, i->why_text, sizeof(i->why_text));
	order(w, &i->orders[0]);
	order(w, &i->orders[1]);
	u64(w, &i->difference_count);
	u32(w, &i->kept);
	for (unsigned n = 0; n < i->kept && n < REPLAY_DIFFERENCES_MAX; n++)
		difference(w, &i->differences[n]);
}

static void facts(struct walk *w, struct scenario_facts *f)
{
	text(w, f->version, sizeof(f->version));
	text(w, f->date, sizeof(f->date));
	text(w, f->banner, sizeof(f->banner));
	text(w, f->build_id, sizeof(f->build_id));
	text(w, f->race, sizeof(f->race));
	text(w, f->site[0], sizeof(f->site[0]));
	text(w, f->site[1], sizeof(f->site[1]));
	u64(w, &f->slide);
	instance(w, &f->instance);
}

static void config(struct walk *w, struct replay_config *c)
{
	u64(w, &c->instructions);
	u64(w, &c->free_ns);
	u64(w, &c->sleep);
	u64(w, &c->loglevel_gpa);
	truth(w, &c->result_unused[0]);
	truth(w, &c->result_unused[1]);
	if (w->version < 2)
		return;
	truth(w, &c->paused);
	u32(w, &c->turn);
}

static void fields(struct walk *w, struct scenario *s)
{
	facts(w, &s->facts);
	u64(w, &s->rendezvous.number);
	side(w, &s->rendezvous.sides[0]);
	side(w, &s->rendezvous.sides[1]);
	config(w, &s->config);
}

size_t scenario_put_fields(const struct scenario *s, uint8_t out[SCENARIO_FIELDS_MAX])
{
	struct scenario copy = *s;
	struct walk w = {.out = out, .len = SCENARIO_FIELDS_MAX, .version = SCENARIO_VERSION};

	fields(&w, &copy);
	return w.at;
}

bool scenario_get_fields(struct scenario *s, uint32_t version, const uint8_t *in, size_t len)
{
	struct walk w = {.in = in, .len = len, .version = version};

	fields(&w, s);
	return !w.wrong && w.at == len;
}
