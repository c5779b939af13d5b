# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by benchmarks after tests/integration/lib.sh: the guest whose first program is guest_load.c, and what of its kernel that program runs.

# load_guest IMAGE: a guest that makes the loads of guest_load.c and nothing else.
load_guest() {
	cc -std=gnu17 -O2 -Wall -Wextra -Werror -static -o "$work/guest_load" tests/bench/guest_load.c
	vm-images/build-initramfs -o "$1" --init "$work/guest_load" --no-busybox
}

# The functions that these loads run. Only they are sampled: in an emulator it takes minutes to arm a whole kernel.
load_functions='pipe_*,vfs_read,vfs_write,ksys_*,path_openat,link_path_walk*,simple_*,d_alloc*,copy_process,copy_page_range,mm_init,vma_*'
load_functions=$load_functions,'update_*,account_*,enqueue_*,dequeue_*,pick_next_*,try_to_wake_up,task_tick*,scheduler_tick'
