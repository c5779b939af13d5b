// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Drops what a process was started with and does not need: root's user and capabilities, inherited file descriptors, and (by
 * Landlock) the right to read or write any file.
 */
#include "hv/sandbox/privileges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Limit of open file descriptors: enough for images, queues, a guest's connections, and the debug files of some hundred
 * modules.
 */
#define DESCRIPTORS_MAX 4096

/* ---- file descriptors ---- */

int descriptors_read(struct descriptors *d, struct err *err)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;

	*d = (struct descriptors){0};
	/* Without /proc the inherited file descriptors are unknown, and stay open. */
	while (dir && (entry = readdir(dir)) != NULL) {
		int fd = atoi(entry->d_name), *more;

		if (fd <= STDERR_FILENO || fd == dirfd(dir))
			continue;
		more = reallocarray(d->list, d->count + 1, sizeof(*more));
		if (!more) {
			closedir(dir);
			return err_set(err, EXIT_INTERNAL, "out of memory");
		}
		d->list = more;
		d->list[d->count++] = fd;
	}
	if (dir)
		closedir(dir);
	return 0;
}

void descriptors_close(struct descriptors *d)
{
	for (size_t i = 0; i < d->count; i++)
		close(d->list[i]);
	free(d->list);
	*d = (struct descriptors){0};
}

/* ---- user and capabilities ---- */

/*
 * Returns the user or group id in the environment variable, or 0 if the variable is not set, is not a number, or is root's id.
 */
static unsigned id_of(const char *variable)
{
	const char *text = getenv(variable);
	char *end;
	unsigned long id;

	if (!text || text[0] < '0' || text[0] > '9')
		return 0;
	errno = 0;
	id = strtoul(text, &end, 10);
	return errno || *end || id >= UINT32_MAX ? 0 : (unsigned)id;
}

/*
 * Use the system calls directly, because they change only the calling thread. The C library's functions would change all
 * threads, and some threads are already confined and must not make these calls.
 */
static int become_caller(unsigned uid, unsigned gid, struct err *err)
{
	const struct passwd *user = getpwuid(uid);
	gid_t groups[NGROUPS_MAX] = {gid};
	int count = NGROUPS_MAX;

	if (!user || getgrouplist(user->pw_name, gid, groups, &count) < 0)
		count = 1;
	if (syscall(SYS_setgroups, (size_t)count, groups) < 0 || syscall(SYS_setresgid, gid, gid, gid) < 0 ||
	    syscall(SYS_setresuid, uid, uid, uid) < 0)
		return err_set(err, EXIT_INPUT, "cannot become user %u, who called sudo: %s", uid, strerror(errno));
	return 0;
}

/*
 * Drop all capabilities of the calling thread except those in `keep`, a mask of the capabilities 0 to 31. Threads and processes
 * that the calling thread starts later do not get the dropped capabilities back.
 */
static int keep_capabilities(uint32_t keep, struct err *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct now[2] = {{0}}, wanted[2] = {{0}};

	if (syscall(SYS_capget, &header, now) < 0)
		return err_set(err, EXIT_INTERNAL, "capget failed: %s", strerror(errno));
	wanted[0].permitted = wanted[0].effective = now[0].permitted & keep;
	if (syscall(SYS_capset, &header, wanted) < 0)
		return err_set(err, EXIT_INTERNAL, "cannot give up capabilities: %s", strerror(errno));
	return 0;
}

bool privileges_for_caller(void)
{
	return geteuid() == 0 && id_of("SUDO_UID") && id_of("SUDO_GID");
}

int privileges_drop(struct err *err)
{
	if (geteuid() != 0)
		return keep_capabilities(0, err);
	if (privileges_for_caller()) {
		if (become_caller(id_of("SUDO_UID"), id_of("SUDO_GID"), err) < 0)
			return -1;
		return keep_capabilities(0, err);
	}
	/*
	 * If root did not use sudo, there is no other user to become. The thread stays root's, and keeps only the capability to
	 * write the report where root wanted it, such as in the folder of another user.
	 */
	return keep_capabilities(1u << CAP_DAC_OVERRIDE, err);
}

int privileges_none(struct err *err)
{
	return keep_capabilities(0, err);
}

static void lower(int resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return;
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most)
		limit.rlim_max = most;
	if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

void privileges_limit(void)
{
	lower(RLIMIT_CORE, 0);
	lower(RLIMIT_NOFILE, DESCRIPTORS_MAX);
}

void privileges_limit_memory(size_t bytes)
{
	lower(RLIMIT_DATA, bytes);
}

/* ---- files ---- */

#ifndef LANDLOCK_ACCESS_FS_REFER
#define LANDLOCK_ACCESS_FS_REFER (1ull << 13)
#endif
#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ull << 14)
#endif

/* Rights to create, write and remove regular files in a folder. */
#define WRITE_RIGHTS                                                                                    \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
	 LANDLOCK_ACCESS_FS_TRUNCATE)

#define READ_RIGHTS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* Returns all rights to change the file system or to run a program that version `abi` of Landlock knows. */
static uint64_t rights_of(long abi)
{
	uint64_t rights = WRITE_RIGHTS | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
			  LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SOCK |
			  LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM |
			  LANDLOCK_ACCESS_FS_REFER;

	if (abi < 3)
		rights &= ~LANDLOCK_ACCESS_FS_TRUNCATE;
	if (abi < 2)
		rights &= ~LANDLOCK_ACCESS_FS_REFER;
	return rights;
}

/*
 * Add to the Landlock ruleset `rules` a rule that gives `rights` in the folder of the file `path`. A folder that does not exist
 * needs no rule.
 */
static int allow_folder(int rules, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr beneath = {.allowed_access = rights};
	char *copy = strdup(path);
	long rc = -1;

	if (!copy)
		return -1;
	beneath.parent_fd = open(dirname(copy), O_PATH | O_CLOEXEC);
	free(copy);
	if (beneath.parent_fd < 0)
		return 0;
	rc = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
	close(beneath.parent_fd);
	return rc < 0 ? -1 : 0;
}

/* Give `rights` in the folder of the file, and in the folder of its target if the file is a symbolic link. */
static int allow_file(int rules, const char *path, uint64_t rights)
{
	char *real = realpath(path, NULL);
	int rc = allow_folder(rules, path, rights);

	if (rc == 0 && real)
		rc = allow_folder(rules, real, rights);
	free(real);
	return rc;
}

/*
 * Take the rights `taken` from the calling thread, except that it keeps the rights `left` in the folders of the `count` files.
 */
static int restrict_files(uint64_t taken, uint64_t left, const char *const *files, size_t count, struct err *err)
{
	const struct landlock_ruleset_attr attr = {.handled_access_fs = taken};
	/* Pass only the first member of `attr`: kernels before Linux 6.7 have no other member. */
	int rules = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr.handled_access_fs), 0), rc = 0;

	if (rules < 0)
		return err_set(err, EXIT_INTERNAL, "landlock: %s", strerror(errno));
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = files[i] ? allow_file(rules, files[i], left & taken) : 0;
	if (rc == 0 && syscall(SYS_landlock_restrict_self, rules, 0) < 0)
		rc = -1;
	if (rc < 0)
		err_set(err, EXIT_INTERNAL, "landlock: %s", strerror(errno));
	close(rules);
	return rc;
}

static long landlock_abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool privileges_bound_files(void)
{
	return landlock_abi() >= 1;
}

int privileges_write_only(const char *const *writes, size_t count, struct err *err)
{
	if (!privileges_bound_files())
		return 0;
	return restrict_files(rights_of(landlock_abi()), WRITE_RIGHTS, writes, count, err);
}

int privileges_read_only(const char *const *reads, size_t count, struct err *err)
{
	if (!privileges_bound_files())
		return 0;
	return restrict_files(rights_of(landlock_abi()) | READ_RIGHTS, READ_RIGHTS, reads, count, err);
}
