// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether code decides by what an instruction reads. The codes are of gcc 12 -O2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hv/detect/locks/decision.h"
#include "hv/detect/locks/decision_bits.h"
#include "hv/detect/locks/decision_results.h"
#include "hv/detect/locks/decision_test.h"
#include "symbols/insn/insn.h"

#define ADDR UINT64_C(0xffffffffc0001000)

static int setup(void **state)
{
	*state = insn_decoder_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	insn_decoder_free(*state);
	return 0;
}

#define CODE(code) (&(const struct decision_code){(const uint8_t *)(code), sizeof(code) - 1, ADDR})
#define DECIDES(code) decision_by(*state, CODE(code), ADDR)
#define CALL "\xe8\0\0\0\0"
#define RET "\xc3"

static void comparing_memory(void **state)
{
	assert_true(DECIDES("\x48\x83\x3f\x07\x76\x02" RET)); /* cmpq $7,(%rdi); jbe */
	assert_true(DECIDES("\xf6\x07\x01\x75\x02" RET));     /* testb $1,(%rdi); jne */
	assert_false(DECIDES("\x48\x83\x3f\x07" RET));	      /* cmpq $7,(%rdi); ret */
}

static void comparing_what_was_loaded(void **state)
{
	assert_true(DECIDES("\x48\x8b\x07\x48\x85\xc0\x74\x02" RET)); /* mov (%rdi),%rax; test %rax,%rax; je */
	/* mov (%rdi),%eax; and $3,%eax; je */
	assert_true(DECIDES("\x8b\x07\x83\xe0\x03\x74\x02" RET));
	/* mov (%rdi),%rax; mov %rax,%rdx; cmp $6,%rdx; seta %al */
	assert_true(DECIDES("\x48\x8b\x07\x48\x89\xc2\x48\x83\xfa\x06\x0f\x97\xc0" RET));
	/* mov (%rdi),%rax; cmp %rsi,%rdx; je: it compares others */
	assert_false(DECIDES("\x48\x8b\x07\x48\x39\xf2\x74\x02" RET));
	/* mov (%rdi),%rax; xor %eax,%eax; test %esi,%esi; je */
	assert_false(DECIDES("\x48\x8b\x07\x31\xc9\x85\xf6\x74\x00" RET));
}

/* As in "full = len >= MAX; spin_unlock(); if (full)": the comparison comes after the call. */
static void comparing_after_a_call(void **state)
{
	assert_true(DECIDES("\x48\x8b\x1f" CALL "\x48\x83\xfb\x06\x76\x02" RET));  /* mov (%rdi),%rbx; call; cmp $6,%rbx; jbe */
	assert_false(DECIDES("\x48\x8b\x07" CALL "\x48\x83\xf8\x06\x76\x02" RET)); /* rax is the call's result */
	assert_true(DECIDES("\x4c\x8b\x27" CALL "\x4d\x85\xe4\x74\x02" RET));	   /* r12 */
}

static void values_that_are_only_used(void **state)
{
	/* mov (%rdi),%rax; lea (%rax,%rax,2),%rax; mov %rax,(%rdi); ret */
	assert_false(DECIDES("\x48\x8b\x07\x48\x8d\x04\x40\x48\x89\x07" RET));
	/* mov (%rdi),%rax; mov (%rax),%rcx; test %rcx,%rcx; je: what the pointer leads to is compared, not the pointer */
	assert_false(DECIDES("\x48\x8b\x07\x48\x8b\x08\x48\x85\xc9\x74\x02" RET));
	/* addq $1,(%rdi); jne: an update in place */
	assert_false(DECIDES("\x48\x83\x07\x01\x75\x02" RET));
	/* mov %rax,(%rdi); jne: a store */
	assert_false(DECIDES("\x48\x89\x07\x75\x02" RET));
}

static void jumps_and_ends(void **state)
{
	/* mov (%rdi),%rax; jmp +2; (two bytes); test %rax,%rax; je */
	assert_true(DECIDES("\x48\x8b\x07\xeb\x02\x0f\x0b\x48\x85\xc0\x74\x00" RET));
	/* mov (%rdi),%rax; jmp out of the bytes */
	assert_false(DECIDES("\x48\x8b\x07\xe9\x00\x01\x00\x00\x48\x85\xc0\x74\x00"));
	assert_false(DECIDES("\x48\x8b\x07\xc3\x48\x85\xc0\x74\x00"));
	/* cut off, and no instruction at all */
	assert_false(DECIDES("\x48\x8b\x07\x48\x85"));
	assert_false(DECIDES("\x06"));
	/* jmp to itself */
	assert_false(DECIDES("\x48\x8b\x07\xeb\xfe"));
	/* cmp $1,%eax; jne; ret | mov 0x50(%rbx),%eax; jmp back: the load comes after the comparison in the code */
	assert_true(decision_by(*state, CODE("\x83\xf8\x01\x75\x00" RET "\x8b\x43\x50\xeb\xf5"), ADDR + 6));
	assert_false(decision_by(*state, CODE("\x83\xf9\x01\x75\x00" RET "\x8b\x43\x50\xeb\xf5"), ADDR + 6));
}

#define BITS(code) decision_bits(*state, CODE(code), ADDR)

static void deciding_by_some_bits(void **state)
{
	/* mov 0xe8(%rbx),%ebp; and $0x2405,%ebp; call; test %ebp,%ebp; jne +0; pop %rbp; ret: xfs_inode_mark_reclaimable() */
	assert_int_equal(BITS("\x8b\xab\xe8\0\0\0\x81\xe5\x05\x24\0\0" CALL "\x85\xed\x75\x00\x5d" RET), 0x2405);
	/* testb $0x20,(%rdi); jne +0; ret */
	assert_int_equal(BITS("\xf6\x07\x20\x75\x00" RET), 0x20);
	/* mov (%rdi),%rcx; test $4,%cl; je to the last ret; test $8,%ch; je; ret; ret: on both paths */
	assert_int_equal(BITS("\x48\x8b\x0f\xf6\xc1\x04\x74\x06\xf6\xc5\x08\x74\x01" RET RET), 0x804);
	/* mov (%rdi),%rdx; bt $5,%rdx; jae +0; ret */
	assert_int_equal(BITS("\x48\x8b\x17\x48\x0f\xba\xe2\x05\x73\x00" RET), 0x20);
	/* mov (%rdi),%edx; mov %edx,%ecx; or $1,%ecx; mov %ecx,(%rdi); test $2,%dl; jne +0; ret */
	assert_int_equal(BITS("\x8b\x17\x89\xd1\x83\xc9\x01\x89\x0f\xf6\xc2\x02\x75\x00" RET), 2);
	/* mov (%rdi),%rax; and $1,%eax; test %rax,%rax; je +0; xor %eax,%eax; ret: the upper half is cleared */
	assert_int_equal(BITS("\x48\x8b\x07\x83\xe0\x01\x48\x85\xc0\x74\x00\x31\xc0" RET), 1);
	/* mov (%rdi),%rax; and $1,%al; test %eax,%eax; je +0; xor %eax,%eax; ret: only the low byte is changed */
	assert_int_equal(BITS("\x48\x8b\x07\x24\x01\x85\xc0\x74\x00\x31\xc0" RET), 0xffffff01);
	/* mov (%rdi),%r13d; jmp away: the value is in no register with an argument of the called function, nor its result */
	assert_int_equal(BITS("\x44\x8b\x2f\xe9\0\x10\0\0"), 0);
}

static void deciding_by_all_bits(void **state)
{
	/* mov (%rdi),%edx; cmp $3,%edx; je +0; ret: all bits of the value */
	assert_int_equal(BITS("\x8b\x17\x83\xfa\x03\x74\x00" RET), 0xffffffff);
	/* mov (%rdi),%edx; and $6,%edx; call: it passes two bits on */
	assert_int_equal(BITS("\x8b\x17\x83\xe2\x06" CALL RET), 6);
	/* mov (%rdi),%eax; and $1,%eax; ret: it returns one bit */
	assert_int_equal(BITS("\x8b\x07\x83\xe0\x01" RET), 1);
	/* mov (%rdi),%eax; shr $4,%eax; test $1,%al; je +0; xor %eax,%eax; ret: a shift moves the bits */
	assert_int_equal(BITS("\x8b\x07\xc1\xe8\x04\xa8\x01\x74\x00\x31\xc0" RET), 0xffffffff);
	/* mov (%rdi),%ecx; mov %ecx,8(%rsp): it may be loaded from there; and code that is cut off */
	assert_true(BITS("\x8b\x0f\x89\x4c\x24\x08" RET) == UINT64_MAX);
	assert_true(BITS("\x8b\x0f\xf6\xc1\x04") == UINT64_MAX);
	/* movzbl (%rdi),%eax; test $0x80,%al; jne +0; and $7,%eax; cmpb $0,tab(%rax); je +0; xor %eax,%eax; ret: an index */
	assert_int_equal(BITS("\x0f\xb6\x07\xa8\x80\x75\x00\x83\xe0\x07\x80\xb8\0\x10\0\0\0\x74\x00\x31\xc0" RET), 0x87);
	/* mov (%rdi),%ebx; test $8,%bl; jne +0; and $7,%ebx; jmp *tab(,%rbx,8) */
	assert_int_equal(BITS("\x8b\x1f\xf6\xc3\x08\x75\x00\x83\xe3\x07\xff\x24\xdd\0\x10\0\0"), 0xf);
	/* mov (%rdi),%ecx; test $4,%dl; jne +0; jrcxz +0; ret */
	assert_int_equal(BITS("\x8b\x0f\xf6\xc2\x04\x75\x00\xe3\x00" RET), 0xffffffff);
	/* L: mov (%rdi),%eax; test $1,%al; jne out; test $4,%dl; jne out; mov %eax,%edx; jmp L; out: xor %eax,%eax; ret */
	assert_int_equal(BITS("\x8b\x07\xa8\x01\x75\x09\xf6\xc2\x04\x75\x04\x89\xc2\xeb\xf1\x31\xc0" RET), 5);
	/* mov (%rdi),%edx; bt $37,%edx; jae +0; xor %edx,%edx; ret: the number of the bit is taken modulo 32 */
	assert_int_equal(BITS("\x8b\x17\x0f\xba\xe2\x25\x73\x00\x31\xd2" RET), 0x20);
	/* cmpl $3,(%rdi); je */
	assert_true(BITS("\x83\x3f\x03\x74\x00" RET) == UINT64_MAX);
}

static struct lock_test test_of(struct insn_decoder *decoder, const struct decision_code *code)
{
	struct lock_test test;

	decision_test(decoder, code, ADDR, &test);
	return test;
}

static void looking_for_a_value(void **state)
{
#define LOOKS_FOR(code, wanted_mask, wanted_value)                                       \
	do {                                                                             \
		const struct lock_test test = test_of(*state, CODE(code));               \
		assert_true(test.known);                                                 \
		assert_true(test.mask == (wanted_mask) && test.value == (wanted_value)); \
	} while (0)
	/* mov (%rdi),%rax; test %rax,%rax; je: a pointer */
	LOOKS_FOR("\x48\x8b\x07\x48\x85\xc0\x74\x00" RET, UINT64_MAX, 0);
	/* movzbl (%rdi),%edx; mov %rsi,%rbx; cmp $3,%dl; jne */
	LOOKS_FOR("\x0f\xb6\x17\x48\x89\xf3\x80\xfa\x03\x75\x00" RET, 0xff, 3);
	/* mov (%rbx),%ebp; and $0x2405,%ebp; call; test %ebp,%ebp; jne */
	LOOKS_FOR("\x8b\x2b\x81\xe5\x05\x24\0\0" CALL "\x85\xed\x75\x00" RET, 0x2405, 0);
	/* mov (%rdi),%eax; mov %eax,%edx; and $6,%edx; je */
	LOOKS_FOR("\x8b\x07\x89\xc2\x83\xe2\x06\x74\x00" RET, 6, 0);
	/* mov (%rdi),%rax; test $0x40,%ah; jne +0 */
	LOOKS_FOR("\x48\x8b\x07\xf6\xc4\x40\x75\x00" RET, 0x4000, 0);
	/* mov (%rdi),%rax; bt $33,%rax; jb */
	LOOKS_FOR("\x48\x8b\x07\x48\x0f\xba\xe0\x21\x72\x00" RET, UINT64_C(1) << 33, 0);
	/* mov (%rdi),%eax; mov %eax,%ebx; test %eax,%eax; mov $-22,%eax; je; cmp $3,%ebx; je */
	LOOKS_FOR("\x8b\x07\x89\xc3\x85\xc0\xb8\xea\xff\xff\xff\x74\x00\x83\xfb\x03\x74\x00" RET, 0xffffffff, 0);
	/* cmpl $5,(%rdi); je; testb $2,(%rdi); jne */
	LOOKS_FOR("\x83\x3f\x05\x74\x00" RET, 0xffffffff, 5);
	LOOKS_FOR("\xf6\x07\x02\x75\x00" RET, 2, 0);
}

static void looking_for_something_else(void **state)
{
	const struct decision_code *const codes[] = {
		CODE("\x8b\x07\x83\xf8\x06\x77\x00" RET),		  /* mov (%rdi),%eax; cmp $6,%eax; ja */
		CODE("\x8b\x07\x39\xf0\x74\x00" RET),			  /* mov (%rdi),%eax; cmp %esi,%eax; je */
		CODE("\x8b\x07\x39\xc6\x74\x00\x85\xc0\x74\x00" RET),	  /* cmp %eax,%esi; je; test %eax,%eax; je */
		CODE("\x8b\x07\x85\xc0\x0f\x94\xc0" RET),		  /* mov (%rdi),%eax; test %eax,%eax; sete %al */
		CODE("\x8b\x07" CALL "\x85\xc0\x74\x00" RET),		  /* of the call's result */
		CODE("\x8b\x07\xc1\xe8\x04\xa8\x01\x74\x00" RET),	  /* mov (%rdi),%eax; shr $4,%eax; test $1,%al; je */
		CODE("\x48\x8b\x07\x48\x8b\x08\x48\x85\xc9\x74\x00" RET), /* of what the pointer leads to */
		CODE("\x89\x07\x85\xc0\x74\x00" RET),			  /* mov %eax,(%rdi); test %eax,%eax; je */
		CODE("\x8b\x07\x85\xc0"),
		/* mov (%rdi),%eax; lea -5(%rax),%edx; and $0xfb,%edx; jne; test $0x100,%eax; jne: u8 is 5 or 9, and then bit 8
		 */
		CODE("\x8b\x07\x8d\x50\xfb\x81\xe2\xfb\0\0\0\x75\x00\xa9\0\x01\0\0\x75\x00" RET),
		/* mov (%rbx),%rbx; mov %rbx,%rdi; call; test %eax,%eax; jne; test %rbx,%rbx; je */
		CODE("\x48\x8b\x1b\x48\x89\xdf" CALL "\x85\xc0\x75\x00\x48\x85\xdb\x74\x00" RET),
		/* mov (%rdi),%rax; mov %eax,%edx; test %edx,%edx; je: the low half */
		CODE("\x48\x8b\x07\x89\xc2\x85\xd2\x74\x00" RET),
		/* mov (%rdi),%eax; movzbl %ah,%ecx; test %ecx,%ecx; je */
		CODE("\x8b\x07\x0f\xb6\xcc\x85\xc9\x74\x00" RET),
		/* mov (%rdi),%eax; mov %eax,%edx; and $7,%edx; test $8,%al; jne; cmp $2,%edx; je: the first branch is by bit 3
		 */
		CODE("\x8b\x07\x89\xc2\x83\xe2\x07\xa8\x08\x75\x00\x83\xfa\x02\x74\x00" RET),
		/* mov (%rdi),%eax; mov %eax,8(%rsp); cmpl $5,8(%rsp); je; test %eax,%eax; je */
		CODE("\x8b\x07\x89\x44\x24\x08\x83\x7c\x24\x08\x05\x74\x00\x85\xc0\x74\x00" RET),
	};

	for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		assert_false(test_of(*state, codes[i]).known);
}

/* The function that the codes return through by a jump begins where a code ends, or 0x1000 bytes further. */
static bool is_thunk(void *ctx, uint64_t gva)
{
	return gva == *(const uint64_t *)ctx;
}

static bool same_results(struct insn_decoder *decoder, const struct decision_code *code)
{
	uint64_t thunk = code->addr + code->len;
	const struct decision_returns returns = {is_thunk, &thunk};

	return decision_same_results(decoder, code, ADDR, &returns);
}

/* mov (%rdi),%rax; test %rax,%rax; je to the search; cmp %esi,(%rax); je to "found": the entry that was found last. */
#define LOOK_AT_LAST(search, found) "\x48\x8b\x07\x48\x85\xc0\x74" search "\x39\x30\x74" found
#define RETURN(n) "\xb8" n "\0\0\0" RET /* mov $n,%eax; ret */

static void the_same_results_either_way(void **state)
{
	/* the search: call; test %eax,%eax; jne to "found" */
	assert_true(same_results(*state, CODE(LOOK_AT_LAST("\x04", "\x0f") CALL "\x85\xc0\x75\x06" RETURN("\0") RETURN("\1"))));
	/* the same, with the results in another register first, and one return for both */
	assert_true(same_results(*state, CODE(LOOK_AT_LAST("\x04", "\x0d") CALL "\x85\xc0\x75\x04\x31\xdb\xeb\x05\xbb\1\0\0\0"
										"\x89\xd8\x5b" RET)));
	/* and with a return by a jump to an address after the end of the code */
	assert_true(same_results(*state, CODE(LOOK_AT_LAST("\x04", "\x0d") CALL "\x85\xc0\x75\x04\x31\xdb\xeb\x05\xbb\1\0\0\0"
										"\x89\xd8\xe9\0\0\0\0")));
	/* no je: cmp %rsi,(%rdi); jb to the search */
	assert_true(same_results(
		*state, CODE("\x48\x39\x37\x72\x04\x39\x30\x74\x0f" CALL "\x85\xc0\x75\x06" RETURN("\0") RETURN("\1"))));
	/* a loop: L: mov (%rdx),%rdx; cmp %esi,8(%rdx); je found; test %rdx,%rdx; jne L */
	assert_true(same_results(
		*state, CODE(LOOK_AT_LAST("\x04", "\x13") "\x48\x8b\x12\x39\x72\x08\x74\x0b\x48\x85\xd2\x75\xf3" RETURN("\0")
				     RETURN("\1"))));
	/* the code after "found" ends in a ud2 if something is wrong, and that is the code's end */
	assert_true(same_results(*state, CODE(LOOK_AT_LAST("\x04", "\x0f") CALL
					      "\x85\xc0\x75\x06" RETURN("\0") "\x85\xc9\x74\x06" RETURN("\1") "\x0f\x0b")));
}

static void other_results(void **state)
{
	const struct decision_code *const codes[] = {
		/* the full queue: mov (%rdi),%eax; cmp $7,%eax; je; return 0 | return 1 */
		CODE("\x8b\x07\x83\xf8\x07\x74\x06" RETURN("\0") RETURN("\1")),
		/* the last one is found if it has the key: cmp 0x1c(%rbx),%edx; jb to "found" */
		CODE("\x3b\x53\x1c\x72\x0f" CALL "\x85\xc0\x75\x06" RETURN("\0") RETURN("\1")),
		/* it finds nothing if there is no last one */
		CODE(LOOK_AT_LAST("\x0a", "\x06") RETURN("\1") RETURN("\0") RETURN("\0")),
		/* one way has a third result */
		CODE(LOOK_AT_LAST("\x04", "\x15") CALL "\x85\xc0\x75\x06" RETURN("\0") RETURN("\1") RETURN("\2")),
		/* both ways return 1: then the result says nothing, and the caller decides by something else */
		CODE(LOOK_AT_LAST("\x04", "\x06") RETURN("\1") RETURN("\1")),
		/* a flag of one byte: test; je; mov $1,%ebp; jmp; xor %ebp,%ebp; call; test %bpl,%bpl; je; 1; 0 */
		CODE("\x48\x8b\x07\x48\x85\xc0\x74\x07\xbd\1\0\0\0\xeb\x02\x31\xed" CALL "\x40\x84\xed\x74\x06" RETURN("\1")
			     RETURN("\0")),
		/* a flag on the stack: movb $0,8(%rsp) on one way; cmpb $0,8(%rsp); je */
		CODE("\x48\x8b\x07\x48\x85\xc0\x74\x05\xc6\x44\x24\x08\0\x80\x7c\x24\x08\0\x74\x06" RETURN("\1") RETURN("\0")),
		/* mov (%rdi),%ebx; test; je +0; mov %ebx,%edi; call; test %eax,%eax; je: the callee decides by the value */
		CODE("\x8b\x1f\x85\xdb\x74\x00\x89\xdf" CALL "\x85\xc0\x74\x06" RETURN("\1") RETURN("\0")),
		/* mov (%rdi),%ebx; test; je over cmp $5,%ebx; je to 0; then call; test; je to 0; 1; 0: it decides once more */
		CODE("\x8b\x1f\x85\xdb\x74\x05\x83\xfb\x05\x74\x0f" CALL "\x85\xc0\x74\x06" RETURN("\1") RETURN("\0")),
		/* je X; call; test; je Z; 1; X: test %ecx,%ecx; jne Y; ud2; Z: 0; Y: 1: after the ud2 comes the code of another
		   way */
		CODE("\x48\x8b\x07\x48\x85\xc0\x74\x0f" CALL
		     "\x85\xc0\x74\x0c" RETURN("\1") "\x85\xc9\x75\x08\x0f\x0b" RETURN("\0") RETURN("\1")),
		/* L: call; mov (%rdi),%eax; test; je L; test; je; 1; 0: it waits until the value is the right one */
		CODE("\x8b\x07\x85\xc0\x75\x07" CALL "\xeb\xf3\x85\xf6\x74\x06" RETURN("\1") RETURN("\0")),
		/* mov (%rdi),%edi; test %edi,%edi; je +0; jmp away with the value */
		CODE("\x8b\x3f\x85\xff\x74\x00\xe9\0\x10\0\0"),
		/* cmp $1,%rax; ja; cmp $1 again, by the same flags: je */
		CODE("\x48\x8b\x07\x48\x83\xf8\x01\x77\x02\x74\x06" RETURN("\0") RETURN("\0")),
		/* sete %cl: no branch */
		CODE("\x48\x8b\x07\x48\x85\xc0\x0f\x94\xc1" RETURN("\0")),
		/* the search returns what a call returned */
		CODE(LOOK_AT_LAST("\x04", "\x05") CALL RET RETURN("\1")),
		/* it returns what it read, or a register that the search may have set to anything */
		CODE(LOOK_AT_LAST("\x04", "\x08") CALL "\x89\xd8" RET RETURN("\1")),
		/* a tail call: it leads to another function than the return thunk */
		CODE(LOOK_AT_LAST("\x04", "\x0d") CALL "\x85\xc0\x75\x04\x31\xdb\xeb\x05\xbb\1\0\0\0\x89\xd8\xe9\0\x10\0\0"),
		/* an indirect jump */
		CODE(LOOK_AT_LAST("\x04", "\x0f") CALL "\x85\xc0\x75\x06" RETURN("\0") "\xff\xe0"),
		/* a branch to another function: je +0x1000 */
		CODE(LOOK_AT_LAST("\x04", "\x15") CALL "\x0f\x84\0\x10\0\0\x85\xc0\x75\x06" RETURN("\0") RETURN("\1")),
		/* the search's end knows that it found nothing: xor %ebx,%ebx; test %ebx,%ebx; jne */
		CODE(LOOK_AT_LAST("\x04", "\x0c") "\x31\xdb\x85\xdb\x75\x06" RETURN("\0") RETURN("\1")),
	};

	for (unsigned i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (same_results(*state, codes[i]))
			fail_msg("code %u", i);
	}
}

static void storing_back(void **state)
{
	/* movb $0,(%rsi): an inlined spin_unlock() */
	assert_false(decision_stores_back(*state, CODE("\x8b\x07\xc6\x06\x00\xff\x07" RET), ADDR));
#define STORES_BACK(code) decision_stores_back(*state, CODE(code), ADDR)
	/* mov 0x28(%r13),%rax; test $2,%al; je +0; or $1,%rax; mov %r15,%rdi; mov %rax,0x28(%r13): of
	 * jbd2_journal_commit_transaction() */
	assert_true(STORES_BACK("\x49\x8b\x45\x28\xa8\x02\x74\x00\x48\x83\xc8\x01\x4c\x89\xff\x49\x89\x45\x28" CALL RET));
	assert_true(STORES_BACK("\x8b\x07\x85\xc0\x74\x00\xff\x07" RET));  /* mov (%rdi),%eax; test; je +0; incl (%rdi) */
	assert_false(STORES_BACK("\x8b\x07" CALL "\xff\x07" RET));	   /* after a call */
	assert_false(STORES_BACK("\x8b\x07\x48\x89\xf7\xff\x07" RET));	   /* mov %rsi,%rdi: another object */
	assert_false(STORES_BACK("\x48\x8b\x3f\xff\x07" RET));		   /* mov (%rdi),%rdi: what the pointer leads to */
	assert_false(STORES_BACK("\x8b\x07\xff\x47\x04" RET));		   /* another member */
	assert_false(STORES_BACK("\x8b\x07\x66\xff\x07" RET));		   /* a part of it */
	assert_false(STORES_BACK("\x8b\x05\0\0\0\0\xff\x05\0\0\0\0" RET)); /* 0(%rip): another variable */
	assert_false(STORES_BACK("\x8b\x07\x8b\x17"));			   /* cut off */
}

/* The code after a call of a function that returns what it found. */
static void deciding_by_a_result(void **state)
{
#define BY_RESULT(code) decision_by_result(*state, (const uint8_t *)(code), sizeof(code) - 1, ADDR)
	assert_true(BY_RESULT("\x84\xc0\x74\x02" RET));			/* test %al,%al; je */
	assert_true(BY_RESULT("\x89\xc3" CALL "\x85\xdb\x75\x02" RET)); /* mov %eax,%ebx; call; test %ebx,%ebx; jne */
	assert_false(BY_RESULT(CALL "\x85\xc0\x75\x02" RET));		/* it decides by the next call's result */
	assert_false(BY_RESULT(RET));
}

/*
 * Returns whether the code from `at` on, which has an instruction that loads the next pointer of a list, is a loop along the
 * list. The loop begins `before` bytes earlier.
 */
static bool walks(struct insn_decoder *decoder, const char *code, size_t len, size_t before)
{
	struct decision_step step;
	uint64_t at = ADDR + before;

	return decision_loop(decoder, (const uint8_t *)code + before, len - before, at, &step) == ADDR &&
	       decision_links(decoder, (const uint8_t *)code, before, ADDR, &step);
}

static void steps_along_a_list(void **state)
{
#define WALKS(before, load_and_rest) walks(*state, before load_and_rest, sizeof(before load_and_rest) - 1, sizeof(before) - 1)
	/* mov 0x68(%rbx),%rbx; test %rbx,%rbx; jne back */
	assert_true(WALKS("", "\x48\x8b\x5b\x68\x48\x85\xdb\x75\xf7" RET));
	/* mov 0x10(%rbx),%rdi; call | the load; test; je; sub $0x68,%rbx; jmp back */
	assert_true(WALKS("\x48\x8b\x7b\x10" CALL, "\x48\x8b\x5b\x68\x48\x85\xdb\x74\x06\x48\x83\xeb\x68\xeb\xe8" RET));
	/* lea -8(%rax),%rbx; mov (%rbx),%rdi | mov 8(%rbx),%rax; cmp %rax,%rbp; jne back: list_for_each_entry() */
	assert_true(WALKS("\x48\x8d\x58\xf8\x48\x8b\x3b", "\x48\x8b\x43\x08\x48\x39\xc5\x75\xf0" RET));
	/* mov (%rdi,%rcx,8),%rbx | mov 0x40(%rbx),%rbx; test; jne back: the objects of an array */
	assert_false(WALKS("\x48\x8b\x1c\xcf", "\x48\x8b\x5b\x40\x48\x85\xdb\x75\xf3" RET));
	/* mov (%rdi,%rcx,8),%rbx | mov 0x40(%rbx),%rax; test %rax,%rax; jne back */
	assert_false(WALKS("\x48\x8b\x1c\xcf", "\x48\x8b\x43\x40\x48\x85\xc0\x75\xf3" RET));
	/* mov (%rdi,%rcx,8),%rax; mov 0x10(%rax),%rax | mov 0x40(%rax),%rax; test; jne back: all in one register */
	assert_false(WALKS("\x48\x8b\x04\xcf\x48\x8b\x40\x10", "\x48\x8b\x40\x40\x48\x85\xc0\x75\xef" RET));
	/* movslq %r12d,%rax; mov (%rdi,%rax,8),%rbx | mov 0x40(%rbx),%rax; test %rax,%rax; jne back */
	assert_false(WALKS("\x49\x63\xc4\x48\x8b\x1c\xc7", "\x48\x8b\x43\x40\x48\x85\xc0\x75\xf0" RET));
	/* no branch back: a member of a struct to which another struct points */
	assert_false(WALKS("", "\x48\x8b\x5b\x68\x48\x85\xdb\x74\x02" RET));
	assert_false(WALKS("", "\x48\x8b\x5b\x68\x48\x8b\x1f\x75\xf7" RET));	     /* mov (%rdi),%rbx is in the loop */
	assert_false(WALKS("", "\x48\x8b\x43\x68" CALL "\x48\x85\xc0\x75\xf2" RET)); /* the call changes %rax */
	assert_false(WALKS("", "\x48\x8b\x1c\xdb\x75\xfa" RET));		     /* mov (%rbx,%rbx,8),%rbx */
	assert_false(WALKS("", "\x8b\x5b\x68\x75\xfb" RET));			     /* mov 0x68(%rbx),%ebx: no pointer */
	assert_false(WALKS("", "\x48\x83\x7b\x68\x00" RET));			     /* cmpq $0,0x68(%rbx) */
	assert_false(WALKS("", "\x06"));
}

static struct lock_check check_of(struct insn_decoder *decoder, const char *code, size_t len)
{
	struct lock_check check;

	decision_check(decoder, (const uint8_t *)code, len, ADDR, &check);
	return check;
}

/* With which constant the value is compared, and what code runs only if it is another value. */
static void comparing_with_a_constant(void **state)
{
#define CHECK(code) check_of(*state, code, sizeof(code) - 1)
	struct lock_check check = CHECK("\x83\x38\x08\x74\x0b" RET); /* cmpl $8,(%rax); je */

	assert_true(check.known);
	assert_int_equal(check.value, 8);
	assert_int_equal(check.until, ADDR + 16);
	/* snd_pcm_set_state() of Linux 6.1: the byte that is compared after the stores is another datum */
	check = CHECK("\x83\x38\x08\x74\x0b\x89\x28\x48\x8b\x80\x08\x01\x00\x00\x89\x28\x48\x8b\x03"
		      "\x80\xb8\x01\x05\x00\x00\x00\x74\x1c" RET);
	assert_true(check.known);
	assert_int_equal(check.until, ADDR + 16);
	check = CHECK("\x41\x83\x7d\x00\x02\x77\x0b" RET); /* cmpl $2,0(%r13); ja */
	assert_true(check.known);
	assert_int_equal(check.value, 2);
	assert_int_equal(check.until, 0);
	check = CHECK("\x8b\x07\x83\xf8\xff\x0f\x84\x00\x01\x00\x00" RET); /* mov (%rdi),%eax; cmp $-1,%eax; je */
	assert_true(check.known);
	assert_int_equal(check.value, UINT32_MAX);
	assert_int_equal(check.until, ADDR + 11 + 0x100);
	check = CHECK("\x83\x38\x08\x74\xf0" RET); /* the je leads back */
	assert_true(check.known);
	assert_int_equal(check.until, 0);
	assert_false(CHECK("\x8b\x07\x83\xfa\x08\x74\x0b" RET).known); /* mov (%rdi),%eax; cmp $8,%edx: another register */
	assert_false(CHECK("\x48\x39\x07\x74\x0b" RET).known);	       /* cmp %rax,(%rdi): no constant */
	assert_false(CHECK("\x83\xf8\x08\x74\x0b" RET).known);	       /* cmp $8,%eax: no memory */
	/* cmpl $8,(%rax); je; jg: the flags say more */
	check = CHECK("\x83\x38\x08\x74\x0b\x7f\x02" RET);
	assert_true(check.known);
	assert_int_equal(check.until, 0);
	/* mov (%rdi),%eax; cmp $8,%eax; je; cmp $2,%eax; jne: a second comparison */
	check = CHECK("\x8b\x07\x83\xf8\x08\x74\x0b\x83\xf8\x02\x75\x02" RET);
	assert_true(check.known);
	assert_int_equal(check.until, 0);
	assert_false(CHECK("\x8b\x07\x3c\x08\x74\x0b" RET).known); /* mov (%rdi),%eax; cmp $8,%al: a part of it */
	assert_false(CHECK("\x8b\x07").known);
	assert_false(CHECK("\x06").known);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(comparing_memory),	   T(comparing_what_was_loaded),
		T(comparing_after_a_call), T(values_that_are_only_used),
		T(deciding_by_some_bits),  T(deciding_by_all_bits),
		T(looking_for_a_value),	   T(looking_for_something_else),
		T(jumps_and_ends),	   T(deciding_by_a_result),
		T(steps_along_a_list),	   T(comparing_with_a_constant),
		T(storing_back),	   T(the_same_results_either_way),
		T(other_results),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
