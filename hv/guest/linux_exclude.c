/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the text that must not carry a sample point, for one of three reasons. Stopping there is unsafe: in entry code, in the
 * paths of #BP and NMI, and in code that is copied and executed at another address. Or the text implements locks, so its plain
 * accesses are synchronisation. Or the text reads memory that the hypervisor writes by design.
 */
#include <fnmatch.h>

#include "hv/guest/linux_exclude.h"
#include "hv/guest/linux_guest.h"

/* Sections with start and end symbols (include/asm-generic/vmlinux.lds.h, arch/x86/kernel/vmlinux.lds.S). */
static const struct {
	const char *start, *end;
} ranges[] = {
	{"_sinittext", "_einittext"},
	{"__entry_text_start", "__entry_text_end"},
	{"__noinstr_text_start", "__noinstr_text_end"},
	{"__kprobes_text_start", "__kprobes_text_end"},
	{"__cpuidle_text_start", "__cpuidle_text_end"},
	{"__lock_text_start", "__lock_text_end"},
	{"__spinlock_text_start", "__spinlock_text_end"},
	{"__static_call_text_start", "__static_call_text_end"},
	{"__indirect_thunk_start", "__indirect_thunk_end"},
	{"__init_begin", "__init_end"},
};

static const char *const functions[] = {
	/* Implementations of locks and other synchronisation. */
	"_raw_*",
	"__raw_*",
	"do_raw_*",
	"queued_*",
	"native_queued_*",
	"__pv_*",
	"pv_*",
	"kvm_wait",
	"kvm_kick_cpu",
	"xen_qlock_*",
	"hv_qlock_*",
	"*spin_lock*",
	"*spin_unlock*",
	"*spin_trylock*",
	"mutex_*",
	"__mutex_*",
	"ww_mutex_*",
	"__ww_mutex*",
	"rt_mutex_*",
	"__rt_mutex_*",
	"rtmutex_*",
	"rwsem_*",
	"__rwsem_*",
	"down",
	"down_read*",
	"down_write*",
	"down_interruptible",
	"down_killable",
	"down_timeout",
	"down_trylock",
	"__down*",
	"up",
	"up_read*",
	"up_write",
	"__up*",
	"osq_*",
	"percpu_down_*",
	"percpu_up_*",
	"__percpu_down*",
	"__percpu_up*",
	"percpu_rwsem*",
	"rcu_*",
	"__rcu_*",
	"srcu_*",
	"__srcu_*",
	"call_rcu*",
	"__call_rcu*",
	"kvfree_call_rcu*",
	"synchronize_rcu*",
	"synchronize_srcu*",
	"complete",
	"complete_all",
	"complete_with_flags",
	"wait_for_completion*",
	"swake_*",
	"lockref_*",
	"smp_call_function*",
	"generic_exec_single",
	"__flush_smp_call*",
	"flush_smp_call*",
	"generic_smp_call*",
	"csd_*",
	"__csd_*",
	"llist_*",
	"bit_spin*",
	"multi_cpu_stop",
	"cpu_stop*",
	"lock_sock*",
	"__lock_sock*",
	"release_sock",
	/* Memory shared with the hypervisor: paravirtual clock, steal time, EOI, asynchronous page faults. */
	"pvclock_*",
	"kvm_clock_*",
	"kvm_sched_clock_*",
	"kvm_steal_clock",
	"kvm_guest_apic_*",
	"kvm_*async_pf*",
	"kvm_read_and_*",
	"kvm_check_*",
	/* #BP, #DB, NMI, machine checks and text patching. */
	"exc_*",
	"asm_*",
	"poke_int3_*",
	"do_int3*",
	"text_poke*",
	"__text_poke*",
	"do_sync_core",
	"*kprobe*",
	"notify_die",
	"hw_breakpoint_*",
	"arch_*_hw_breakpoint",
	"nmi_*",
	"default_do_nmi",
	"native_*",
	"do_machine_check",
	"mce_*",
	"fixup_exception",
	"search_*extable*",
	"ex_handler_*",
	/* Templates whose copies run at other addresses, start-up and resume code, stack switches. */
	"ftrace_*caller*",
	"ftrace_regs_*",
	"ftrace_stub*",
	"ftrace_epilogue",
	"return_to_handler",
	"optprobe_template_*",
	"arch_rethook_*",
	"*_trampoline*",
	"startup_*",
	"secondary_startup*",
	"__startup_*",
	"start_cpu0",
	"verify_cpu",
	"wakeup_long64",
	"do_suspend_lowlevel",
	"restore_image",
	"core_restore_code",
	"relocate_kernel*",
	"machine_kexec*",
	"swap_pages",
	"identity_mapped",
	"virtual_mapped",
	"hypercall_page",
	"xen_*",
	"__switch_to*",
	"efi_call*",
	"__efi*",
};

bool linux_name_in(const char *const *globs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		/* Compare the first letter before the costly match: there are 50,000 functions. */
		if ((*globs[i] == '*' || *globs[i] == *name) && fnmatch(globs[i], name, 0) == 0)
			return true;
	}
	return false;
}

void linux_find_excluded(struct guest *g)
{
	g->excluded_count = 0;
	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
		struct text_range *r = &g->excluded[g->excluded_count];

		r->start = symtab_addr(g->symtab, ranges[i].start);
		r->end = symtab_addr(g->symtab, ranges[i].end);
		if (r->start && r->end > r->start)
			g->excluded_count++;
	}
}

_Static_assert(sizeof(ranges) / sizeof(*ranges) <= LINUX_RANGES_MAX, "struct guest has too few ranges");

static bool inside(const struct text_range *list, unsigned n, uint64_t addr)
{
	for (unsigned i = 0; i < n; i++) {
		if (addr >= list[i].start && addr < list[i].end)
			return true;
	}
	return false;
}

static bool in_unsafe_module_text(struct guest *g, uint64_t addr)
{
	bool found = false;

	pthread_rwlock_rdlock(&g->modules_lock);
	for (size_t i = 0; i < g->module_count && !found; i++)
		found = inside(g->modules[i]->unsafe, 2, addr);
	pthread_rwlock_unlock(&g->modules_lock);
	return found;
}

bool guest_may_sample(const struct guest *g, const struct symbol *function)
{
	if (inside(g->excluded, g->excluded_count, function->addr) || in_unsafe_module_text((struct guest *)g, function->addr))
		return false;
	return !linux_name_in(functions, sizeof(functions) / sizeof(*functions), function->name);
}
