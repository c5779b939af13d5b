/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread unloads and loads the guest's transport of vsock, and the other connects, which chooses a transport, and asks for
 * the CID. */
#include "../trigger.h"

#include <linux/vm_sockets.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define TRANSPORT "vmw_vsock_virtio_transport"

struct place {
	char module[256];
	int device;
};

/* The path of the transport's module, which init has loaded. */
static void find_module(char *path, int size)
{
	FILE *list = fopen("/lib/modules/load-order", "r");

	if (!list)
		die("open the list of modules");
	while (fgets(path, size, list)) {
		path[strcspn(path, "\n")] = 0;
		if (strstr(path, "/" TRANSPORT ".ko")) {
			fclose(list);
			return;
		}
	}
	die("find " TRANSPORT " in the list of modules");
}

static void reload(void *opaque)
{
	const struct place *place = opaque;
	int file;

	/* A socket of the other thread may use the module at this moment. */
	if (syscall(SYS_delete_module, TRANSPORT, O_NONBLOCK) < 0)
		return;
	if (is_explored_step)
		return;
	file = need(open(place->module, O_RDONLY | O_CLOEXEC), "open the module");
	need((int)syscall(SYS_finit_module, file, "", 0), "load the module");
	close(file);
}

static void choose(void *opaque)
{
	const struct place *place = opaque;
	struct sockaddr_vm host = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = 1234};
	unsigned int cid;
	int s;

	for (int i = 0; i < times(20); i++)
		if (ioctl(place->device, IOCTL_VM_SOCKETS_GET_LOCAL_CID, &cid) < 0)
			die("ask for the CID");
	s = need(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0), "open a socket of vsock");
	if (connect(s, (const struct sockaddr *)&host, sizeof(host)) == 0)
		die("be sure that no host answers");
	close(s);
}

int main(void)
{
	struct place place;

	find_module(place.module, sizeof(place.module));
	place.device = need(open("/dev/vsock", O_RDONLY | O_CLOEXEC), "open /dev/vsock");
	reload(&place);
	repeat_both(reload, choose, &place);
}
