// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lists were made by watching each thread (strace -f) with glibc 2.36 and 2.41, and by what the C library does when memory
 * runs short or a thread ends. Standing here is a right, so each line says what needs it where the call does not.
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
#include <sys/socket.h>

#define K(kind) (1u << SANDBOX_##kind)
#define ALL (~0u)
#define MAIN CALLS_MAIN
/* Threads that open files for reading, and those that write files. */
#define READERS (K(SAMPLER) | K(REPORTER) | K(NET) | MAIN | CALLS_FETCH)
#define WRITERS (K(REPORTER) | MAIN | CALLS_FETCH)
#define SOCKETS (K(NET) | K(VSOCK) | CALLS_FETCH)
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
/* The call with argument `n` equal to `value` in the bits of `mask`. */
#define CALL_IF(name, kinds, n, mask, value)                                                       \
	{                                                                                          \
		SCMP_SYS(name), kinds, 1,                                                          \
		{                                                                                  \
			{                                                                          \
				n, SCMP_CMP_MASKED_EQ, (scmp_datum_t)(mask), (scmp_datum_t)(value) \
			}                                                                          \
		}                                                                                  \
	}
#define WORD 0xffffffffu
#define IOCTL(request, kinds) CALL_IF(ioctl, kinds, 1, WORD, request)
/* All ioctls whose type is `type`, the second lowest byte of the request (Documentation/userspace-api/ioctl). */
#define IOCTLS(type, kinds) CALL_IF(ioctl, kinds, 1, 0xff00, (type) << 8)

static const struct call list[] = {
	/* The C library's own: memory, locks, threads' ends, stdio. Memory that is executable is nobody's. */
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
	CALL(sched_getaffinity, ALL), /* malloc() asks how many CPUs there are. */
	CALL(sysinfo, ALL),	      /* qsort() asks how much memory there is. */
	CALL(rt_sigaction, ALL),      /* abort() */
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
	CALL_IF(prctl, WORKERS | K(COPY), 0, WORD, PR_GET_NAME), /* A request names the thread that serves it. */
	CALL_IF(prctl, ALL, 0, WORD, PR_SET_VMA),		 /* malloc() names its memory. */

	/* Descriptors that are open. */
	CALL(read, ALL),
	CALL(readv, ALL),
	CALL(write, ALL),
	CALL(writev, ALL),
	CALL(close, ALL),
	CALL(fcntl, ALL),
	CALL(poll, ALL),
	CALL(ppoll, ALL),
	CALL(fstat, ALL),
	CALL_IF(newfstatat, ALL, 3, AT_EMPTY_PATH, AT_EMPTY_PATH), /* fstat() of glibc 2.33 to 2.38 */
	CALL(lseek, ALL),
	/* A terminal's mode, which is restored before the process ends, on whatever thread that is. */
	IOCTL(TCGETS, ALL),
	IOCTL(TCSETS, ALL),
	IOCTL(TCSETSW, ALL),
	IOCTL(TCSETSF, ALL),
	IOCTL(TCGETS2, ALL), /* The same in glibc 2.42, whose isatty() asks so too. */
	IOCTL(TCSETS2, ALL),
	IOCTL(TCSETSW2, ALL),
	IOCTL(TCSETSF2, ALL),
	IOCTL(TIOCGWINSZ, MAIN | K(REPORTER)),
	IOCTL(TIOCGPGRP, MAIN),

	/* KVM (KVMIO is 0xae), and the timers that end a vCPU's window. */
	IOCTLS(0xae, MACHINE),
	CALL(timer_create, K(VCPU) | STARTERS),
	CALL(timer_settime, K(VCPU) | K(SAMPLER) | STARTERS), /* Kicks of a copy are timers, too. */
	CALL(timer_gettime, K(VCPU) | STARTERS),
	CALL(timer_delete, K(VCPU) | STARTERS),
	CALL(rt_sigtimedwait, K(STOPPER) | MAIN),

	/* Workers, and what changes what they wait for. */
	CALL(epoll_wait, WORKERS | STARTERS), /* Threads that a copy starts have only what its own has, too. */
	CALL(epoll_pwait, WORKERS | STARTERS),
	CALL(epoll_ctl, WORKERS | K(VCPU) | STARTERS),
	CALL(eventfd2, WORKERS | K(VCPU) | STARTERS),
	CALL(timerfd_settime, WORKERS | MAIN),
	CALL(timerfd_gettime, WORKERS | MAIN),

	/* Disks: images are open, and stay the files that they are. */
	CALL(pread64, K(VCPU) | READERS), /* A vCPU's statistics are a descriptor of KVM's. */
	CALL(pwrite64, WRITERS),
	CALL(preadv, K(BLK) | STARTERS),
	CALL(pwritev, K(BLK) | STARTERS),
	CALL(fsync, WRITERS),
	CALL(fdatasync, K(BLK) | WRITERS),
	CALL(fallocate, K(BLK) | STARTERS),
	CALL(ftruncate, WRITERS),

	/* Files for reading: debug files, sources, and the resolver's settings. */
	CALL_IF(openat, K(SAMPLER) | K(NET), 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	CALL_IF(open, K(SAMPLER) | K(NET), 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	CALL(openat, WRITERS),
	CALL(open, WRITERS),
	CALL(openat2, READERS),
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

	/* Files that are written. Where they may be is landlock's matter. */
	CALL(rename, WRITERS),
	CALL(renameat, WRITERS),
	CALL(renameat2, WRITERS),
	CALL(unlink, WRITERS),
	CALL(unlinkat, WRITERS),
	CALL(fchmod, WRITERS),
	CALL(umask, WRITERS),

	IOCTL(TUNSETOFFLOAD, K(NET) | MAIN), /* what the guest's driver negotiated, for a tap */

	/* Sockets. */
	CALL_IF(socket, K(NET) | CALLS_FETCH, 0, WORD, AF_INET),
	CALL_IF(socket, K(NET) | CALLS_FETCH, 0, WORD, AF_INET6),
	CALL_IF(socket, CALLS_UNIX_SOCKETS, 0, WORD, AF_UNIX), /* the resolver asks nscd */
	CALL_IF(socket, CALLS_FETCH, 0, WORD, AF_NETLINK),     /* the resolver asks for the host's addresses */
	CALL(connect, SOCKETS),
	CALL(bind, SOCKETS),
	CALL(listen, SOCKETS),
	CALL(accept, SOCKETS),
	CALL(accept4, SOCKETS | K(DEBUGGER)),
	CALL(shutdown, SOCKETS),
	CALL(sendto, SOCKETS | K(DEBUGGER)),
	CALL(recvfrom, SOCKETS | K(DEBUGGER)),
	CALL(sendmsg, SOCKETS),
	CALL(recvmsg, SOCKETS),
	CALL(sendmmsg, SOCKETS),
	CALL(recvmmsg, SOCKETS),
	CALL(getsockopt, SOCKETS),
	CALL(setsockopt, SOCKETS | K(DEBUGGER)),
	CALL(getsockname, SOCKETS),
	CALL(getpeername, SOCKETS),
	IOCTL(FIONREAD, SOCKETS),
	IOCTL(FIONBIO, SOCKETS),
	IOCTL(SIOCGIFINDEX, K(NET)), /* if_nametoindex(), for a name server with a scope */

	/* The library that fetches debug files (libdebuginfod, by libcurl) has threads, files and a cache of its own. */
	CALL_IF(mmap, CALLS_FETCH, 2, PROT_EXEC, PROT_EXEC), /* the resolver's plug-ins */
	CALL_IF(mprotect, CALLS_FETCH, 2, PROT_EXEC, PROT_EXEC),
	CALL(socketpair, CALLS_FETCH),
	CALL(pipe2, CALLS_FETCH),
	CALL(eventfd2, CALLS_FETCH),
	CALL(mkdir, CALLS_FETCH),
	CALL(rmdir, CALLS_FETCH),
	CALL(link, CALLS_FETCH),
	CALL(utimensat, CALLS_FETCH),
	CALL(futimesat, CALLS_FETCH),
	CALL(utimes, CALLS_FETCH),
	CALL(getppid, CALLS_FETCH),
	CALL(prlimit64, CALLS_FETCH),
	CALL(getrlimit, CALLS_FETCH),

	/*
	 * A copy of the machine: the one kind of process that is forked, by fork() and nothing else, and what such a process
	 * does to make the machine, to bound itself, and to tell what came of it.
	 */
	CALL_IF(clone, K(COPY), 0, ~0ull, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD),
	CALL(wait4, K(COPY) | K(REPORTER)),
	CALL(waitid, K(COPY) | K(REPORTER)),
	CALL(epoll_create1, K(COPY)),
	CALL(pipe2, K(COPY)),
	CALL(memfd_create, K(COPY)),
	CALL(ftruncate, K(COPY)),
	CALL(pread64, K(COPY)),
	CALL(pwrite64, K(COPY)),
	CALL(close_range, K(COPY)),
	CALL(setpriority, K(COPY)),
	CALL_IF(prlimit64, K(COPY), 0, WORD, 0), /* its own limits */
	CALL(setrlimit, K(COPY)),
	CALL_IF(prctl, K(COPY), 0, WORD, PR_SET_PDEATHSIG),
	CALL(getppid, K(COPY)),

	/* Starting threads, and nothing but threads. */
	CALL_IF(clone, STARTERS | CALLS_FETCH, 0, CLONE_VM | CLONE_THREAD | CLONE_SIGHAND,
		CLONE_VM | CLONE_THREAD | CLONE_SIGHAND),
	CALL(seccomp, STARTERS), /* A thread of a kind gives up more than it has inherited. */
	CALL_IF(prctl, STARTERS, 0, WORD, PR_SET_SECCOMP),
	CALL_IF(prctl, STARTERS, 0, WORD, PR_SET_NO_NEW_PRIVS),
	CALL_IF(prctl, STARTERS, 0, WORD, PR_GET_SECCOMP),
};

const struct call *const calls_list = list;
const size_t calls_count = sizeof(list) / sizeof(list[0]);
