/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One thread encrypts by asynchronous reads of an AF_ALG socket, and the other sets the IV of the same socket. Under outrider
 * explore, the first one compares the text with those of both IVs. The other thread may set its IV at any time, but each text
 * must be of one IV.
 */
#include "../trigger.h"

#include <linux/aio_abi.h>
#include <linux/if_alg.h>
#include <stdint.h>
#include <sys/syscall.h>

#define BLOCK 16
#define SIZE 1024
/* Bytes of a request under outrider explore, which steps the cipher. */
#define EXPLORED_SIZE (2 * BLOCK)
#define MIXED_TEXT 2
/* The value of each byte of the IV that each thread sets. */
#define IV 1
#define OTHER_IV 2

struct cipher {
	int socket;
	aio_context_t aio;
	char expected[2][EXPLORED_SIZE]; /* the texts of both IVs */
};

static void set_op(struct cmsghdr *c)
{
	*c = (struct cmsghdr){.cmsg_level = SOL_ALG, .cmsg_type = ALG_SET_OP, .cmsg_len = CMSG_LEN(sizeof(int))};
	*(unsigned int *)CMSG_DATA(c) = ALG_OP_ENCRYPT;
}

/* Send `size` bytes of plain text, and an IV. MSG_MORE lets the next message change the IV. */
static void send_with_iv(const struct cipher *cipher, char fill, size_t size)
{
	char data[SIZE] = {0},
	     control[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct af_alg_iv) + BLOCK)] __attribute__((aligned(8))) = {0};
	struct iovec part = {data, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	struct af_alg_iv *iv;

	set_op(c);
	c = CMSG_NXTHDR(&message, c);
	*c = (struct cmsghdr){.cmsg_level = SOL_ALG, .cmsg_type = ALG_SET_IV, .cmsg_len = CMSG_LEN(sizeof(*iv) + BLOCK)};
	iv = (void *)CMSG_DATA(c);
	iv->ivlen = BLOCK;
	memset(iv->iv, fill, BLOCK);
	sendmsg(cipher->socket, &message, MSG_MORE | MSG_DONTWAIT);
}

/* Encrypt `size` bytes. Returns whether that worked. */
static bool encrypt_to(const struct cipher *cipher, char iv, char *text, size_t size)
{
	struct iocb request = {.aio_lio_opcode = IOCB_CMD_PREAD,
			       .aio_fildes = (unsigned int)cipher->socket,
			       .aio_buf = (uintptr_t)text,
			       .aio_nbytes = size};
	struct iocb *requests[] = {&request};
	struct io_event event;

	send_with_iv(cipher, iv, size);
	return syscall(SYS_io_submit, cipher->aio, 1, requests) == 1 &&
	       syscall(SYS_io_getevents, cipher->aio, 1, 1, &event, NULL) == 1 && event.res == (long long)size;
}

static void encrypt(void *opaque)
{
	const struct cipher *cipher = opaque;
	char text[SIZE];

	if (!is_explored_step)
		encrypt_to(cipher, IV, text, SIZE);
	else if (!encrypt_to(cipher, IV, text, EXPLORED_SIZE))
		die("encrypt");
	else if (memcmp(text, cipher->expected[0], EXPLORED_SIZE) != 0 && memcmp(text, cipher->expected[1], EXPLORED_SIZE) != 0)
		step_status = MIXED_TEXT;
}

static void set_iv(void *opaque)
{
	send_with_iv(opaque, OTHER_IV, 0);
}

int main(void)
{
	struct sockaddr_alg name = {.salg_family = AF_ALG, .salg_type = "skcipher", .salg_name = "cryptd(cbc(aes-generic))"};
	struct cipher cipher = {0};
	int s = need(socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "open a socket of AF_ALG");

	need(bind(s, (const struct sockaddr *)&name, sizeof(name)), "bind it to the cipher");
	need(setsockopt(s, SOL_ALG, ALG_SET_KEY, "sixteen letters!", BLOCK), "set the key");
	cipher.socket = need(accept(s, NULL, NULL), "accept a socket for requests");
	need((int)syscall(SYS_io_setup, 4, &cipher.aio), "set up asynchronous I/O");
	if (is_explored() && (!encrypt_to(&cipher, OTHER_IV, cipher.expected[1], EXPLORED_SIZE) ||
			      !encrypt_to(&cipher, IV, cipher.expected[0], EXPLORED_SIZE)))
		die("encrypt");
	repeat_both(encrypt, set_iv, &cipher);
}
