# SPDX-License-Identifier: GPL-2.0-or-later
# Many points and short windows: what is wanted is stacks, not races; until there are SAMPLES of them.
sample_stacks vmlinuz initrd.img "quiet cryptomgr.notests -- busy:1:1800 dmesg poweroff" 5000 1 "$SAMPLES" 2>"$LAB_OUT/console.log"
