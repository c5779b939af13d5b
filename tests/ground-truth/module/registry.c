// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/build_bug.h>
#include <linux/kernel.h>

#include "gt.h"

const struct gt_case *const gt_all_cases[] = {
	&gt_case_rwrace,      &gt_case_wwrace,	     &gt_case_samevalue,  &gt_case_statcount,
	&gt_case_flagbits,    &gt_case_bitfield,     &gt_case_addtocache, &gt_case_refput,
	&gt_case_halflock,    &gt_case_nlink,	     &gt_case_latesize,	  &gt_case_dclock,
	&gt_case_irqsame,     &gt_case_irqcross,     &gt_case_alias,	  &gt_case_straddle,
	&gt_case_repmovs,     &gt_case_spinlock,     &gt_case_mutex,	  &gt_case_rwsem,
	&gt_case_atomics,     &gt_case_rcu,	     &gt_case_completion, &gt_case_percpu,
	&gt_case_irqsoff,     &gt_case_bytes,	     &gt_case_seqlock,	  &gt_case_seqmutex,
	&gt_case_seqlatch,    &gt_case_spsc,	     &gt_case_mailbox,	  &gt_case_onceword,
	&gt_case_seqnoretry,  &gt_case_seqother,     &gt_case_seqignored, &gt_case_seqearly,
	&gt_case_seqindex,    &gt_case_twoheads,     &gt_case_flagfirst,  &gt_case_ptrbox,
	&gt_case_ptrearly,    &gt_case_rcuswap,	     &gt_case_rculist,	  &gt_case_rcuhash,
	&gt_case_rcuwait,     &gt_case_rcucopy,	     &gt_case_rcufree,	  &gt_case_rcureuse,
	&gt_case_rcubare,     &gt_case_dmaread,	     &gt_case_dmawrite,	  &gt_case_dmarng,
	&gt_case_dmareadwait, &gt_case_dmawritewait, &gt_case_dmarngwait, &gt_case_dmarings,
	&gt_case_dmarngring,  &gt_case_figone,	     &gt_case_twolocks,	  &gt_case_trylock,
	&gt_case_publish,     &gt_case_handover,     &gt_case_rculock,	  &gt_case_irqlock,
	&gt_case_pool,	      &gt_case_owner,	     &gt_case_samecpu,	  &gt_case_nulluse,
	&gt_case_tags,	      &gt_case_othertags,    &gt_case_dmalast,	  &gt_case_dmasecond,
	&gt_case_dmawrong,    &gt_case_dmahalf,	     &gt_case_dmaboth,	  &gt_case_dmadouble,
	&gt_case_handdone,    &gt_case_handwork,     &gt_case_handtimer,  &gt_case_latedone,
	&gt_case_latework,    &gt_case_latetimer,    &gt_case_actlen,	  &gt_case_actmutex,
	&gt_case_actrwsem,    &gt_case_checkuse,     &gt_case_acttwo,	  &gt_case_actcalls,
	&gt_case_readupd,     &gt_case_readback,     &gt_case_pubinit,	  &gt_case_halfset,
	&gt_case_recheck,     &gt_case_checktwo,     &gt_case_checkcalls, &gt_case_steps,
	&gt_case_version,     &gt_case_cmpxchg,	     &gt_case_inflight,	  &gt_case_snapshot,
	&gt_case_batch,	      &gt_case_state,	     &gt_case_claim,	  &gt_case_answer,
	&gt_case_actirq,      &gt_case_actboth,	     &gt_case_actheap,	  &gt_case_readrw,
	&gt_case_retry,	      &gt_case_lookup,	     &gt_case_outer,	  &gt_case_rows,
	&gt_case_otherbits,   &gt_case_hint,	     &gt_case_ring,	  &gt_case_cached,
	&gt_case_getlate,     &gt_case_getheld,	     &gt_case_getzero,	  &gt_case_underway,
	NULL,
};
static_assert(ARRAY_SIZE(gt_all_cases) <= GT_MAX_CASES + 1);
