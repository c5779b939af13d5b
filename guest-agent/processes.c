// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the descendants of a process in /proc/PID/stat of all processes, to add up their CPU time or to signal them. */
#include "processes.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent.h"

/* A process as /proc/PID/stat has it (proc(5)). */
struct process {
	int pid, parent;
	bool below; /* it descends from the root */
	unsigned long long ticks, child_ticks;
};

struct table {
	struct process *process;
	size_t count, room;
};

static bool read_process(int pid, struct process *p)
{
	char path[32], text[1024];
	const char *rest;
	unsigned long long user, system, child_user, child_system;
	char state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_text(path, text, sizeof(text)) < 0)
		return false;
	/*
	 * The field after the process's name begins after the last ')' of the line, because the name can contain parentheses
	 * itself.
	 */
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &state, &p->parent, &user,
			    &system, &child_user, &child_system) != 6)
		return false;
	p->pid = pid;
	p->below = false;
	p->ticks = user + system;
	p->child_ticks = child_user + child_system;
	return state != 'Z';
}

static bool add(struct table *t, const struct process *p)
{
	if (t->count == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		struct process *bigger = realloc(t->process, room * sizeof(*bigger));

		if (!bigger)
			return false;
		t->process = bigger;
		t->room = room;
	}
	t->process[t->count++] = *p;
	return true;
}

static void mark_below(const struct table *t, int root)
{
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < t->count; i++) {
			struct process *p = &t->process[i];
			bool below = p->parent == root;

			for (size_t j = 0; j < t->count && !below && !p->below; j++)
				below = t->process[j].below && t->process[j].pid == p->parent;
			more |= below && !p->below;
			p->below |= below;
		}
	}
}

/* Read all processes of the machine, and mark the descendants of `root`. The caller frees t->process. */
static void read_table(struct table *t, int root)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	struct process p;

	*t = (struct table){0};
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_process(atoi(entry->d_name), &p) && !add(t, &p))
			break;
	if (dir)
		closedir(dir);
	mark_below(t, root);
}

struct process_sum processes_below(int root)
{
	struct process_sum sum = {0};
	unsigned long long ticks = 0;
	struct table t;

	read_table(&t, root);
	for (size_t i = 0; i < t.count; i++) {
		const struct process *p = &t.process[i];

		if (p->below)
			ticks += p->ticks + p->child_ticks;
		else if (p->pid == root)
			ticks += p->child_ticks;
		sum.count += p->below;
	}
	free(t.process);
	sum.cpu_seconds = (double)ticks / (double)sysconf(_SC_CLK_TCK);
	return sum;
}

unsigned int processes_signal(int signal)
{
	unsigned int count = 0;
	struct table t;

	read_table(&t, getpid());
	for (size_t i = 0; i < t.count; i++)
		if (t.process[i].below && !kill(t.process[i].pid, signal))
			count++;
	free(t.process);
	return count;
}
