# SPDX-License-Identifier: GPL-2.0-or-later
# Many points and short windows: what is wanted is stacks, not races.
sample_stacks vmlinuz initrd.img "quiet -- busy:$BUSY_SECONDS dmesg poweroff" 5000 1 200 2>"$LAB_OUT/console.log"
