// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/rsp/fake_stub.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "hv/rsp/packet.h"

#define PATIENCE_S 30

static const char target_xml[] =
	"<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target><architecture>i386:x86-64</architecture>"
	"<xi:include href=\"core.xml\"/></target>";

static const char core_xml[] =
	"<?xml version=\"1.0\"?><!DOCTYPE feature SYSTEM \"gdb-target.dtd\"><feature name=\"org.gnu.gdb.i386.core\">"
	"<flags id=\"f\" size=\"4\"><field name=\"\" start=\"22\" end=\"31\"/></flags>"
	"<reg name=\"rax\" bitsize=\"64\" regnum=\"0\"/><reg name=\"rbx\" bitsize=\"64\"/><reg name=\"rcx\" bitsize=\"64\"/>"
	"<reg name=\"rdx\" bitsize=\"64\"/><reg name=\"rsi\" bitsize=\"64\"/><reg name=\"rdi\" bitsize=\"64\"/>"
	"<reg name=\"rbp\" bitsize=\"64\"/><reg name=\"rsp\" bitsize=\"64\"/><reg name=\"r8\" bitsize=\"64\"/>"
	"<reg name=\"r9\" bitsize=\"64\"/><reg name=\"r10\" bitsize=\"64\"/><reg name=\"r11\" bitsize=\"64\"/>"
	"<reg name=\"r12\" bitsize=\"64\"/><reg name=\"r13\" bitsize=\"64\"/><reg name=\"r14\" bitsize=\"64\"/>"
	"<reg name=\"r15\" bitsize=\"64\"/><reg name=\"rip\" bitsize=\"64\"/><reg name=\"eflags\" bitsize=\"32\"/>"
	"<reg name=\"cs\" bitsize=\"32\"/><reg name=\"ss\" bitsize=\"32\"/><reg name=\"st0\" bitsize=\"80\"/>"
	"<reg name=\"gs_base\" bitsize=\"64\"/><reg name=\"k_gs_base\" bitsize=\"64\"/><reg name=\"cr3\" bitsize=\"64\"/>"
	"<reg name=\"cr4\" bitsize=\"64\"/><reg name=\"efer\" bitsize=\"64\"/></feature>";

/* ---- output ---- */

static void put(struct fake_stub *s, const void *bytes, size_t len)
{
	if (send(s->fd, bytes, len, MSG_NOSIGNAL) < 0)
		s->over = true;
}

static void reply_bytes(struct fake_stub *s, const char *payload, size_t len)
{
	uint8_t framed[RSP_PACKET_MAX];
	size_t n = rsp_frame(payload, len, framed, sizeof(framed));

	if (s->damage) {
		uint8_t wrong[RSP_PACKET_MAX];

		s->damage--;
		memcpy(wrong, framed, n);
		wrong[n - 1] = wrong[n - 1] == '0' ? '1' : '0';
		put(s, wrong, n);
		s->damaged++;
		/* The client says that the packet was damaged, so it is sent again. */
		put(s, framed, n);
		return;
	}
	put(s, framed, n);
}

static void reply(struct fake_stub *s, const char *payload)
{
	reply_bytes(s, payload, strlen(payload));
}

/* ---- what it knows ---- */

static size_t put_register(char *hex, uint64_t value, unsigned size)
{
	rsp_to_hex((const uint8_t *)&value, size, hex);
	return 2 * size;
}

static void reply_registers(struct fake_stub *s, const struct stub_cpu *cpu)
{
	char hex[1024];
	size_t at = 0;

	for (unsigned i = 0; i < STUB_GPRS; i++)
		at += put_register(hex + at, cpu->gpr[i], 8);
	at += put_register(hex + at, cpu->rip, 8);
	at += put_register(hex + at, cpu->rflags, 4);
	at += put_register(hex + at, 0x10, 4);
	at += put_register(hex + at, 0x18, 4);
	at += put_register(hex + at, 0x1111111111111111, 8);
	at += put_register(hex + at, 0x1111, 2);
	at += put_register(hex + at, cpu->gs_base, 8);
	at += put_register(hex + at, 0x2222222222222222, 8);
	at += put_register(hex + at, cpu->cr3, 8);
	at += put_register(hex + at, cpu->cr4, 8);
	at += put_register(hex + at, cpu->efer, 8);
	reply_bytes(s, hex, at);
}

/* The request P number=value, with the value little-endian. */
static void set_register(struct fake_stub *s, struct stub_cpu *cpu, const char *args)
{
	char *equals;
	unsigned long number = strtoul(args, &equals, 16);
	uint64_t value = 0;

	rsp_from_hex((const uint8_t *)equals + 1, strlen(equals + 1) / 2, (uint8_t *)&value);
	if (number < STUB_GPRS)
		cpu->gpr[number] = value;
	else if (number == STUB_GPRS)
		cpu->rip = value;
	else
		cpu->rflags = value;
	reply(s, "OK");
}

static void transfer(struct fake_stub *s, const char *args)
{
	const char *text = NULL, *place = strchr(args, ':');
	size_t offset, n, len;
	char out[4096];
	char *comma;

	if (strncmp(args, "target.xml:", 11) == 0)
		text = s->description ? s->description : target_xml;
	else if (strncmp(args, "core.xml:", 9) == 0)
		text = core_xml;
	if (!text) {
		reply(s, "E00");
		return;
	}
	offset = strtoul(place + 1, &comma, 16);
	n = strtoul(comma + 1, NULL, 16);
	len = strlen(text);
	n = offset > len ? 0 : n < len - offset ? n : len - offset;
	out[0] = offset + n < len ? 'm' : 'l';
	memcpy(out + 1, text + offset, n);
	reply_bytes(s, out, n + 1);
}

/* ---- memory ---- */

static void read_memory(struct fake_stub *s, const char *args, bool binary)
{
	char out[8200], *comma;
	uint64_t addr = strtoull(args, &comma, 16);
	size_t len = strtoul(comma + 1, NULL, 16), at = 1;

	if (addr > STUB_RAM || len > STUB_RAM - addr || len > 2048) {
		reply(s, "E14");
		return;
	}
	if (!binary) {
		rsp_to_hex(s->ram + addr, len, out);
		reply_bytes(s, out, 2 * len);
		return;
	}
	out[0] = 'b';
	for (size_t i = 0; i < len; i++)
		at += rsp_escape(s->ram[addr + i], (uint8_t *)out + at);
	reply_bytes(s, out, at);
}

static void write_memory(struct fake_stub *s, const uint8_t *args, size_t size, bool binary)
{
	const uint8_t *end = args + size;
	uint64_t addr, len;

	if (rsp_number(&args, end, &addr) || *args++ != ',' || rsp_number(&args, end, &len) || *args++ != ':' ||
	    addr > STUB_RAM || len > STUB_RAM - addr || (size_t)(end - args) != (binary ? len : 2 * len)) {
		reply(s, "E14");
		return;
	}
	if (binary)
		memcpy(s->ram + addr, args, len);
	else
		rsp_from_hex(args, len, s->ram + addr);
	reply(s, "OK");
}

/* ---- points ---- */

static struct stub_point *find_point(struct fake_stub *s, unsigned type, uint64_t addr)
{
	for (unsigned i = 0; i < STUB_POINTS; i++) {
		if (s->points[i].used && s->points[i].type == type && s->points[i].addr == addr)
			return &s->points[i];
	}
	return NULL;
}

static void change_point(struct fake_stub *s, const char *packet)
{
	char *end;
	unsigned type = (unsigned)strtoul(packet + 1, &end, 10), i = 0;
	uint64_t addr = strtoull(end + 1, &end, 16);
	unsigned len = (unsigned)strtoul(end + 1, NULL, 16);
	struct stub_point *point = find_point(s, type, addr);

	if (packet[0] == 'z') {
		if (point)
			point->used = false;
		reply(s, point ? "OK" : "E22");
		return;
	}
	while (i < STUB_POINTS && s->points[i].used)
		i++;
	if (point || i >= (s->points_max ? s->points_max : STUB_POINTS)) {
		reply(s, "E22");
		return;
	}
	s->points[i] = (struct stub_point){true, type, len, addr};
	reply(s, "OK");
}

/* ---- running ---- */

static void resume(struct fake_stub *s, const char *actions)
{
	bool all = strcmp(actions, ";c") == 0;

	for (unsigned c = 0; c < STUB_CPUS; c++) {
		char action[8];

		snprintf(action, sizeof(action), ";c:%x", c + 1);
		s->cpu[c].runs = all || strstr(actions, action);
	}
	s->running = true;
	s->resumes++;
	pthread_cond_broadcast(&s->changed);
}

static void stand_still(struct fake_stub *s, const char *packet)
{
	s->running = false;
	for (unsigned c = 0; c < STUB_CPUS; c++)
		s->cpu[c].runs = false;
	pthread_cond_broadcast(&s->changed);
	reply(s, packet);
}

static void forget_points(struct fake_stub *s)
{
	memset(s->points, 0, sizeof(s->points));
}

static void detach(struct fake_stub *s)
{
	forget_points(s);
	s->detached = true;
	s->running = true;
	pthread_cond_broadcast(&s->changed);
	reply(s, "OK");
}

/* ---- requests ---- */

/* QEMU's monitor: its answer in two packets of output, and then OK. */
static void monitor(struct fake_stub *s, const char *command)
{
	const char *answer = strcmp(command, "696e666f2076657273696f6e") == 0 ? s->version : s->status;
	size_t half = strlen(answer) / 2;
	char packet[256] = "O";

	rsp_to_hex((const uint8_t *)answer, half, packet + 1);
	reply(s, packet);
	memset(packet + 1, 0, sizeof(packet) - 1);
	rsp_to_hex((const uint8_t *)answer + half, strlen(answer) - half, packet + 1);
	reply(s, packet);
	reply(s, "OK");
}

static void query(struct fake_stub *s, const char *text)
{
	char hex[256];

	if (strncmp(text, "qSupported", 10) == 0) {
		snprintf(hex, sizeof(hex), "PacketSize=1000;qXfer:features:read+;vContSupported+;multiprocess+%s%s",
			 s->no_ack ? ";QStartNoAckMode+" : "", s->binary ? ";binary-upload+" : "");
		if (s->was_running)
			reply(s, "T02thread:01;");
		reply(s, hex);
	} else if (strncmp(text, "qXfer:features:read:", 20) == 0) {
		transfer(s, text + 20);
	} else if (strcmp(text, "qfThreadInfo") == 0) {
		reply(s, "m01");
	} else if (strcmp(text, "qsThreadInfo") == 0) {
		s->listed = !s->listed;
		reply(s, s->listed ? "m02" : "l");
	} else if (strncmp(text, "qThreadExtraInfo,", 17) == 0) {
		const char *state = s->cpu[strtoul(text + 17, NULL, 16) - 1].halted ? "CPU#0 [halted ]" : "CPU#0 [running]";

		rsp_to_hex((const uint8_t *)state, strlen(state), hex);
		reply_bytes(s, hex, 2 * strlen(state));
	} else if (strncmp(text, "qRcmd,", 6) == 0 && s->version) {
		monitor(s, text + 6);
	} else if (strcmp(text, "qqemu.PhyMemMode") == 0 && !s->no_physical) {
		reply(s, s->physical ? "1" : "0");
	} else {
		reply(s, "");
	}
}

static void request(struct fake_stub *s, const uint8_t *payload, size_t len)
{
	const char *text = (const char *)payload;

	if (s->mute)
		return;
	if (text[0] == 'q') {
		query(s, text);
	} else if (strcmp(text, "QStartNoAckMode") == 0 && s->no_ack) {
		reply(s, "OK");
	} else if (strncmp(text, "Qqemu.PhyMemMode:", 17) == 0 && !s->no_physical) {
		s->physical = text[17] == '1';
		reply(s, "OK");
	} else if (strcmp(text, "vCont?") == 0) {
		reply(s, "vCont;c;C;s;S");
	} else if (strncmp(text, "vCont", 5) == 0) {
		resume(s, text + 5);
	} else if (strcmp(text, "?") == 0) {
		forget_points(s);
		reply(s, "T05thread:01;");
	} else if (strncmp(text, "Hg", 2) == 0) {
		s->selected = (unsigned)strtoul(text + 2, NULL, 16) - 1;
		reply(s, s->selected < STUB_CPUS ? "OK" : "E22");
	} else if (strcmp(text, "g") == 0) {
		reply_registers(s, &s->cpu[s->selected]);
	} else if (text[0] == 'P') {
		set_register(s, &s->cpu[s->selected], text + 1);
	} else if (text[0] == 'm' || (text[0] == 'x' && s->binary)) {
		read_memory(s, text + 1, text[0] == 'x');
	} else if (text[0] == 'M' || (text[0] == 'X' && s->binary)) {
		write_memory(s, payload + 1, len - 1, text[0] == 'X');
	} else if (text[0] == 'Z' || text[0] == 'z') {
		change_point(s, text);
	} else if (strcmp(text, "D") == 0) {
		detach(s);
	} else {
		reply(s, "");
	}
}

/* An interrupt is one byte between packets. rsp_scan() would skip it, so this function takes it first. */
static size_t take_interrupt(struct fake_stub *s, uint8_t *bytes, size_t len)
{
	uint8_t *at = memchr(bytes, 3, len), *packet = memchr(bytes, '$', len);

	/* The byte 3 after the start of a packet is data of the packet, or an interrupt that must wait until the packet is
	 * handled. */
	if (!at || (packet && packet < at))
		return len;
	s->interrupts++;
	memmove(at, at + 1, (size_t)(bytes + len - at - 1));
	if (s->running)
		stand_still(s, "T02thread:01;");
	return len - 1;
}

static size_t handle(struct fake_stub *s, uint8_t *bytes, size_t len)
{
	uint8_t *payload = s->payload;

	for (;;) {
		size_t used, n;
		enum rsp_token token;

		len = take_interrupt(s, bytes, len);
		token = rsp_scan(bytes, len, &used, payload, &n);
		memmove(bytes, bytes + used, len - used);
		len -= used;
		if (token == RSP_NOTHING)
			return len;
		if (token != RSP_PACKET)
			continue;
		payload[n] = 0;
		request(s, payload, n);
	}
}

static void *serve(void *arg)
{
	struct fake_stub *s = arg;
	uint8_t *bytes = s->input;
	size_t len = 0;

	for (;;) {
		ssize_t n = recv(s->fd, bytes + len, sizeof(s->input) - len, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return NULL;
		pthread_mutex_lock(&s->lock);
		len = handle(s, bytes, len + (size_t)n);
		pthread_mutex_unlock(&s->lock);
	}
}

/* ---- for tests ---- */

struct fake_stub *fake_stub_new(void)
{
	struct fake_stub *s = calloc(1, sizeof(*s));
	int fds[2];

	if (!s || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		abort();
	s->fd = fds[0];
	s->client_fd = fds[1];
	s->ram = calloc(1, STUB_RAM);
	s->was_running = true;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	return s;
}

void fake_stub_start(struct fake_stub *s)
{
	if (pthread_create(&s->thread, NULL, serve, s))
		abort();
}

void fake_stub_stop(struct fake_stub *s, const char *packet)
{
	pthread_mutex_lock(&s->lock);
	if (s->running)
		stand_still(s, packet);
	pthread_mutex_unlock(&s->lock);
}

bool fake_stub_wait(struct fake_stub *s, bool running)
{
	struct timespec until;
	bool there;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&s->lock);
	while (s->running != running && pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0)
		;
	there = s->running == running;
	pthread_mutex_unlock(&s->lock);
	return there;
}

unsigned fake_stub_points(struct fake_stub *s, int type)
{
	unsigned n = 0;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < STUB_POINTS; i++)
		n += s->points[i].used && (type < 0 || s->points[i].type == (unsigned)type);
	pthread_mutex_unlock(&s->lock);
	return n;
}

bool fake_stub_has(struct fake_stub *s, unsigned type, uint64_t addr)
{
	bool has;

	pthread_mutex_lock(&s->lock);
	has = find_point(s, type, addr);
	pthread_mutex_unlock(&s->lock);
	return has;
}

void fake_stub_hang_up(struct fake_stub *s)
{
	shutdown(s->fd, SHUT_RDWR);
}

void fake_stub_free(struct fake_stub *s)
{
	fake_stub_hang_up(s);
	pthread_join(s->thread, NULL);
	close(s->fd);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s->ram);
	free(s);
}
