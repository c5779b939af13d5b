// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a scenario file, which may contain anything. fail() reports the first error, in one line with the file's name. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "hv/base/x86.h"
#include "hv/race/facts.h"
#include "hv/replay/scenario/format.h"
#include "symbols/insn/insn.h"

#define BUFFER_SIZE (1u << 18)
#define WINDOW_LOG_MAX 23 /* 8 MiB: the maximum size of zstd's window, and more than the writer needs */
#define STATE_MAX (64u << 20)
#define INSTRUCTIONS_MAX UINT64_C(100000000)
#define FREE_NS_MAX (UINT64_C(3600) * 1000000000)

struct in {
	const char *path;
	int fd;
	struct err *err;
	ZSTD_DCtx *zstd;
	uint8_t *buffer;
	ZSTD_inBuffer ready; /* bytes of the file in `buffer` */
	bool frame_over;
	uint32_t version; /* of the file's format */
};

static int fail(const struct in *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int fail(const struct in *in, const char *fmt, ...)
{
	char what[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	return err_set(in->err, EXIT_INPUT, "scenario %.250s: %s", in->path, what);
}

/* ---- bytes ---- */

/* Read more of the file into the buffer. Returns the number of bytes, 0 at the end of the file, or -1. */
static ssize_t fill(struct in *in)
{
	ssize_t n;

	do
		n = read(in->fd, in->buffer, BUFFER_SIZE);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fail(in, "%s", strerror(errno));
	in->ready = (ZSTD_inBuffer){in->buffer, (size_t)n, 0};
	return n;
}

/* Decompress more bytes into the rest of `out`. Returns 0, or -1 with the error set. */
static int decompress(struct in *in, ZSTD_outBuffer *out)
{
	ssize_t n = in->ready.pos == in->ready.size ? fill(in) : 1;
	size_t rc;

	if (n <= 0)
		return n < 0 ? -1 : fail(in, "it is not whole: it was cut off");
	rc = ZSTD_decompressStream(in->zstd, out, &in->ready);
	if (ZSTD_isError(rc))
		return fail(in, "it is damaged: %s", ZSTD_getErrorName(rc));
	in->frame_over = rc == 0;
	return 0;
}

/* Decompress exactly `len` bytes. */
static int get(struct in *in, void *data, size_t len)
{
	ZSTD_outBuffer out = {data, len, 0};

	while (out.pos < out.size) {
		if (in->frame_over)
			return fail(in, "it is damaged: it ends too early");
		if (decompress(in, &out) < 0)
			return -1;
	}
	return 0;
}

static int check_nothing_follows(struct in *in)
{
	ssize_t n = in->ready.pos == in->ready.size ? fill(in) : 1;

	return n > 0 ? fail(in, "it is damaged: something follows its end") : (int)n;
}

/* Read to the end of the frame, where zstd checks the checksum. Fails if the file goes on after the frame. */
static int finish(struct in *in)
{
	uint8_t none;

	while (!in->frame_over) {
		ZSTD_outBuffer out = {&none, 0, 0};

		if (decompress(in, &out) < 0)
			return -1;
		if (!in->frame_over && in->ready.pos < in->ready.size)
			return fail(in, "it is damaged: something follows its end");
	}
	return check_nothing_follows(in);
}

static int get_part(struct in *in, enum scenario_section type, uint64_t most, uint64_t *len)
{
	struct scenario_part part = {0};

	if (get(in, &part, sizeof(part)) < 0)
		return -1;
	if (part.type != type || part.zero)
		return fail(in, "it is damaged: its section %d has the type %" PRIu32, type, part.type);
	if (part.len > most)
		return fail(in, "it is damaged: its section %d has %" PRIu64 " bytes", type, part.len);
	*len = part.len;
	return 0;
}

/* ---- sections ---- */

static int get_head(struct in *in)
{
	struct scenario_head head = {0};
	ssize_t n = read(in->fd, &head, sizeof(head));

	if (n < 0)
		return fail(in, "%s", strerror(errno));
	if (n < SCENARIO_MAGIC_LEN || memcmp(head.magic, SCENARIO_MAGIC, SCENARIO_MAGIC_LEN))
		return fail(in, "it is no scenario: `outrider run --replay --save DIR` makes them");
	if (n < (ssize_t)sizeof(head))
		return fail(in, "it is not whole: it was cut off");
	if (head.version > SCENARIO_VERSION)
		return fail(in, "it has version %" PRIu32 ", and this outrider knows %u: use the newer one that made it",
			    head.version, SCENARIO_VERSION);
	if (!head.version || head.zero)
		return fail(in, "it is damaged: its version is %" PRIu32, head.version);
	in->version = head.version;
	return 0;
}

static int get_fields(struct in *in, struct scenario *out)
{
	uint8_t fields[SCENARIO_FIELDS_MAX];
	uint64_t len;

	if (get_part(in, SCENARIO_FACTS, sizeof(fields), &len) < 0 || get(in, fields, (size_t)len) < 0)
		return -1;
	return scenario_get_fields(out, in->version, fields, (size_t)len)
		       ? 0
		       : fail(in, "it is damaged: its facts about the race have the wrong length");
}

static int get_state(struct in *in, struct vm_state *state)
{
	uint64_t len;

	if (get_part(in, SCENARIO_STATE, STATE_MAX, &len) < 0)
		return -1;
	state->data = malloc((size_t)len + 1);
	state->len = (size_t)len;
	if (!state->data)
		return fail(in, "no memory for its state of %" PRIu64 " bytes", len);
	return get(in, state->data, state->len);
}

/* Returns the memory that the host has available, in bytes, or UINT64_MAX if unknown. */
static uint64_t available(void)
{
	unsigned long long kib = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(line, sizeof(line), f) && sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
		;
	if (f)
		fclose(f);
	return kib ? (uint64_t)kib << 10 : UINT64_MAX;
}

/*
 * Read the pages of RAM. A small file can expand to RAM of any size, so check the host's available memory before each range of
 * pages.
 */
static int get_runs(struct in *in, const struct ram *ram)
{
	uint64_t size = ram->low + ram->high, at = 0, used = 0, most = available();
	struct scenario_run run = {0};

	for (;;) {
		if (get(in, &run, sizeof(run)) < 0)
			return -1;
		if (!run.pages)
			return run.offset ? fail(in, "it is damaged: the end of its RAM is missing") : 0;
		if (run.offset % X86_PAGE_SIZE || run.offset < at || run.offset >= size ||
		    run.pages > (size - run.offset) / X86_PAGE_SIZE)
			return fail(in, "it is damaged: %" PRIu64 " pages at offset 0x%" PRIx64 " of its RAM are out of place",
				    run.pages, run.offset);
		used += run.pages * X86_PAGE_SIZE;
		if (used > most)
			return fail(in,
				    "its machine uses more than %" PRIu64 " MiB of RAM, and this host has %" PRIu64
				    " MiB available; free some memory",
				    used >> 20, most >> 20);
		if (get(in, ram->host + run.offset, (size_t)(run.pages * X86_PAGE_SIZE)) < 0)
			return -1;
		at = run.offset + run.pages * X86_PAGE_SIZE;
	}
}

static int get_ram(struct in *in, uint64_t size, struct ram *ram)
{
	struct err err = {0};
	uint64_t len;

	if (get_part(in, SCENARIO_RAM, 0, &len) < 0)
		return -1;
	if (ram_map(ram, size, &err) < 0)
		return err.code == EXIT_USAGE
			       ? fail(in, "it is damaged: a machine cannot have %" PRIu64 " bytes of RAM", size)
			       : fail(in, "this host does not give the %" PRIu64 " MiB of its RAM; free some memory",
				      size >> 20);
	/* With huge pages, a single page could take 512 times the memory that get_runs() counts. */
	madvise(ram->host, ram->low + ram->high, MADV_NOHUGEPAGE);
	return get_runs(in, ram);
}

/* ---- checks ---- */

static bool side_is_good(const struct rendezvous_side *s, const struct ram *ram, unsigned cpus)
{
	bool access_is_good = s->size && s->size <= X86_PAGE_SIZE && s->rw && !(s->rw & ~(INSN_READ | INSN_WRITE)) &&
			      s->insn_len && s->insn_len <= INSN_MAX_LEN;

	return access_is_good && s->cpu < cpus && ram_at(ram, s->gpa, s->size) && s->context.kind <= GUEST_NMI;
}

static bool config_is_good(const struct replay_config *c)
{
	return c->instructions && c->instructions <= INSTRUCTIONS_MAX && c->free_ns <= FREE_NS_MAX;
}

static int check(struct in *in, const struct scenario *s, unsigned cpus)
{
	const struct rendezvous_side *sides = s->rendezvous.sides;
	const char *wrong = replay_instance_wrong(&s->facts.instance);

	if (wrong)
		return fail(in, "it is damaged: %.120s", wrong);
	if (!side_is_good(&sides[0], &s->ram, cpus) || !side_is_good(&sides[1], &s->ram, cpus) || sides[0].cpu == sides[1].cpu)
		return fail(in, "it is damaged: the places of its two sides are impossible");
	return config_is_good(&s->config) ? 0 : fail(in, "it is damaged: its settings for the orders are impossible");
}

static int get_all(struct in *in, struct scenario *out)
{
	struct vm_state_facts machine;
	struct err err = {0};
	uint64_t none;

	if (get_head(in) < 0 || get_fields(in, out) < 0 || get_state(in, &out->state) < 0)
		return -1;
	if (vm_state_check(&out->state, &machine, &err) < 0)
		return fail(in, "%.150s", err.text);
	if (get_ram(in, machine.memory, &out->ram) < 0 || get_part(in, SCENARIO_END, 0, &none) < 0 || finish(in) < 0)
		return -1;
	return check(in, out, machine.cpus);
}

/* O_NONBLOCK keeps open() from waiting for a FIFO's writer. The check for a regular file then refuses the FIFO. */
static int open_in(struct in *in)
{
	struct stat st;

	in->fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (in->fd < 0 || fstat(in->fd, &st) < 0)
		return fail(in, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(in, "it is not a regular file");
	in->zstd = ZSTD_createDCtx();
	in->buffer = malloc(BUFFER_SIZE);
	if (!in->zstd || !in->buffer)
		return fail(in, "no memory to read it");
	ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
	return 0;
}

int scenario_open(const char *path, struct scenario *out, struct err *err)
{
	struct in in = {.path = path, .fd = -1, .err = err};
	int rc = -1;

	*out = (struct scenario){0};
	if (open_in(&in) == 0)
		rc = get_all(&in, out);
	if (rc < 0)
		scenario_close(out);
	ZSTD_freeDCtx(in.zstd);
	free(in.buffer);
	if (in.fd >= 0)
		close(in.fd);
	return rc;
}

void scenario_close(struct scenario *s)
{
	vm_state_free(&s->state);
	ram_unmap(&s->ram);
}
