// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs cases of the ground-truth module, a kernel module, one after another, by commands to the module's /proc file. In each
 * case two sides, which are kernel threads or timers, access the same data. A case has a known race, or is a control, which has
 * no race.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

#define MODULE_FILE "/outrider_gt.ko"
#define MODULE_NAME "outrider_gt"
#define CONTROL "/proc/outrider_gt"
#define DEFAULT_SECONDS 10.0
#define MAX_CASES 128
/*
 * On a busy host a side may not have run at all in the time that the user gave. Then the case goes on until each side has made
 * a round, or until SIDES_LIMIT seconds after the start of the case.
 */
#define SIDES_LIMIT 120.0
#define SIDES_PERIOD 100000 /* microseconds between checks whether both sides have made a round */

/*
 * A line of the module's /proc file: a case with its two sides, and how many rounds (repetitions of its access) each side has
 * made.
 */
struct gt_line {
	char name[32], group[32], state[16], side[2][32];
	unsigned long long rounds[2];
};

/* Load the module, if it is not loaded yet. Sets *loaded if this call loaded it. Returns an enum agent_rc. */
static int load_module(bool *loaded)
{
	int fd = open(MODULE_FILE, O_RDONLY | O_CLOEXEC), rc = AGENT_OK;

	*loaded = false;
	if (fd < 0 && !access(CONTROL, F_OK))
		return AGENT_OK;
	if (fd < 0)
		return say_failed("gt: %s", MODULE_FILE);
	if (!syscall(SYS_finit_module, fd, "", 0))
		*loaded = true;
	else if (errno != EEXIST)
		rc = say_failed("gt: load %s", MODULE_FILE);
	close(fd);
	return rc;
}

static int unload_module(void)
{
	return syscall(SYS_delete_module, MODULE_NAME, O_NONBLOCK) ? say_failed("gt: unload " MODULE_NAME) : AGENT_OK;
}

/* Read the module's cases. Returns their number, or writes a line and returns -1. */
static int list_cases(struct gt_line lines[MAX_CASES])
{
	char text[8192], *save;
	int n = 0;

	if (read_text(CONTROL, text, sizeof(text)) < 0) {
		say_failed("gt: %s", CONTROL);
		return -1;
	}
	for (char *line = strtok_r(text, "\n", &save); line && n < MAX_CASES; line = strtok_r(NULL, "\n", &save), n++) {
		struct gt_line *l = &lines[n];

		if (sscanf(line, "%31s %31s %15s %31[^=]=%llu %31[^=]=%llu", l->name, l->group, l->state, l->side[0],
			   &l->rounds[0], l->side[1], &l->rounds[1]) != 7) {
			say("gt: %s: cannot read '%s'", CONTROL, line);
			return -1;
		}
	}
	return n;
}

static int send_command(const char *verb, const char *name)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%s %s", verb, name), rc = AGENT_OK;
	int fd = open(CONTROL, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return say_failed("gt: %s", CONTROL);
	if (write(fd, text, (size_t)len) != len)
		rc = say_failed("gt: %s %s", verb, name);
	close(fd);
	return rc;
}

/* Returns whether the case is a control: it has no race, so the host never sends "enough" for it. */
static bool is_control(const struct gt_line *c)
{
	return !strcmp(c->group, "controls") || !strncmp(c->group, "atomic", strlen("atomic"));
}

/* Find the case's line. Returns false if there is none, or the file cannot be read. */
static bool find_case(const char *name, struct gt_line *out)
{
	struct gt_line lines[MAX_CASES];
	int n = list_cases(lines);

	for (int i = 0; i < n; i++) {
		if (strcmp(lines[i].name, name))
			continue;
		*out = lines[i];
		return true;
	}
	return false;
}

static void let_both_sides_run(const char *name, double since)
{
	struct gt_line line;

	while (now() - since < SIDES_LIMIT && find_case(name, &line) && !(line.rounds[0] && line.rounds[1]))
		usleep(SIDES_PERIOD);
}

static int run_case(const struct gt_line *c, const struct duration *d)
{
	int rc = send_command("start", c->name);
	double seconds, start = now();
	struct gt_line line;
	bool told;

	if (rc)
		return rc;
	say("gt: case %s: running", c->name);
	told = let_pass(c->name, d);
	let_both_sides_run(c->name, start);
	seconds = now() - start; /* how long the case ran: in a slow guest, longer than `d` says */
	rc = send_command("stop", c->name);
	if (!told)
		rc = AGENT_FAIL;
	if (!find_case(c->name, &line))
		return AGENT_FAIL;
	say("gt: case %s: %s=%llu %s=%llu seconds=%.1f", c->name, line.side[0], line.rounds[0], line.side[1], line.rounds[1],
	    seconds);
	return line.rounds[0] && line.rounds[1] ? rc : AGENT_FAIL;
}

static bool selected(const struct gt_line *c, const char *what, bool by_name)
{
	if (by_name)
		return !strcmp(c->name, what);
	return !strcmp(what, "all") || !strcmp(c->group, what) || (!strcmp(what, "racy") && !is_control(c));
}

static int run_selected(const char *what, const struct duration *d, bool by_name)
{
	struct gt_line lines[MAX_CASES];
	int n, rc, found = 0;
	bool loaded;

	rc = load_module(&loaded);
	if (rc)
		return rc;
	n = list_cases(lines);
	for (int i = 0; i < n; i++) {
		struct duration each = *d;

		if (!selected(&lines[i], what, by_name))
			continue;
		found++;
		if (is_control(&lines[i]) && !by_name)
			each.limit = 0; /* a control has no race, so the host never sends "enough" for it */
		if (run_case(&lines[i], &each))
			rc = AGENT_FAIL;
	}
	if (loaded && unload_module())
		rc = AGENT_FAIL;
	if (!found)
		say("gt: no %s '%s'", by_name ? "case" : "group", what);
	return found ? rc : AGENT_USAGE;
}

static int run_args(const char *args, bool by_name)
{
	char what[32];
	size_t len = strcspn(args, ":");
	struct duration d = {.seconds = DEFAULT_SECONDS};

	if (!len || len >= sizeof(what)) {
		say("gt: name a %s", by_name ? "case" : "group");
		return AGENT_USAGE;
	}
	memcpy(what, args, len);
	what[len] = '\0';
	if (args[len] && !parse_duration(args + len + 1, &d))
		return AGENT_USAGE;
	return run_selected(what, &d, by_name);
}

static int run_group(const char *args)
{
	return run_args(args, false);
}

static int run_one(const char *args)
{
	return run_args(args, true);
}

#define BEGIN_WHEN "begin when the console says \"enough CASE\", after LIMIT seconds at the latest"

const struct workload workload_gt = {"gt",
				     "gt:GROUP[:SECONDS[:LIMIT]]: the ground-truth cases of a group, or of all groups "
				     "(all), or only the cases with a race (racy), SECONDS each; with LIMIT, the SECONDS "
				     "of a racy case " BEGIN_WHEN,
				     run_group};
const struct workload workload_gtcase = {
	"gtcase", "gtcase:CASE[:SECONDS[:LIMIT]]: one ground-truth case; with LIMIT, its SECONDS " BEGIN_WHEN, run_one};
