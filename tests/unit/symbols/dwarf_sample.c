/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The program that the tests of debuginfo.h query. The tests compile it in many ways. They never run it, and no program of
 * Outrider contains it. Members are volatile, so that compilers keep each access in its form and at its place in the source.
 */
struct list {
	struct list *volatile next;
	struct list **volatile prev;
};

union word {
	volatile unsigned int whole;
	struct {
		volatile unsigned char low, high;
		volatile unsigned short top;
	};
};

struct flags {
	volatile unsigned int on : 1, mode : 7, count : 12;
	volatile unsigned long long wide : 40;
};

struct inner {
	volatile short a;
	volatile int b[4];
};

struct nothing {
};

struct outer {
	struct list link;
	struct nothing nothing;
	union word word;
	struct flags flags;
	struct inner in[3];
	volatile char name[16];
	struct outer *volatile parent;
	struct {
		volatile int x, y;
	};
	volatile long tail[];
};

typedef struct outer outer_t;

struct record {
	struct list link;
	union word word;
	struct list *volatile parent;
	volatile long values[4];
};

struct hidden; /* It is never defined: only its name is known. */

outer_t global_outer;
const outer_t *volatile global_pointer;
volatile int table[2][3];
struct hidden *volatile hidden_pointer;
void (*volatile callback)(int);
__attribute__((section(".data..percpu"))) struct {
	volatile int before, counter;
} percpu_data = {0, 1};
volatile enum color { RED, GREEN = 7, BLUE = -1 } color;
volatile enum { FL_A = 1, FL_B = 2, FL_D = 8 } some_flags;
volatile _Bool truth;
static volatile int file_static;

/* take_all() passes the addresses of its members to calls, and the debug information describes each of these calls. */
struct {
	volatile int many[100];
	volatile long last;
} crowded;

#ifdef __clang__
#define API __attribute__((noinline))
#else
#define API __attribute__((noipa))
#endif
#define INLINED static inline __attribute__((always_inline))

/* The tests know these lines by number. */
#line 100 "chain.c"
INLINED int innermost(struct list *l)
{
	return l->next == 0;
}

INLINED int middle(struct list *list)
{
	return innermost(list) + 1;
}

API int outermost(outer_t *o)
{
	int r = middle(&o->link);

	return r;
}
#line 1 "sample.c"

API int read_member(outer_t *o)
{
	return o->in[1].b[2];
}

/* The parameter names the struct by its tag. A unit may have a stub for a type to which it refers twice. */
API int read_tagged(struct outer *o)
{
	return o->in[2].b[1];
}

API int read_through_two(outer_t *o)
{
	return o->parent->word.high;
}

API long read_global_pointer(void)
{
	return global_pointer->y;
}

INLINED outer_t *container(struct list *l)
{
	return (outer_t *)((char *)l - __builtin_offsetof(outer_t, link));
}

API char read_container(struct list *l)
{
	outer_t *o = container(l->next);

	return o->name[3];
}

API long read_index(volatile long *vector)
{
	return vector[2];
}

/* `next` has no register of its own: its value is that of `vector`'s register plus a constant. */
API long read_next(volatile long *vector)
{
	volatile long *next = vector + 1;

	return *next;
}

API void write_bits(struct flags *f)
{
	f->count = 5;
}

API int count_calls(void)
{
	static volatile int calls;

	return ++calls + file_static;
}

API int read_table(void)
{
	return table[1][2] + global_outer.in[2].b[3] + percpu_data.counter;
}

API __attribute__((section(".text.unlikely"))) int cold(outer_t *o)
{
	return o->x;
}

/* `vector` is not volatile: compilers compute the address of a volatile access first. */
API long read_at(long *vector, unsigned long i)
{
	return vector[i];
}

/* The instructions of these functions write the registers that form their addresses. A compiler may not choose such code. */
API long follow(volatile long *vector)
{
	long l;

	__asm__ volatile("mov 16(%%rdi), %%rdi" : "=D"(l) : "D"(vector) : "memory");
	return l;
}

API long follow_at(volatile long *vector, unsigned long i)
{
	long l;

	__asm__ volatile("mov (%%rdi,%2,8), %%rdi" : "=D"(l) : "D"(vector), "S"(i) : "memory");
	return l;
}

API long multiply_at(volatile long *vector, unsigned long i)
{
	unsigned long low, high;

	__asm__ volatile("mulq (%%rax,%%rdx,8)" : "=a"(low), "=d"(high) : "a"(vector), "d"(i) : "memory");
	return low + high;
}

API void copy(struct record *to, struct record *from)
{
	unsigned long words = sizeof(*to) / 8;

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
}

/* Copy all members of the struct except its links, which must not change. */
API void copy_rest(struct record *to, struct record *from)
{
	char *t = (char *)to + sizeof(to->link), *f = (char *)from + sizeof(from->link);
	unsigned long words = (sizeof(*to) - sizeof(to->link)) / 8;

	__asm__ volatile("rep movsq" : "+D"(t), "+S"(f), "+c"(words) : : "memory");
}

API void copy_const(struct record *to, const struct record *from)
{
	unsigned long words = sizeof(*to) / 8;

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
}

API void copy_as_another(struct outer *to, struct outer *from)
{
	unsigned long words = sizeof(struct record) / 8;
	struct record *r = (struct record *)from;

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(r), "+c"(words) : : "memory");
}

/* read_record() and read_list() have the same code, but their parameters give the object two different types. */
API long read_record(struct record *r)
{
	return r->values[1];
}

API void *read_list(struct list *l)
{
	return l->next;
}

API void take(volatile int *one)
{
	*one = 1;
}

#define TEN(i)                                                                                                            \
	take(&crowded.many[i]), take(&crowded.many[(i) + 1]), take(&crowded.many[(i) + 2]), take(&crowded.many[(i) + 3]), \
		take(&crowded.many[(i) + 4]), take(&crowded.many[(i) + 5]), take(&crowded.many[(i) + 6]),                 \
		take(&crowded.many[(i) + 7]), take(&crowded.many[(i) + 8]), take(&crowded.many[(i) + 9])

API void take_all(void)
{
	TEN(0), TEN(10), TEN(20), TEN(30), TEN(40), TEN(50), TEN(60), TEN(70), TEN(80), TEN(90);
}

void _start(void)
{
	outermost(&global_outer);
	callback(read_member(&global_outer) + cold(&global_outer) + (hidden_pointer != 0) + color + truth);
}
