/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets of the guest to the socket device. No program of the host listens, but on port 1. The first byte is the features that
 * the driver takes.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "hv/vmm/vsock/virtio_vsock.h"
#include "tests/fuzz/rig.h"

/* Make a folder for the sockets, with a listener on PATH_1. */
static const char *make_path(void)
{
	static char path[80];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	fuzz_require(fd >= 0);
	snprintf(path, sizeof(path), "%s/v", fuzz_folder());
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/v_1", fuzz_folder());
	fuzz_require(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 4) == 0);
	return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rig m;
	static const char *path;
	struct vmm_config config = {.vsock_cid = 3};
	struct virtio_vsock *vsock;

	if (!path)
		path = make_path();
	config.vsock_socket = path;
	if (!size)
		return 0;
	rig_open(&m);
	vsock = virtio_vsock_new(&m.virtio, &config, 0, NULL);
	fuzz_require(vsock);
	rig_start(&m, (uint64_t)data[0] << 28, 16);
	rig_requests(&m, (uint64_t)data[0] << 28, 16, data + 1, size - 1);
	virtio_vsock_free(vsock);
	rig_close(&m);
	return 0;
}
