// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A device that hands out numbers, each of them once, or so its author thought: /dev/ticket. Nothing keeps two readers from taking the
 * same number.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/uaccess.h>

static u64 ticket_next;

static ssize_t ticket_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	u64 mine;

	if (len < sizeof(mine))
		return -EINVAL;
	mine = ticket_next++;
	return copy_to_user(buf, &mine, sizeof(mine)) ? -EFAULT : sizeof(mine);
}

static const struct file_operations ticket_ops = {
	.owner = THIS_MODULE,
	.read = ticket_read,
};

static struct miscdevice ticket_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ticket",
	.fops = &ticket_ops,
};
module_misc_device(ticket_device);

MODULE_DESCRIPTION("Outrider's example of a driver with a race");
MODULE_LICENSE("GPL");
