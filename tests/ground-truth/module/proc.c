// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "gt.h"

#define GT_PROC_NAME "outrider_gt"
#define GT_MAX_COMMAND 64

/* Guards which cases run. */
static DEFINE_MUTEX(control);

static int harness_show_all(struct seq_file *m, void *v)
{
	unsigned int i;

	mutex_lock(&control);
	for (i = 0; gt_all_cases[i]; i++) {
		const struct gt_case *c = gt_all_cases[i];

		if (!harness_running(i) && c->available && !c->available())
			continue;
		seq_printf(m, "%s %s %s %s=%llu %s=%llu\n", c->name, c->group, harness_running(i) ? "running" : "stopped",
			   c->side[0].name, harness_rounds(i, 0), c->side[1].name, harness_rounds(i, 1));
	}
	mutex_unlock(&control);
	return 0;
}

static int harness_find(const char *name)
{
	unsigned int i;

	for (i = 0; gt_all_cases[i]; i++)
		if (!strcmp(gt_all_cases[i]->name, name))
			return i;
	return -ENOENT;
}

/* "NAME SIDE": a pair of stepped.c, or a case. */
static int harness_step(char *text)
{
	char *name = strsep(&text, " ");
	unsigned int side;
	int index;

	if (!text || kstrtouint(text, 10, &side) || side > 1)
		return -EINVAL;
	index = harness_find(name);
	return index < 0 ? harness_step_pair(name, side) : harness_step_case(index, side);
}

static int harness_command(char *text)
{
	char *name = strim(text), *verb = strsep(&name, " ");
	int rc = -EINVAL, index;

	if (name && !strcmp(verb, "complain"))
		return harness_complain(name);
	if (name && !strcmp(verb, "step"))
		return harness_step(name);
	if (name && !strcmp(verb, "prepare") && harness_find(name) < 0)
		return harness_prepare(name);
	index = name ? harness_find(name) : -EINVAL;
	if (index < 0)
		return index;
	mutex_lock(&control);
	if (!strcmp(verb, "start")) {
		rc = harness_start(index);
	} else if (!strcmp(verb, "prepare")) {
		rc = harness_prepare_case(index);
	} else if (!strcmp(verb, "stop")) {
		harness_stop(index);
		rc = 0;
	}
	mutex_unlock(&control);
	return rc;
}

static ssize_t harness_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char *text;
	int rc;

	if (len >= GT_MAX_COMMAND)
		return -EINVAL;
	text = memdup_user_nul(buf, len);
	if (IS_ERR(text))
		return PTR_ERR(text);
	rc = harness_command(text);
	kfree(text);
	return rc ? rc : len;
}

static int harness_open(struct inode *inode, struct file *file)
{
	return single_open(file, harness_show_all, NULL);
}

static const struct proc_ops harness_proc_ops = {
	.proc_open = harness_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = harness_write,
};

int harness_proc_init(void)
{
	return proc_create(GT_PROC_NAME, 0600, NULL, &harness_proc_ops) ? 0 : -ENOMEM;
}

void harness_proc_exit(void)
{
	remove_proc_entry(GT_PROC_NAME, NULL);
}
