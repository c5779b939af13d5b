// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lists the system calls that each kind of thread may make. The list comes from tracing each thread (strace -f) with glibc 2.36
 * and 2.41, and from what the C library does when memory runs short or a thread ends. A comment says what needs a call if the
 * call's name does not.
 */
#include "hv/sandbox/calls.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define K(kind) (1u << SANDBOX_##kind)
#define ALL (~0u)
#define MAIN CALLS_MAIN
/*
 * Threads by what they do with files: READERS read, WRITERS write, and OPENERS open files for writing. OPENERS are the threads
 * that fetch debug files, and the opener: a helper process that opens files for the other writers (opener.h).
 */
#define READERS (K(SAMPLER) | K(REPORTER) | MAIN | CALLS_FETCH | CALLS_NETWORK)
#define WRITERS (K(REPORTER) | MAIN | CALLS_FETCH)
#define OPENERS (CALLS_OPENER | CALLS_FETCH)
#define SOCKETS (CALLS_NETWORK | CALLS_FETCH)
#define WORKERS (K(BLK) | K(NET) | K(RNG) | K(VSOCK))
#define MACHINE (K(VCPU) | K(INPUT) | K(SAMPLER) | K(COPY) | WORKERS | MAIN)
#define STARTERS (K(COPY) | MAIN)

#define CALL(name, kinds)                 \
	{                                 \
		SCMP_SYS(name), kinds, 0, \
		{                         \
			{                 \
				0         \
			}                 \
		}                         \
	}
/* Allows the system call `name` if its argument `n`, counted from 0, equals `value` in the bits of `mask`. */
#define CALL_IF(name, kinds, n, mask, value)                                                       \
	{                                                                                          \
		SCMP_SYS(name), kinds, 1,                                                          \
		{                                                                                  \
			{                                                                          \
				n, SCMP_CMP_MASKED_EQ, (scmp_datum_t)(mask), (scmp_datum_t)(value) \
			}                                                                          \
		}                                                                                  \
	}
/*
 * Allows the system call `name` if two conditions hold, each as in CALL_IF(): one on its argument `n`, and one on its argument
 * `m`.
 */
#define CALL_IF2(name, kinds, n, n_mask, n_value, m, m_mask, m_value)                                  \
	{                                                                                              \
		SCMP_SYS(name), kinds, 2,                                                              \
		{                                                                                      \
			{n, SCMP_CMP_MASKED_EQ, (scmp_datum_t)(n_mask), (scmp_datum_t)(n_value)},      \
			{                                                                              \
				m, SCMP_CMP_MASKED_EQ, (scmp_datum_t)(m_mask), (scmp_datum_t)(m_value) \
			}                                                                              \
		}                                                                                      \
	}
/*
 * The bits of an int argument. The kernel ignores the upper half of the register, so a thread could evade a comparison of all
 * 64 bits by setting a bit of the upper half.
 */
#define WORD 0xffffffffu
#define FCNTL(command, kinds) CALL_IF(fcntl, kinds, 1, WORD, command)
#define HANDLER(number, kinds) CALL_IF(rt_sigaction, kinds, 0, WORD, number)
#define IOCTL(request, kinds) CALL_IF(ioctl, kinds, 1, WORD, request)
/* Allows all ioctls of type `type`, the second lowest byte of the request (Documentation/userspace-api/ioctl). */
#define IOCTLS(type, kinds) CALL_IF(ioctl, kinds, 1, 0xff00, (type) << 8)

static const struct call list[] = {
	/* Used by the C library in any thread: memory, locks, ends of threads, stdio. No thread may make memory executable. */
	CALL(brk, ALL),
	CALL(madvise, ALL),
	CALL(mremap, ALL),
	CALL(munmap, ALL),
	CALL_IF(mmap, ALL, 2, PROT_EXEC, 0),
	CALL_IF(mprotect, ALL, 2, PROT_EXEC, 0),
	CALL(futex, ALL),
	CALL(membarrier, ALL),
	CALL(sched_yield, ALL),
	CALL(set_robust_list, ALL),
	CALL(rseq, ALL),
	CALL(exit, ALL),
	CALL(exit_group, ALL),
	CALL(getrandom, ALL),
	CALL(getpid, ALL),
	CALL(gettid, ALL),
	CALL(sched_getaffinity, ALL), /* malloc() asks for the number of CPUs. */
	CALL(sysinfo, ALL),	      /* qsort() asks for the amount of memory. */
	/*
	 * A crash handler restores the signal's default action, and abort() does so too. SIGSYS is missing here: with another
	 * handler for it, a thread could continue after a forbidden call.
	 */
	HANDLER(SIGABRT, ALL),
	HANDLER(SIGSEGV, ALL),
	HANDLER(SIGBUS, ALL),
	HANDLER(SIGFPE, ALL),
	HANDLER(SIGILL, ALL),
	HANDLER(SIGTRAP, ALL),
	HANDLER(SIGPIPE, CALLS_FETCH), /* libcurl */
	CALL(rt_sigprocmask, ALL),
	CALL(rt_sigreturn, ALL),
	CALL(sigaltstack, ALL),
	CALL(restart_syscall, ALL),
	CALL(clock_gettime, ALL),
	CALL(clock_getres, ALL),
	CALL(clock_nanosleep, ALL),
	CALL(nanosleep, ALL),
	CALL(gettimeofday, ALL),
	CALL(time, ALL),
	CALL(getrusage, ALL),
	CALL_IF(prctl, ALL, 0, WORD, PR_SET_NAME),
	/* A thread that serves a device request records its own name, for reports. */
	CALL_IF(prctl, WORKERS | K(COPY), 0, WORD, PR_GET_NAME),
	CALL_IF(prctl, ALL, 0, WORD, PR_SET_VMA), /* malloc() names its memory. */

	/* Operations on open file descriptors. */
	CALL(read, ALL),
	CALL(readv, ALL),
	CALL(write, ALL),
	CALL(writev, ALL),
	CALL(close, ALL),
	/*
	 * Some commands of fcntl() are missing here on purpose, because they make the kernel signal another process, or take a
	 * lock or a lease on a file that other programs use. F_SETOWN, F_SETSIG and O_ASYNC together can kill any process of
	 * the user. A terminal has an owner by default, so O_ASYNC alone can already send a signal.
	 */
	FCNTL(F_GETFD, ALL),
	FCNTL(F_GETFL, ALL),
	FCNTL(F_DUPFD_CLOEXEC, ALL),
	FCNTL(F_SETFD, SOCKETS),
	CALL_IF2(fcntl, SOCKETS, 1, WORD, F_SETFL, 2, O_ASYNC, 0),
	CALL(poll, ALL),
	CALL(ppoll, ALL),
	CALL(fstat, ALL),
	CALL_IF(newfstatat, ALL, 3, AT_EMPTY_PATH, AT_EMPTY_PATH), /* fstat() of glibc 2.33 to 2.38 */
	CALL(lseek, ALL),
	/*
	 * The terminal's mode: a thread that ends the process first restores the mode that the terminal had before the run, and
	 * any thread may end the process.
	 */
	IOCTL(TCGETS, ALL),
	IOCTL(TCSETS, ALL),
	IOCTL(TCSETSW, ALL),
	IOCTL(TCSETSF, ALL),
	IOCTL(TCGETS2, ALL), /* From glibc 2.42 on, this request and the next three replace the four above, also in isatty(). */
	IOCTL(TCSETS2, ALL),
	IOCTL(TCSETSW2, ALL),
	IOCTL(TCSETSF2, ALL),
	IOCTL(TIOCGWINSZ, MAIN | K(REPORTER) | K(STOPPER)), /* The stopper's thread draws the status line. */
	IOCTL(TIOCGPGRP, MAIN | K(STOPPER)),

	/* KVM (KVMIO is 0xae), and the timers that end a vCPU's window. */
	IOCTLS(0xae, MACHINE),
	CALL(timer_create, K(VCPU) | STARTERS),
	CALL(timer_settime, K(VCPU) | K(SAMPLER) | STARTERS), /* Kicks of a copy's vCPUs use timers, too. */
	CALL(timer_gettime, K(VCPU) | STARTERS),
	CALL(timer_delete, K(VCPU) | STARTERS),
	CALL(rt_sigtimedwait, K(STOPPER) | MAIN),
	CALL(rt_sigpending, MAIN),

	/* Used by workers, and by threads that change what workers wait for. */
	/* STARTERS are included, because the workers of a copy inherit the filter of SANDBOX_COPY, one of the STARTERS. */
	CALL(epoll_wait, WORKERS | CALLS_NETWORK | STARTERS),
	CALL(epoll_pwait, WORKERS | CALLS_NETWORK | STARTERS),
	CALL(epoll_ctl, WORKERS | CALLS_NETWORK | K(VCPU) | STARTERS),
	CALL(eventfd2, WORKERS | K(VCPU) | STARTERS),
	CALL(timerfd_settime, WORKERS | CALLS_NETWORK | MAIN),
	CALL(timerfd_gettime, WORKERS | MAIN),

	/* Disks: the images are already open. */
	/* A vCPU's statistics, which say whether the vCPU is idle, are read from a file descriptor of KVM. */
	CALL(pread64, K(VCPU) | WORKERS | READERS),
	CALL(pwrite64, WRITERS),
	CALL(preadv, K(BLK) | STARTERS),
	CALL(pwritev, K(BLK) | STARTERS),
	CALL(fsync, WRITERS),
	CALL(fdatasync, K(BLK) | WRITERS),
	CALL(fallocate, K(BLK) | STARTERS),
	CALL(ftruncate, WRITERS),

	/* Opening files for reading: debug files, sources, and the resolver's settings. */
	CALL_IF(openat, READERS, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	CALL_IF(open, READERS, 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	CALL(openat, OPENERS),
	CALL(open, OPENERS),
	CALL(openat2, OPENERS), /* No seccomp filter can read the flags of openat2(), which are in memory. */
	CALL(newfstatat, READERS),
	CALL(stat, READERS),
	CALL(lstat, READERS),
	CALL(statx, READERS),
	CALL(fstatfs, READERS),
	CALL(statfs, READERS),
	CALL(access, READERS),
	CALL(faccessat, READERS),
	CALL(faccessat2, READERS),
	CALL(readlink, READERS),
	CALL(readlinkat, READERS),
	CALL(getdents64, READERS),
	CALL(getcwd, READERS),
	CALL(fchdir, READERS),
	CALL(chdir, READERS),
	CALL(fadvise64, K(BLK) | K(COPY) | READERS),
	CALL(uname, READERS),
	CALL(dup, READERS),
	CALL(getuid, READERS),
	CALL(geteuid, READERS),
	CALL(getgid, READERS),
	CALL(getegid, READERS),

	/*
	 * Renaming and removing files. libdebuginfod does so in its cache, on the threads that fetch debug files. For the other
	 * threads that write files, the opener makes these calls: a helper process in which no guest runs (opener.h).
	 */
	CALL(rename, CALLS_FETCH),
	CALL(renameat, CALLS_FETCH),
	CALL(renameat2, OPENERS),
	CALL(unlink, CALLS_FETCH),
	CALL(unlinkat, OPENERS),

	IOCTL(TUNSETOFFLOAD, K(NET) | MAIN), /* sets the offloads of a tap to those that the guest's driver negotiated */

	/* Sockets. */
	CALL_IF(socket, SOCKETS, 0, WORD, AF_INET),
	CALL_IF(socket, SOCKETS, 0, WORD, AF_INET6),
	CALL_IF(socket, CALLS_UNIX_SOCKETS, 0, WORD, AF_UNIX), /* the resolver connects to nscd */
	CALL_IF(socket, CALLS_FETCH, 0, WORD, AF_NETLINK),     /* the resolver reads the host's addresses */
	CALL(connect, SOCKETS | CALLS_OPENER),
	CALL(bind, SOCKETS),
	CALL(listen, SOCKETS),
	CALL(accept, SOCKETS),
	CALL(accept4, SOCKETS | K(VSOCK) | K(DEBUGGER)),
	CALL(shutdown, SOCKETS | K(VSOCK) | MAIN), /* The main thread ends its helper processes. */
	CALL(sendto, SOCKETS | K(VSOCK) | K(DEBUGGER)),
	CALL(recvfrom, SOCKETS | K(VSOCK) | K(DEBUGGER)),
	CALL(sendmsg, SOCKETS | CALLS_OPENER),
	CALL(recvmsg, SOCKETS | CALLS_OPENER),
	CALL(sendmmsg, SOCKETS),
	CALL(recvmmsg, SOCKETS),
	CALL(getsockopt, SOCKETS),
	CALL(setsockopt, SOCKETS | K(DEBUGGER)),
	CALL(getsockname, SOCKETS),
	CALL(getpeername, SOCKETS),
	IOCTL(FIONREAD, SOCKETS),
	IOCTL(FIONBIO, SOCKETS),
	/* if_nametoindex() uses this call for the address of a name server with a scope, such as fe80::1%eth0. */
	IOCTL(SIOCGIFINDEX, CALLS_NETWORK),

	/* libdebuginfod (by libcurl), which fetches debug files, has threads, files and a cache of its own. */
	CALL_IF(mmap, CALLS_FETCH, 2, PROT_EXEC, PROT_EXEC), /* the resolver loads plug-ins */
	CALL_IF(mprotect, CALLS_FETCH, 2, PROT_EXEC, PROT_EXEC),
	CALL(socketpair, CALLS_FETCH),
	CALL(pipe2, CALLS_FETCH),
	CALL(eventfd2, CALLS_FETCH),
	CALL(mkdir, CALLS_FETCH),
	CALL(rmdir, CALLS_FETCH),
	CALL(link, CALLS_FETCH),
	/*
	 * fchmod() and utimensat() change files even if these are open for reading only, and Landlock does not limit them. So
	 * only threads that fetch debug files may call them.
	 */
	CALL(fchmod, CALLS_FETCH),
	CALL(umask, CALLS_FETCH),
	CALL(utimensat, CALLS_FETCH),
	CALL(futimesat, CALLS_FETCH),
	CALL(utimes, CALLS_FETCH),
	CALL(getppid, CALLS_FETCH),
	CALL_IF(prlimit64, CALLS_FETCH, 0, WORD, 0), /* its own limits */
	CALL(getrlimit, CALLS_FETCH),

	/*
	 * Calls to make a copy of the machine, by fork() only, and calls that the copy needs to make its machine, to limit
	 * itself, and to return its result.
	 */
	CALL_IF(clone, K(COPY), 0, ~0ull, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD),
	CALL(wait4, K(COPY) | K(REPORTER) | MAIN),
	CALL(waitid, K(COPY) | K(REPORTER)),
	CALL_IF(waitid, K(NET), 3, WNOWAIT, WNOWAIT), /* how the network process ended */
	CALL(epoll_create1, K(COPY)),
	CALL(pipe2, K(COPY)),
	CALL(memfd_create, K(COPY)),
	CALL(ftruncate, K(COPY)),
	CALL(pread64, K(COPY)),
	CALL(pwrite64, K(COPY)),
	CALL(close_range, K(COPY)),
	CALL_IF2(setpriority, K(COPY), 0, WORD, PRIO_PROCESS, 1, WORD, 0), /* its own priority */
	CALL_IF(prlimit64, K(COPY), 0, WORD, 0),			   /* its own limits */
	CALL(setrlimit, K(COPY)),
	CALL_IF2(prctl, K(COPY), 0, WORD, PR_SET_PDEATHSIG, 1, ~0ull, SIGKILL), /* cannot be undone */
	CALL(getppid, K(COPY)),

	/* Starting threads, but no processes. */
	CALL_IF(clone, STARTERS | CALLS_FETCH, 0, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND,
		CLONE_VM | CLONE_THREAD | CLONE_SIGHAND),
	CALL(seccomp, STARTERS), /* A new thread gives up calls that its parent's filter allows. */
	CALL_IF(prctl, STARTERS, 0, WORD, PR_SET_SECCOMP),
	CALL_IF(prctl, STARTERS, 0, WORD, PR_SET_NO_NEW_PRIVS),
	CALL_IF(prctl, STARTERS, 0, WORD, PR_GET_SECCOMP),
};

const struct call *const calls_list = list;
const size_t calls_count = sizeof(list) / sizeof(list[0]);
