// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table gives the struct that the objects of a slab cache contain, for caches that are not named after their struct. The
 * table was taken from the calls of kmem_cache_create() and KMEM_CACHE() in Linux 5.10 to 6.12. A row whose cache the guest
 * does not have is ignored. A row is used only if the struct is no larger than the cache's objects; of some structs the kernel
 * allocates only the first part.
 */
#include <string.h>

#include "hv/guest/linux_memory_types.h"

static const struct {
	const char *cache, *type;
} types[] = {
	{"AF_VSOCK", "vsock_sock"},
	{"PACKET", "packet_sock"},
	{"PING", "inet_sock"},
	{"RAW", "raw_sock"},
	{"RAWv6", "raw6_sock"},
	{"TCP", "tcp_sock"},
	{"TCPv6", "tcp6_sock"},
	{"UDP", "udp_sock"},
	{"UDPv6", "udp6_sock"},
	{"UNIX", "unix_sock"},
	{"UNIX-STREAM", "unix_sock"},
	{"bdev_cache", "bdev_inode"},
	{"blkdev_ioc", "io_context"},
	{"cred_jar", "cred"},
	{"eventpoll_epi", "epitem"},
	{"eventpoll_pwq", "eppoll_entry"},
	{"ext4_extent_status", "extent_status"},
	{"ext4_groupinfo_4k", "ext4_group_info"},
	{"ext4_inode_cache", "ext4_inode_info"},
	{"fasync_cache", "fasync_struct"},
	{"file_lock_cache", "file_lock"},
	{"file_lock_ctx", "file_lock_context"},
	{"files_cache", "files_struct"},
	{"filp", "file"},
	{"fs_cache", "fs_struct"},
	{"hugetlbfs_inode_cache", "hugetlbfs_inode_info"},
	{"inet_peer_cache", "inet_peer"},
	{"inode_cache", "inode"},
	{"ip6_dst_cache", "rt6_info"},
	{"ip_dst_cache", "rtable"},
	{"ip_fib_alias", "fib_alias"},
	{"ip_fib_trie", "key_vector"},
	{"jbd2_journal_head", "journal_head"},
	{"jbd2_transaction_s", "transaction_s"},
	{"kernfs_iattrs_cache", "kernfs_iattrs"},
	{"kernfs_node_cache", "kernfs_node"},
	{"mnt_cache", "mount"},
	{"mqueue_inode_cache", "mqueue_inode_info"},
	{"net_namespace", "net"},
	{"numa_policy", "mempolicy"},
	{"posix_timers_cache", "k_itimer"},
	{"proc_inode_cache", "proc_inode"},
	{"radix_tree_node", "xa_node"},
	{"request_sock_TCP", "tcp_request_sock"},
	{"request_sock_TCPv6", "tcp6_request_sock"},
	{"shared_policy_node", "sp_node"},
	{"shmem_inode_cache", "shmem_inode_info"},
	{"sighand_cache", "sighand_struct"},
	{"signal_cache", "signal_struct"},
	{"skbuff_ext_cache", "skb_ext"},
	{"skbuff_fclone_cache", "sk_buff_fclones"},
	{"skbuff_head_cache", "sk_buff"},
	{"sock_inode_cache", "socket_alloc"},
	{"tw_sock_TCP", "tcp_timewait_sock"},
	{"tw_sock_TCPv6", "tcp6_timewait_sock"},
	{"uid_cache", "user_struct"},
	{"userfaultfd_ctx_cache", "userfaultfd_ctx"},
};

static const struct {
	const char *type, *tail;
} cut[] = {
	{"kmem_cache", "node"},	       /* `node` is an array with one element for each NUMA node */
	{"task_struct", "thread.fpu"}, /* its length depends on the CPU's FPU state */
};

struct linux_cache_type linux_cache_type(const char *cache)
{
	struct linux_cache_type found = {.type = cache};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (strcmp(types[i].cache, cache) == 0)
			found.type = types[i].type;
	}
	for (size_t i = 0; i < sizeof(cut) / sizeof(*cut); i++) {
		if (strcmp(cut[i].type, found.type) == 0)
			found.tail = cut[i].tail;
	}
	return found;
}
