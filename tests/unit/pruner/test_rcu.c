// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Pointers and lists under RCU: what readers and writers do rightly, and each way in which one of them is wrong. The pointer,
 * and the list's head, is at the absolute address 0x1000.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/pruner/prune_bench.h"

#define RULE "rcu-publication"
#define STEPS_MAX 24

/* A part of a function: some instructions, or a call. */
struct step {
	const char *bytes;
	size_t len;
	const char *call;
	bool access; /* The first of the instructions is the one that races. */
};

#define I(bytes)                                      \
	{                                             \
		bytes, sizeof(bytes) - 1, NULL, false \
	}
#define ACCESS(bytes)                                \
	{                                            \
		bytes, sizeof(bytes) - 1, NULL, true \
	}
#define CALL(function)                                     \
	{                                                  \
		"\xe8\x00\x00\x00\x00", 5, function, false \
	}
#define RET I("\xc3")

/* ---- writers ---- */

#define NEW CALL("kmalloc_trace"), I("\x48\x89\x18")				/* mov %rbx,(%rax): the object's first field */
#define OLD_RBX I("\x48\x8b\x1c\x25\x00\x10\x00\x00")				/* mov 0x1000,%rbx */
#define PUBLISH_RAX ACCESS("\x48\x89\x04\x25\x00\x10\x00\x00")			/* mov %rax,0x1000 */
#define PUBLISH_NULL ACCESS("\x48\xc7\x04\x25\x00\x10\x00\x00\x00\x00\x00\x00") /* movq $0,0x1000 */
#define EXCHANGE_RAX ACCESS("\x48\x87\x04\x25\x00\x10\x00\x00")			/* xchg %rax,0x1000 */
#define HEAD_OF_RBX I("\x48\x8d\x7b\x10")					/* lea 0x10(%rbx),%rdi */
#define RBX_ITSELF I("\x48\x89\xdf")						/* mov %rbx,%rdi */
#define LOOP_HEAD I("\x4c\x8b\x2b")						/* mov (%rbx),%r13 */
/* mov %r13,%rbx; test %r13,%r13; jne to LOOP_HEAD; ret */
#define LOOP_END I("\x4c\x89\xeb\x4d\x85\xed\x75\xd0\xc3")
#define SOME_OTHER I("\x4c\x89\xe7") /* mov %r12,%rdi */
#define KFREE_RCU_RBX HEAD_OF_RBX, CALL("kvfree_call_rcu")
#define KFREE_RBX RBX_ITSELF, CALL("kfree")

/* mov 0x1000,%rdx; mov %rdx,(%rax); movq $0x1000,8(%rax) */
#define LEAD_ON_RAX I("\x48\x8b\x14\x25\x00\x10\x00\x00\x48\x89\x10\x48\xc7\x40\x08\x00\x10\x00\x00")
#define BACK_TO_RAX I("\x48\x89\x42\x08") /* mov %rax,8(%rdx) */

/* mov 0x1008,%rdx; movq $0x1000,(%rax); mov %rdx,8(%rax); the store is mov %rax,(%rdx); mov %rax,0x1008 */
#define LEAD_RAX_TO_HEAD I("\x48\x8b\x14\x25\x08\x10\x00\x00\x48\xc7\x00\x00\x10\x00\x00\x48\x89\x50\x08")
#define ADD_RAX_BEHIND ACCESS("\x48\x89\x02"), I("\x48\x89\x04\x25\x08\x10\x00\x00")

/* mov (%rbx),%rdx; mov 8(%rbx),%rax; mov %rax,8(%rdx); the store is mov %rdx,(%rax) */
#define NEIGHBOURS I("\x48\x8b\x13\x48\x8b\x43\x08\x48\x89\x42\x08")
#define UNLINK_RBX NEIGHBOURS, ACCESS("\x48\x89\x10")
/* movabs $0xdead000000000122,%rax; mov %rax,8(%rbx) */
#define POISON_PREV I("\x48\xb8\x22\x01\x00\x00\x00\x00\xad\xde\x48\x89\x43\x08")
/* movabs $0xdead000000000100,%rax; mov %rax,(%rbx) */
#define POISON_NEXT I("\x48\xb8\x00\x01\x00\x00\x00\x00\xad\xde\x48\x89\x03")
#define LINK_TO_SELF I("\x48\x89\x1b") /* mov %rbx,(%rbx) */
/* mov 0x1000,%rdx; mov %rdx,(%rbx); movq $0x1000,8(%rbx) */
#define LEAD_ON_RBX I("\x48\x8b\x14\x25\x00\x10\x00\x00\x48\x89\x13\x48\xc7\x43\x08\x00\x10\x00\x00")
#define PUT_BACK_RBX_BYTES "\x48\x89\x1c\x25\x00\x10\x00\x00" /* mov %rbx,0x1000 */

/* mov (%rbx),%rdx; mov %rdx,(%rax); mov 8(%rbx),%rcx; mov %rcx,8(%rax); the store is mov %rax,(%rcx); mov %rax,8(%rdx) */
#define REPLACE_RBX_BY_RAX \
	I("\x48\x8b\x13\x48\x89\x10\x48\x8b\x4b\x08\x48\x89\x48\x08"), ACCESS("\x48\x89\x01"), I("\x48\x89\x42\x08")

/* ---- readers ---- */

#define READ_RAX ACCESS("\x48\x8b\x04\x25\x00\x10\x00\x00") /* mov 0x1000,%rax */
#define READ_RBX ACCESS("\x48\x8b\x1c\x25\x00\x10\x00\x00") /* mov 0x1000,%rbx */
#define FOLLOW_RAX I("\x48\x8b\x00\x31\xc0")		    /* mov (%rax),%rax; xor %eax,%eax */
#define FOLLOW_RBX I("\x48\x8b\x03\x31\xc0")		    /* mov (%rbx),%rax; xor %eax,%eax */
#define REFERENCE_RBX I("\xf0\xff\x43\x20")		    /* lock incl 0x20(%rbx) */
#define LOCK CALL("__rcu_read_lock")
#define UNLOCK CALL("__rcu_read_unlock")

/* NO_PREEMPTION: a kernel without CONFIG_PREEMPTION, which keeps no count of sections. */
enum where { SECTION, OUTSIDE, UNKNOWN, PREEMPTION_OFF, NO_PREEMPTION };

#define WITHOUT_PREEMPTION "Linux version 5.10.0-32-cloud-amd64 (debian-kernel@lists.debian.org) #1 SMP Debian 5.10.223-1"

struct row {
	const char *shows;
	enum where where;
	const char *reader_mark, *writer_mark; /* An inlined function, or NULL. */
	struct step writer[STEPS_MAX], reader[8];
	enum verdict_class class;
	const char *rule, *says;
};

#define FOLLOWS                           \
	{                                 \
		READ_RAX, FOLLOW_RAX, RET \
	}
#define SAYS_SECTION "in an RCU section (rcu_read_lock_nesting was 1)"

static const struct row rows[] = {
	{"replaced, and kfree_rcu() of the old one",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 SAYS_SECTION},
	{"replaced, and freed behind synchronize_rcu()",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, CALL("synchronize_rcu"), KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "only after a grace period, by synchronize_rcu()"},
	{"cleared, and call_rcu() of the old one",
	 SECTION,
	 NULL,
	 NULL,
	 {OLD_RBX, PUBLISH_NULL, HEAD_OF_RBX, CALL("call_rcu"), RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "by call_rcu()"},
	{"exchanged, and kfree_rcu() of what came out",
	 SECTION,
	 NULL,
	 NULL,
	 {EXCHANGE_RAX, I("\x48\x8d\x78\x10"), CALL("kvfree_call_rcu"), RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "by kvfree_call_rcu()"},
	{"kfree_rcu() without a head in the object",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, I("\xbf\x00\x00\x00\x00\x48\xc7\xc7\x00\x00\x00\x00\x48\x89\xde"), CALL("kvfree_call_rcu"),
	  RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "by kvfree_call_rcu()"},
	{"read with preemption off",
	 PREEMPTION_OFF,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "where it cannot be preempted"},
	{"a reader of whom nothing is known",
	 UNKNOWN,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 "is not known"},
	{"wrong: a reader in no section",
	 OUTSIDE,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "reader-outside-rcu",
	 "no grace period waits for it"},
	{"wrong: freed at once",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 "may call kfree(), without a grace period before it"},
	{"wrong: the grace period is before the store",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, CALL("synchronize_rcu"), OLD_RBX, PUBLISH_RAX, KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"wrong: what was published is freed at once",
	 SECTION,
	 NULL,
	 NULL,
	 {CALL("kmalloc_trace"), I("\x48\x89\xc3"), ACCESS(PUT_BACK_RBX_BYTES), KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"something else is freed at once",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, SOME_OTHER, CALL("kfree"), KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-afterwards",
	 NULL},
	{"something else is freed later",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, SOME_OTHER, CALL("call_rcu"), RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 "does not show for which object"},
	{"nothing is freed that could be seen",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 NULL,
	 NULL},
	{"the pointer is used behind the section",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, UNLOCK, FOLLOW_RBX, RET},
	 VERDICT_HARMFUL,
	 "reader-outside-rcu",
	 "after the end of its RCU section"},
	{"the pointer is used behind the section with a reference",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, REFERENCE_RBX, UNLOCK, FOLLOW_RBX, RET},
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 NULL},
	{"a reader that also stores the pointer",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RAX, I("\x48\x89\x0c\x25\x00\x10\x00\x00"), FOLLOW_RAX, RET}, /* mov %rcx,0x1000 */
	 VERDICT_HARMFUL,
	 NULL,
	 NULL},
	{"a reader that stores elsewhere what it read",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RAX, I("\x48\x89\x01"), FOLLOW_RAX, RET}, /* mov %rax,(%rcx) */
	 VERDICT_HARMFUL,
	 NULL,
	 NULL},
	{"sleepable RCU",
	 OUTSIDE,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, CALL("synchronize_srcu"), KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-afterwards",
	 NULL},
	{"stored where the writer saw NULL, by a function that also calls kfree_rcu()",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, I("\x48\x85\xdb\x74\x0a"), KFREE_RCU_RBX, RET, PUBLISH_RAX, RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "where there was NULL"},
	{"stored where the writer saw something else than NULL",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, I("\x48\x85\xdb\x75\x0a"), KFREE_RCU_RBX, RET, PUBLISH_RAX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 NULL,
	 NULL},
	{"added to a list's head by list_add_rcu()",
	 SECTION,
	 NULL,
	 "list_add_rcu",
	 {NEW, LEAD_ON_RAX, PUBLISH_RAX, BACK_TO_RAX, RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "a new object from kmalloc_trace(), which points to what was there before"},
	{"added to a list by a function that frees at once elsewhere",
	 SECTION,
	 NULL,
	 "list_add_rcu",
	 {I("\x84\xd2\x74\x09"), SOME_OTHER, CALL("kfree"), RET, NEW, LEAD_ON_RAX, PUBLISH_RAX, BACK_TO_RAX, RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 NULL},
	{"wrong: added to a list by a function that frees at once what it takes out",
	 SECTION,
	 NULL,
	 "list_add_rcu",
	 {I("\x84\xd2\x74\x21"), OLD_RBX, NEIGHBOURS, I("\x48\x89\x10"), I("\x90\x90"), KFREE_RBX, RET, NEW, LEAD_ON_RAX,
	  PUBLISH_RAX, BACK_TO_RAX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"taken out of a list in a loop, and call_rcu()",
	 SECTION,
	 NULL,
	 NULL,
	 {OLD_RBX, LOOP_HEAD, UNLINK_RBX, POISON_PREV, HEAD_OF_RBX, CALL("call_rcu"), LOOP_END},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "by call_rcu()"},
	{"wrong: taken out of a list in a loop, and freed at once",
	 SECTION,
	 NULL,
	 NULL,
	 {OLD_RBX, LOOP_HEAD, UNLINK_RBX, POISON_PREV, KFREE_RBX, I("\x90"), LOOP_END},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"added to a list's head",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, LEAD_ON_RAX, PUBLISH_RAX, BACK_TO_RAX, RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 "a new object from kmalloc_trace(), which points to what was there before"},
	{"added to a list's end",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, LEAD_RAX_TO_HEAD, ADD_RAX_BEHIND, RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 "a new object from kmalloc_trace()"},
	{"an object that may not be new is added",
	 SECTION,
	 NULL,
	 NULL,
	 {LEAD_ON_RAX, PUBLISH_RAX, BACK_TO_RAX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 NULL,
	 NULL},
	{"an object that may not be new is added by list_add_rcu()",
	 SECTION,
	 NULL,
	 "list_add_rcu",
	 {LEAD_ON_RAX, PUBLISH_RAX, BACK_TO_RAX, RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "stores by list_add_rcu()"},
	{"taken out of a list, and call_rcu()",
	 SECTION,
	 NULL,
	 NULL,
	 {OLD_RBX, UNLINK_RBX, POISON_PREV, HEAD_OF_RBX, CALL("call_rcu"), RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "by call_rcu()"},
	{"replaced in a list, and kfree_rcu()",
	 SECTION,
	 NULL,
	 NULL,
	 {OLD_RBX, CALL("kmalloc_trace"), REPLACE_RBX_BY_RAX, POISON_PREV, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "by kvfree_call_rcu()"},
	{"taken out of a list by list_del_rcu(), and nothing more is seen",
	 SECTION,
	 NULL,
	 "list_del_rcu",
	 {OLD_RBX, UNLINK_RBX, POISON_PREV, RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 "does not show how that is freed"},
	{"wrong: taken out of a list and freed at once",
	 SECTION,
	 NULL,
	 NULL,
	 {OLD_RBX, UNLINK_RBX, POISON_PREV, KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"wrong: list_del_rcu(), and freed at once",
	 SECTION,
	 NULL,
	 "list_del_rcu",
	 {OLD_RBX, UNLINK_RBX, POISON_PREV, KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"wrong: replaced in a list and freed at once",
	 SECTION,
	 NULL,
	 NULL,
	 {OLD_RBX, CALL("kmalloc_trace"), REPLACE_RBX_BY_RAX, POISON_PREV, KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"wrong: list_del(), which ends readers in poison",
	 SECTION,
	 NULL,
	 NULL,
	 {OLD_RBX, UNLINK_RBX, POISON_NEXT, POISON_PREV, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "reused-under-readers",
	 NULL},
	{"wrong: list_del_init(), which ends readers in a loop",
	 SECTION,
	 NULL,
	 "list_del_rcu",
	 {OLD_RBX, UNLINK_RBX, LINK_TO_SELF, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "reused-under-readers",
	 NULL},
	{"wrong: taken out, and put in again at once",
	 SECTION,
	 NULL,
	 "list_del_rcu",
	 {OLD_RBX, UNLINK_RBX, LEAD_ON_RBX, I(PUT_BACK_RBX_BYTES), RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "reused-under-readers",
	 "without a grace period in between"},
	{"wrong: put in again that was taken out at once before",
	 SECTION,
	 NULL,
	 "list_add_rcu",
	 {OLD_RBX, NEIGHBOURS, I("\x48\x89\x10"), LEAD_ON_RBX, ACCESS(PUT_BACK_RBX_BYTES), RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "reused-under-readers",
	 NULL},
	{"put in again behind a grace period",
	 SECTION,
	 NULL,
	 "list_add_rcu",
	 {OLD_RBX, NEIGHBOURS, I("\x48\x89\x10"), CALL("synchronize_rcu"), LEAD_ON_RBX, ACCESS(PUT_BACK_RBX_BYTES), RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 NULL},
	{"wrong: rcu_barrier() waits for callbacks, and for no readers",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, CALL("rcu_barrier"), KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"wrong: a reference that is taken behind the section",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, UNLOCK, REFERENCE_RBX, FOLLOW_RBX, RET},
	 VERDICT_HARMFUL,
	 "reader-outside-rcu",
	 NULL},
	{"the pointer is returned behind the section",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, UNLOCK, I("\x48\x89\xd8"), RET},
	 VERDICT_UNCLEAR,
	 RULE,
	 "still has the pointer after the end of its RCU section"},
	{"the pointer is given to a function behind the section",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, UNLOCK, RBX_ITSELF, CALL("use"), I("\x31\xc0"), RET},
	 VERDICT_UNCLEAR,
	 RULE,
	 NULL},
	{"the pointer is returned with a reference",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, REFERENCE_RBX, UNLOCK, I("\x48\x89\xd8"), RET},
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 NULL},
	{"an inner section ends",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, LOCK, UNLOCK, FOLLOW_RBX, RET},
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 NULL},
	{"wrong: freed at once on another way, where it is still reachable",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, I("\x84\xd2\x74\x09"), KFREE_RBX, RET, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"wrong: freed before it is taken out",
	 SECTION,
	 NULL,
	 "rcu_assign_pointer",
	 {NEW, OLD_RBX, KFREE_RBX, PUBLISH_RAX, I("\x90"), RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"something else is freed at once on another way",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, I("\x84\xd2\x74\x09"), SOME_OTHER, CALL("kfree"), RET, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 NULL},
	{"a new object that is completed too late",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, I("\x48\x89\x48\x08"), KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 "sets a field of the new object only after that store"},
	{"what is taken out is given to a function at once",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, RBX_ITSELF, CALL("destroy"), KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 "passes on the object that it removes, without a grace period"},
	{"what is taken out is kept elsewhere at once",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, I("\x84\xd2\x74\x09\x48\x89\x1c\x25\x00\x20\x00\x00\xc3"), KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_UNCLEAR,
	 RULE,
	 NULL},
	{"call_rcu() before the object is taken out",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, KFREE_RCU_RBX, PUBLISH_RAX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 NULL,
	 NULL},
	{"the pointer or NULL is returned behind the section",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, I("\x84\xd2\x74\x02\x31\xdb"), UNLOCK, I("\x48\x89\xd8"), RET},
	 VERDICT_UNCLEAR,
	 RULE,
	 "still has the pointer after the end of its RCU section"},
	{"whether there is a pointer is returned behind the section",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, UNLOCK, I("\x31\xc0\x48\x85\xdb\x0f\x95\xc0"), RET},
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 NULL},
	{"the pointer is kept on the stack over the end of the section",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, I("\x48\x89\x5c\x24\x08"), UNLOCK, I("\x48\x8b\x44\x24\x08\x48\x8b\x00\x31\xc0"), RET},
	 VERDICT_UNCLEAR,
	 RULE,
	 NULL},
	{"wrong: the pointer is used in the next section",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, UNLOCK, LOCK, FOLLOW_RBX, RET},
	 VERDICT_HARMFUL,
	 "reader-outside-rcu",
	 NULL},
	{"wrong: replaced in a list, and its link changed at once",
	 SECTION,
	 NULL,
	 NULL,
	 {OLD_RBX, CALL("kmalloc_trace"), REPLACE_RBX_BY_RAX, POISON_NEXT, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "reused-under-readers",
	 NULL},
	{"wrong: what was published is withdrawn and freed at once",
	 SECTION,
	 NULL,
	 NULL,
	 {CALL("kmalloc_trace"), I("\x48\x89\xc5"), OLD_RBX, ACCESS("\x48\x89\x2c\x25\x00\x10\x00\x00"), I("\x84\xd2\x74\x11"),
	  I(PUT_BACK_RBX_BYTES), I("\x48\x89\xef"), CALL("kfree"), RET, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"wrong: a grace period on one way only",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, I("\x84\xd2\x74\x05"), CALL("synchronize_rcu"), KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"wrong: freed later on one way, and at once on another",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, I("\x84\xd2\x74\x0a"), KFREE_RCU_RBX, RET, KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	{"what the object leads to is freed at once",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, I("\x48\x8b\x7b\x18"), CALL("kfree"), KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 NULL,
	 NULL},
	{"a new object is reachable by one link before it has the other",
	 SECTION,
	 NULL,
	 NULL,
	 {CALL("kmalloc_trace"), I("\x48\x8b\x14\x25\x00\x10\x00\x00"), ACCESS("\x48\x89\x42\x08"),
	  I("\x48\x89\x10\x48\x89\x04\x25\x00\x10\x00\x00"), RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 NULL,
	 NULL},
	{"wrong: used behind the section, and still in a register where that ends",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, RBX_ITSELF, UNLOCK, FOLLOW_RBX, RET},
	 VERDICT_HARMFUL,
	 "reader-outside-rcu",
	 NULL},
	{"a function inside the section may have taken a reference",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, RBX_ITSELF, CALL("hold"), UNLOCK, FOLLOW_RBX, RET},
	 VERDICT_UNCLEAR,
	 RULE,
	 NULL},
	{"read under a spinlock, and used behind that",
	 PREEMPTION_OFF,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, CALL("_raw_spin_unlock"), FOLLOW_RBX, RET},
	 VERDICT_UNCLEAR,
	 RULE,
	 NULL},
	{"read under a spinlock, and used behind an inner one",
	 PREEMPTION_OFF,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, CALL("_raw_spin_lock"), CALL("_raw_spin_unlock"), FOLLOW_RBX, RET},
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 NULL},
	{"what is taken out is looked at, since it is in a second list",
	 SECTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, RBX_ITSELF, CALL("__list_del_entry_valid"), KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 NULL},
	{"a kernel without preemption",
	 NO_PREEMPTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 FOLLOWS,
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 "where it cannot be preempted, and RCU grace periods wait for that too"},
	{"a kernel without preemption, and a spinlock before the use",
	 NO_PREEMPTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, CALL("_raw_spin_lock"), FOLLOW_RBX, CALL("_raw_spin_unlock"), RET},
	 VERDICT_SYNCHRONISATION,
	 RULE,
	 NULL},
	{"a kernel without preemption, and a call before the use",
	 NO_PREEMPTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RBX, CALL("mutex_lock"), FOLLOW_RBX, RET},
	 VERDICT_UNCLEAR,
	 RULE,
	 "still has the pointer after a call that may sleep"},
	{"a kernel without preemption, and the pointer is returned",
	 NO_PREEMPTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET},
	 {READ_RAX, RET},
	 VERDICT_UNCLEAR,
	 RULE,
	 "or gives it to its caller"},
	{"wrong: a kernel without preemption, and freed at once",
	 NO_PREEMPTION,
	 NULL,
	 NULL,
	 {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RBX, RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "freed-under-readers",
	 NULL},
	/* mov 0x1000,%rdx; the store is mov %rdx,(%rbx); mov %rbx,0x1000 */
	{"wrong: a reader at an object that is only now put in",
	 SECTION,
	 NULL,
	 "list_add_rcu",
	 {I("\x48\x8b\x14\x25\x00\x10\x00\x00"), ACCESS("\x48\x89\x13"), I(PUT_BACK_RBX_BYTES), RET},
	 FOLLOWS,
	 VERDICT_HARMFUL,
	 "reused-under-readers",
	 NULL},
};

/* Let the side's function be these steps. */
static void take(const struct bench *b, unsigned side, const struct step *steps)
{
	char code[RACE_CODE_MAX];
	uint32_t len = 0, access = 0;

	for (const struct step *s = steps; s->bytes; s++) {
		assert_in_range(len + s->len, 1, sizeof(code));
		if (s->access)
			access = len;
		memcpy(code + len, s->bytes, s->len);
		len += (uint32_t)s->len;
	}
	bench_code(b, side, code, len, access);
	len = 0;
	for (const struct step *s = steps; s->bytes; s++) {
		if (s->call)
			bench_call(b, side, (uint16_t)len, s->call);
		len += (uint32_t)s->len;
	}
}

static void stand(struct guest_context *c, enum where where)
{
	*c = (struct guest_context){.pid = 1, .known = true, .kind = GUEST_TASK};
	c->preempt_off = where == PREEMPTION_OFF;
	c->rcu_known = where != UNKNOWN && where != NO_PREEMPTION;
	c->rcu_nesting = where == SECTION;
}

static void set_value(struct race_instance *instance, uint64_t before, uint64_t after)
{
	instance->data_len = sizeof(before);
	memcpy(instance->before, &before, sizeof(before));
	memcpy(instance->after, &after, sizeof(after));
}

/* One side reads a pointer, and the other stores it. */
static struct bench *pointer(void **state, const struct row *row)
{
	struct bench *b = bench_of(state, "gt_alias_reader", "gt_alias_writer");
	struct race *race = b->race;

	bench_datum(b, "it", "struct it", "link");
	bench_type(b, "struct it *");
	race->rw[b->reader] = INSN_READ;
	race->rw[b->writer] = INSN_WRITE;
	for (unsigned i = 0; i < 2; i++) {
		bench_side(b, i)->gva = 0xffff888000001000;
		bench_side(b, i)->size = 8;
		stand(&bench_side(b, i)->context, i == b->reader ? row->where : OUTSIDE);
	}
	for (unsigned i = 0; i < race->kept; i++) {
		set_value(&race->instances[i], 0xff2f31f341041cb0, 0xffff888012345678);
		stand(&race->instances[i].sides[b->reader].context, row->where);
	}
	if (row->where == NO_PREEMPTION)
		prune_rules_set_kernel(b->rules, WITHOUT_PREEMPTION);
	take(b, b->writer, row->writer);
	take(b, b->reader, row->reader);
	bench_side(b, b->writer)->locked = false;
	if (row->reader_mark)
		bench_inlined(b, b->reader, row->reader_mark);
	if (row->writer_mark)
		bench_inlined(b, b->writer, row->writer_mark);
	return b;
}

/* The object that is put in has its link already, and where it comes from is not kept. */
#define ADD_RAX                                            \
	{                                                  \
		LEAD_ON_RAX, PUBLISH_RAX, BACK_TO_RAX, RET \
	}

/* Returns the race in a kernel without preemption, with the start of the writer's function not kept. */
static struct bench *part_of_writer(void **state, const struct row *row)
{
	struct bench *b = pointer(state, row);

	bench_start_not_kept(b, b->writer);
	return b;
}

static void part_of_an_addition(void **state)
{
	struct bench *b = part_of_writer(state, &(struct row){.where = NO_PREEMPTION, .writer = ADD_RAX, .reader = FOLLOWS});

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "stores an object that it prepared before, and that points to what was there before");
}

/* mov 0x1000(,%rdx,8),%rcx; mov %rcx,(%rax); the store is mov %rax,0x1000(,%rsi,8): the bucket of a hash table */
#define ADD_TO_TABLE(table)                                                                                 \
	{                                                                                                   \
		I("\x48\x8b\x0c\xd5" table "\x48\x89\x08"), ACCESS("\x48\x89\x04\xf5\x00\x10\x00\x00"), RET \
	}

static void part_of_an_addition_to_a_table(void **state)
{
	struct bench *b = part_of_writer(
		state, &(struct row){.where = NO_PREEMPTION, .writer = ADD_TO_TABLE("\x00\x10\x00\x00"), .reader = FOLLOWS});

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "and that points to what an element of the same table pointed to");
	b = part_of_writer(
		state, &(struct row){.where = NO_PREEMPTION, .writer = ADD_TO_TABLE("\x00\x20\x00\x00"), .reader = FOLLOWS});
	bench_expect_not(b, RULE);
}

/* What is stored was prepared elsewhere, or nowhere. */
static void part_of_a_store(void **state)
{
	struct bench *b =
		part_of_writer(state, &(struct row){.where = NO_PREEMPTION, .writer = {PUBLISH_RAX, RET}, .reader = FOLLOWS});

	bench_expect_not(b, RULE);
}

static void part_of_a_removal(void **state)
{
	struct bench *b = part_of_writer(
		state, &(struct row){.where = NO_PREEMPTION, .writer = {UNLINK_RBX, POISON_PREV, RET}, .reader = FOLLOWS});

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "takes an object out of a list as list_del_rcu() does");
}

/* list_del() changes both links, so a reader cannot go on from the object. */
static void part_of_a_plain_removal(void **state)
{
	struct bench *b = part_of_writer(state, &(struct row){.where = NO_PREEMPTION,
							      .writer = {UNLINK_RBX, POISON_NEXT, POISON_PREV, RET},
							      .reader = FOLLOWS});

	bench_expect_not(b, RULE);
}

static void part_of_a_removal_that_frees(void **state)
{
	struct bench *b = part_of_writer(
		state,
		&(struct row){.where = NO_PREEMPTION, .writer = {UNLINK_RBX, POISON_PREV, KFREE_RBX, RET}, .reader = FOLLOWS});

	bench_expect_not(b, RULE);
}

/* The banner shows no preemption only if it has the number of the build and its flags, for all kernels of the races. */
static void banners(void **state)
{
	static const char *const preemptible[] = {
		"Linux version 6.1.0-32-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC Debian 6.1.129-1",
		"Linux version 5.10.0-rt (a@b) #1 SMP PREEMPT_RT Mon Jan 1 00:00:00 UTC 2024",
		"Linux version 5.10.0",
		NULL,
	};
	const struct row row = {.where = NO_PREEMPTION, .writer = ADD_RAX, .reader = FOLLOWS};
	struct bench *b = part_of_writer(state, &row);

	bench_expect(b, VERDICT_UNCLEAR, RULE);
	for (unsigned i = 0; i < ROWS(preemptible); i++) {
		prune_rules_set_kernel(b->rules, preemptible[i]);
		bench_expect_not(b, RULE);
		prune_rules_add_kernel(b->rules, WITHOUT_PREEMPTION);
		bench_expect_not(b, RULE);
	}
	prune_rules_set_kernel(b->rules, WITHOUT_PREEMPTION);
	prune_rules_add_kernel(b->rules, WITHOUT_PREEMPTION);
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void expect(struct bench *b, const struct row *row)
{
	if (row->rule)
		bench_expect(b, row->class, row->rule);
	else
		bench_expect_not(b, RULE);
	if (row->says)
		bench_says(b, row->says);
}

static void test_row(void **state)
{
	const struct row *row = ((struct bench *)*state)->row;

	expect(pointer(state, row), row);
}

/* The first row, which is right in every way. */
static struct bench *right(void **state)
{
	return pointer(state, &rows[0]);
}

/*
 * What is raced on is no pointer, so no rule of RCU fits. A free that the reader is waited for does not count against the pair,
 * and one that the reader is not waited for does.
 */
static struct bench *number(void **state, enum where where, const struct step *writer)
{
	struct row row = {.where = where, .reader = {I("\x90"), READ_RAX, RET}};
	struct bench *b;

	memcpy(row.writer, writer, sizeof(row.writer));
	b = pointer(state, &row);
	bench_type(b, "unsigned long");
	for (unsigned i = 0; i < b->race->kept; i++)
		set_value(&b->race->instances[i], 5 + i % 2, 9);
	return b;
}

static void expect_freed(struct bench *b, bool afterwards)
{
	struct verdict verdict;

	prune_race(b->rules, b->race, &verdict);
	assert_int_equal(verdict.class, VERDICT_HARMFUL);
	assert_int_equal(verdict.rule == RULE_FREED_AFTERWARDS, afterwards);
	assert_int_equal(strstr(verdict.evidence, "only after a grace period, which waits for") != NULL, !afterwards);
}

/* What is freed cannot be a variable, nor what a number in it points to. */
static void test_number_in_a_variable(void **state)
{
	static const struct step frees[STEPS_MAX] = {OLD_RBX, PUBLISH_RAX, KFREE_RBX, RET};
	static const enum guest_memory_kind variables[] = {GUEST_MEMORY_KERNEL, GUEST_MEMORY_MODULE, GUEST_MEMORY_PER_CPU};
	struct verdict verdict;
	struct bench *b;

	for (unsigned i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		b = number(state, OUTSIDE, frees);
		b->race->first.memory.kind = variables[i];
		strcpy(b->race->first.memory.symbol.name, "a_variable");
		prune_race(b->rules, b->race, &verdict);
		assert_int_not_equal(verdict.rule, RULE_FREED_AFTERWARDS);
		assert_null(strstr(verdict.evidence, "kfree"));
	}
	/* A dynamic per-CPU allocation has no symbol, and can be freed. */
	b = number(state, OUTSIDE, frees);
	b->race->first.memory.kind = GUEST_MEMORY_PER_CPU;
	b->race->first.memory.symbol.name[0] = '\0';
	prune_race(b->rules, b->race, &verdict);
	assert_int_equal(verdict.rule, RULE_FREED_AFTERWARDS);
}

static void test_number_in_an_object_that_is_freed(void **state)
{
	static const struct step later[STEPS_MAX] = {OLD_RBX, PUBLISH_RAX, KFREE_RCU_RBX, RET};
	static const struct step behind[STEPS_MAX] = {OLD_RBX, PUBLISH_RAX, CALL("synchronize_rcu"), KFREE_RBX, RET};
	static const struct step before_grace[STEPS_MAX] = {OLD_RBX, PUBLISH_RAX, KFREE_RBX, RET};
	static const struct step both[STEPS_MAX] = {OLD_RBX, PUBLISH_RAX, KFREE_RBX, KFREE_RCU_RBX, RET};
	struct bench *b;

	expect_freed(number(state, SECTION, later), false);
	expect_freed(number(state, SECTION, behind), false);
	expect_freed(number(state, PREEMPTION_OFF, later), false);
	expect_freed(number(state, SECTION, before_grace), true);
	expect_freed(number(state, SECTION, both), true);
	expect_freed(number(state, OUTSIDE, later), true);
	expect_freed(number(state, UNKNOWN, later), true);
	b = number(state, SECTION, later);
	b->race->rw[b->reader] = INSN_READ | INSN_WRITE;
	expect_freed(b, true);
	b = number(state, SECTION, later);
	stand(&b->race->instances[b->race->kept - 1].sides[b->reader].context, OUTSIDE);
	expect_freed(b, true);
}

static void test_one_instance_outside_a_section(void **state)
{
	struct bench *b = right(state);

	stand(&b->race->instances[b->race->kept - 1].sides[b->reader].context, OUTSIDE);
	bench_expect(b, VERDICT_HARMFUL, "reader-outside-rcu");
}

static void test_sleepable_by_its_mark(void **state)
{
	struct bench *b = right(state);

	stand(&b->race->instances[b->race->kept - 1].sides[b->reader].context, OUTSIDE);
	bench_lines(b, "a.c", 2);
	bench_source(b, "\tp = srcu_dereference(it->link, &sections);\n");
	bench_expect_not(b, "reader-outside-rcu");
	bench_source(b, "\tp = rcu_dereference(it->link);\n");
	bench_expect(b, VERDICT_HARMFUL, "reader-outside-rcu");
}

static void test_one_instance_of_which_nothing_is_known(void **state)
{
	struct bench *b = right(state);

	stand(&b->race->instances[b->race->kept - 1].sides[b->reader].context, UNKNOWN);
	bench_expect(b, VERDICT_UNCLEAR, RULE);
}

static void test_values_that_are_no_pointers(void **state)
{
	struct bench *b = right(state);

	bench_type(b, "unsigned long");
	set_value(&b->race->instances[0], 0, 12345);
	bench_expect_not(b, RULE);
}

static void test_poison_is_no_pointer(void **state)
{
	struct bench *b = right(state);

	set_value(&b->race->instances[0], 0xffff888012345678, 0xdead000000000100);
	bench_expect_not(b, RULE);
}

static void test_new_object_where_there_was_null(void **state)
{
	static const struct step writer[] = {NEW, PUBLISH_RAX, RET, {0}};
	struct bench *b = right(state);

	take(b, b->writer, writer);
	bench_expect_not(b, RULE);
	for (unsigned i = 0; i < b->race->kept; i++)
		set_value(&b->race->instances[i], 0, 0xffff888012345678);
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "where there was NULL");
}

static void test_part_of_the_pointer(void **state)
{
	struct bench *b = right(state);

	bench_side(b, b->reader)->size = 4;
	bench_expect_not(b, RULE);
}

static void test_two_writers(void **state)
{
	struct bench *b = right(state);

	b->race->rw[b->reader] = INSN_WRITE;
	take(b, b->reader, rows[0].writer);
	bench_expect_not(b, RULE);
}

static void test_two_updaters_of_which_one_reads(void **state)
{
	static const struct step updater[] = {NEW, READ_RBX, I("\x48\x89\x04\x25\x00\x10\x00\x00"), KFREE_RCU_RBX, RET, {0}};
	struct bench *b = right(state);

	take(b, b->reader, updater);
	bench_expect_not(b, RULE);
}

/* Code that was not kept may free at once. */
static void test_writer_that_goes_on(void **state)
{
	struct bench *b = right(state);

	bench_side(b, b->writer)->symbol.size += 64;
	bench_side(b, b->writer)->code_len -= 1;
	bench_expect_class(b, VERDICT_UNCLEAR);
}

/* Code that was not kept may go through the pointer. Within the section it may do so. */
static void test_reader_that_goes_on(void **state)
{
	static const struct step behind[] = {READ_RBX, UNLOCK, I("\x31\xc0"), RET, {0}},
				 inside[] = {READ_RBX, I("\x31\xc0"), RET, {0}};
	struct bench *b = right(state);

	take(b, b->reader, inside);
	bench_side(b, b->reader)->symbol.size += 64;
	bench_side(b, b->reader)->code_len -= 1;
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	take(b, b->reader, behind);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_side(b, b->reader)->symbol.size += 64;
	bench_side(b, b->reader)->code_len -= 1;
	bench_expect(b, VERDICT_UNCLEAR, RULE);
	bench_says(b, "still has the pointer after the end of its RCU section");
}

/* A pointer that is only compared with NULL leads nowhere. It need not be read in a section. */
static void test_mere_test_outside_a_section(void **state)
{
	/* mov 0x1000,%rax; test %rax,%rax; je 1f; 1: xor %eax,%eax; ret */
	static const struct step reader[] = {READ_RAX, I("\x48\x85\xc0\x74\x00\x31\xc0"), RET, {0}};
	struct bench *b = right(state);

	take(b, b->reader, reader);
	stand(&bench_side(b, b->reader)->context, OUTSIDE);
	bench_expect_not(b, "reader-outside-rcu");
}

/* A new object that is freed because it cannot be used was never shown to a reader, in a loop neither. */
static void test_private_object_freed_in_a_loop(void **state)
{
	static const struct step writer[] = {CALL("kmalloc_trace"),
					     I("\x48\x89\xc5"), /* mov %rax,%rbp */
					     I("\x84\xd2\x74\x0a"),
					     I("\x48\x89\xef"), /* test %dl,%dl; je 1f; mov %rbp,%rdi */
					     CALL("kfree"),
					     I("\xeb\xea"), /* jmp to the start */
					     OLD_RBX,
					     ACCESS("\x48\x89\x2c\x25\x00\x10\x00\x00"), /* 1: mov %rbp,0x1000 */
					     KFREE_RCU_RBX,
					     I("\xeb\xcf"),
					     {0}}; /* jmp to the start */
	struct bench *b = right(state);

	take(b, b->writer, writer);
	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
}

/* ---- marks ---- */

static void in_source(struct bench *b, unsigned side, unsigned line)
{
	struct race_names *names = b->race->names;

	for (size_t i = 0; i < names->count; i++) {
		if (names->lines[i].side == side) {
			strcpy(names->lines[i].file, "a.c");
			names->lines[i].line = line;
		}
	}
}

/* The reader is in line 2 and the writer in line 3. */
static struct bench *with_source(void **state, enum where where, const char *member, const char *source)
{
	struct bench *b = right(state);

	stand(&bench_side(b, b->reader)->context, where);
	for (unsigned i = 0; i < b->race->kept; i++)
		stand(&b->race->instances[i].sides[b->reader].context, where);
	bench_datum(b, "it", "struct it", member);
	bench_source(b, source);
	in_source(b, b->reader, 2);
	in_source(b, b->writer, 3);
	return b;
}

static void test_reader_known_by_its_mark(void **state)
{
	struct bench *b = with_source(state, UNKNOWN, "link", "\tp = rcu_dereference(it->link);\n\tit->link = fresh;");

	bench_expect(b, VERDICT_SYNCHRONISATION, RULE);
	bench_says(b, "by rcu_dereference() at a.c:2");
}

static void test_list_macro_marks_the_link(void **state)
{
	static const struct step writer[] = {PUBLISH_RAX, RET, {0}};
	const char *source = "\tlist_for_each_entry_rcu(p, &it->list, node)\n\trcu_assign_pointer(it->next, fresh);";
	struct bench *b = with_source(state, UNKNOWN, "next", source);

	take(b, b->writer, writer);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
	bench_says(b, "list_for_each_entry_rcu() at a.c:2");
}

static void test_marks_do_not_make_up_for_the_section(void **state)
{
	const char *source = "\tp = rcu_dereference(it->link);\n\trcu_assign_pointer(it->link, fresh);";
	struct bench *b = with_source(state, OUTSIDE, "link", source);

	bench_expect(b, VERDICT_HARMFUL, "reader-outside-rcu");
}

static void test_marks_do_not_make_up_for_kfree(void **state)
{
	static const struct step writer[] = {NEW, OLD_RBX, PUBLISH_RAX, KFREE_RBX, RET, {0}};
	const char *source = "\tp = rcu_dereference(it->link);\n\trcu_assign_pointer(it->link, fresh);";
	struct bench *b = with_source(state, SECTION, "link", source);

	take(b, b->writer, writer);
	bench_expect(b, VERDICT_HARMFUL, "freed-under-readers");
}

static void test_access_without_a_section_that_needs_none(void **state)
{
	static const struct step reader[] = {READ_RAX, I("\x48\x85\xc0\x74\x00\x31\xc0"), RET, {0}};
	const char *source = "\tif (rcu_access_pointer(it->link))\n\trcu_assign_pointer(it->link, fresh);";
	struct bench *b = with_source(state, OUTSIDE, "link", source);

	take(b, b->reader, reader);
	bench_expect(b, VERDICT_SYNCHRONISATION, "marked-accesses");
}

/* The updater's own read in rcu_replace_pointer() is a plain one, which its lock guards. */
static void test_replacing_marks_no_read(void **state)
{
	const char *source = "\told = rcu_replace_pointer(it->link, fresh, 1);\n\trcu_assign_pointer(it->link, fresh);";
	struct bench *b = with_source(state, OUTSIDE, "link", source);

	bench_expect_not(b, "marked-accesses");
}

/* Two updaters at once break the list, whatever their stores are marked by. */
static void test_what_an_updater_reads_is_not_marked(void **state)
{
	static const struct step writer[] = {PUBLISH_RAX, RET, {0}};
	static const char *const updaters[] = {"list_del_rcu", "list_replace_rcu"};
	struct bench *b = right(state);

	take(b, b->writer, writer);
	for (size_t i = 0; i < ROWS(updaters); i++) {
		bench_inlined(b, b->reader, updaters[i]);
		bench_inlined(b, b->writer, "list_add_rcu");
		stand(&bench_side(b, b->reader)->context, UNKNOWN);
		bench_expect_not(b, "marked-accesses");
	}
}

int main(void)
{
	const struct CMUnitTest others[] = {
		BENCH_TEST(test_number_in_an_object_that_is_freed),
		BENCH_TEST(test_number_in_a_variable),
		BENCH_TEST(test_one_instance_outside_a_section),
		BENCH_TEST(test_sleepable_by_its_mark),
		BENCH_TEST(test_one_instance_of_which_nothing_is_known),
		BENCH_TEST(test_values_that_are_no_pointers),
		BENCH_TEST(test_poison_is_no_pointer),
		BENCH_TEST(test_new_object_where_there_was_null),
		BENCH_TEST(test_part_of_the_pointer),
		BENCH_TEST(test_two_writers),
		BENCH_TEST(test_two_updaters_of_which_one_reads),
		BENCH_TEST(test_writer_that_goes_on),
		BENCH_TEST(test_reader_that_goes_on),
		BENCH_TEST(test_mere_test_outside_a_section),
		BENCH_TEST(test_private_object_freed_in_a_loop),
		BENCH_TEST(test_reader_known_by_its_mark),
		BENCH_TEST(test_list_macro_marks_the_link),
		BENCH_TEST(test_marks_do_not_make_up_for_the_section),
		BENCH_TEST(test_marks_do_not_make_up_for_kfree),
		BENCH_TEST(test_access_without_a_section_that_needs_none),
		BENCH_TEST(test_replacing_marks_no_read),
		BENCH_TEST(test_what_an_updater_reads_is_not_marked),
		BENCH_TEST(part_of_an_addition),
		BENCH_TEST(part_of_an_addition_to_a_table),
		BENCH_TEST(part_of_a_store),
		BENCH_TEST(part_of_a_removal),
		BENCH_TEST(part_of_a_plain_removal),
		BENCH_TEST(part_of_a_removal_that_frees),
		BENCH_TEST(banners),
	};
	struct CMUnitTest tests[ROWS(rows) + ROWS(others)];

	for (size_t i = 0; i < ROWS(rows); i++)
		tests[i] = BENCH_ROW(rows[i].shows, test_row, &rows[i]);
	memcpy(tests + ROWS(rows), others, sizeof(others));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
