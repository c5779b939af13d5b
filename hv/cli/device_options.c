// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the options of `outrider run` for the devices of the machine: disks, network, entropy and vsock. */
#include "hv/cli/device_options.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "hv/cli/suggest.h"

/*
 * Smallest and largest context id of a guest (vsock(7)). Ids below are those of the hypervisor and the host, and the id above
 * is VMADDR_CID_ANY.
 */
#define CID_MIN 3
#define CID_MAX (UINT32_MAX - 1)

#define DISK_VALUE "IMAGE[,ro][,overlay][,queues=N][,format=raw]"
#define FORWARD_VALUE "tcp|udp:[ADDR]:PORT-:GUESTPORT"
#define VSOCK_VALUE "CID[,socket=PATH]"

enum device_key {
	KEY_DISK = 0x400,
	KEY_NET,
	KEY_RNG,
	KEY_VSOCK,
};

static const struct argp_option options[] = {
	{"disk", KEY_DISK, "IMAGE[,ro][,overlay]...", 0,
	 "a disk with the content of IMAGE: ro, the guest cannot write to it; overlay, its writes go to a temporary file that "
	 "is removed at the end of the run; queues=N and format=raw, see outrider-run(1); a comma in the name is written "
	 "twice; may be "
	 "given several times",
	 1},
	{"net", KEY_NET, "NET", 0,
	 "network interface: none (the default), tap=NAME, or user, which needs no rights and can lead ports of the host to "
	 "the "
	 "guest (hostfwd=, see outrider-run(1))",
	 1},
	{"rng", KEY_RNG, NULL, 0, "give the guest a source of entropy", 1},
	{"vsock", KEY_VSOCK, VSOCK_VALUE, 0,
	 "give the guest a vsock device with this context id, which programs of the host reach by a Unix socket (default: "
	 "outrider/vsock-CID in $XDG_RUNTIME_DIR)",
	 1},
	{0},
};

static const char *const nets[] = {"none", "user", "tap=", NULL};

static const char *net_word(size_t i)
{
	return nets[i];
}

const struct cli_choice device_nets = {.metavar = "NET", .word = net_word};

static char *keep(struct device_options *o, const char *arg)
{
	char *copy = strdup(arg);

	if (copy)
		o->texts[o->text_count++] = copy;
	return copy;
}

/*
 * Cut off the first part of *rest, and return this part. *rest becomes NULL after the last part. An option's value has parts
 * with commas between them, as in QEMU: "disk.img,queues=4". Two commas stand for one comma inside of a part.
 */
static char *next_word(char **rest)
{
	char *word = *rest, *to = word, *from = word;

	for (; *from && (*from != ',' || from[1] == ','); from++) {
		*to++ = *from;
		if (*from == ',')
			from++;
	}
	*rest = *from ? from + 1 : NULL;
	*to = '\0';
	return word;
}

/* Returns the text after `name` in `word`, such as "4" after "queues=", or NULL if `word` does not begin with `name`. */
static const char *value_after(const char *word, const char *name)
{
	size_t len = strlen(name);

	return strncmp(word, name, len) == 0 ? word + len : NULL;
}

/* Refuse `word`, a part of the value `arg` of the option. `known` has the valid parts, up to NULL. */
static error_t wrong_word(struct argp_state *state, const char *option, const char *arg, const char *word,
			  const char *const *known, const char *wanted)
{
	struct suggest suggest = suggest_begin(word, strcspn(word, "="));

	for (size_t i = 0; known[i]; i++)
		suggest_offer(&suggest, known[i]);
	if (suggest_end(&suggest))
		return cli_usage(state, "--%s %s: '%s' is not known: give %s; did you mean %s?", option, arg, word, wanted,
				 suggest_end(&suggest));
	return cli_usage(state, "--%s %s: '%s' is not known: give %s", option, arg, word, wanted);
}

/* ---- disks ---- */

static error_t disk_word(struct argp_state *state, const char *arg, struct vmm_disk *disk, const char *word)
{
	static const char *const known[] = {"ro", "overlay", "queues", "format", NULL};
	const char *queues = value_after(word, "queues="), *format = value_after(word, "format=");
	uint64_t n;

	if (strcmp(word, "ro") == 0) {
		disk->read_only = true;
	} else if (strcmp(word, "overlay") == 0) {
		disk->overlay = true;
	} else if (queues) {
		if (cli_number(queues, 1, VMM_MAX_CPUS, &n) < 0)
			return cli_usage(state, "--disk %s: give queues a number from 1 to %d", arg, VMM_MAX_CPUS);
		disk->queues = (unsigned)n;
	} else if (format) {
		if (strcmp(format, "raw") != 0)
			return cli_usage(state, "--disk %s: images are raw: give format=raw, or nothing", arg);
		disk->raw = true;
	} else {
		return wrong_word(state, "disk", arg, word, known, DISK_VALUE);
	}
	return 0;
}

static error_t disk_option(struct argp_state *state, struct device_options *o, const char *arg)
{
	struct vmm_disk disk = {0};
	char *rest;

	if (o->disk_count == VMM_MAX_DISKS)
		return cli_usage(state, "--disk %s: a machine has %d disks at most", arg, VMM_MAX_DISKS);
	rest = keep(o, arg);
	if (!rest)
		return ENOMEM;
	disk.path = next_word(&rest);
	if (!disk.path[0])
		return cli_usage(state, "--disk %s: the image is missing: give %s", arg, DISK_VALUE);
	while (rest) {
		error_t rc = disk_word(state, arg, &disk, next_word(&rest));

		if (rc)
			return rc;
	}
	if (disk.read_only && disk.overlay)
		return cli_usage(state, "--disk %s: give either ro or overlay: nothing is written to a read-only disk", arg);
	o->disks[o->disk_count++] = disk;
	return 0;
}

/* ---- network ---- */

/* Cut off the part of *text before `end`. Returns the part, or NULL if *text does not contain `end`. */
static char *cut(char **text, const char *end)
{
	char *part = *text, *at = strstr(part, end);

	if (!at)
		return NULL;
	*at = '\0';
	*text = at + strlen(end);
	return part;
}

static int read_port(const char *text, uint16_t *port)
{
	uint64_t value;

	if (cli_number(text, 1, UINT16_MAX, &value) < 0)
		return -1;
	*port = (uint16_t)value;
	return 0;
}

/* Parse "tcp:127.0.0.1:2222-:22" into *f. Without an address, the port can be reached from this host only. Returns 0, or -1. */
static int read_forward(char *text, struct vmm_forward *f)
{
	const char *protocol = cut(&text, ":"), *address = protocol ? cut(&text, ":") : NULL;
	const char *port = address ? cut(&text, "-:") : NULL;

	if (!port || (strcmp(protocol, "tcp") != 0 && strcmp(protocol, "udp") != 0))
		return -1;
	f->udp = protocol[0] == 'u';
	if (inet_pton(AF_INET, address[0] ? address : "127.0.0.1", &f->address) != 1)
		return -1;
	return read_port(port, &f->port) < 0 || read_port(text, &f->guest_port) < 0 ? -1 : 0;
}

static bool same_port(const struct vmm_forward *a, const struct vmm_forward *b)
{
	return a->udp == b->udp && a->port == b->port && a->address.s_addr == b->address.s_addr;
}

static error_t forward_word(struct argp_state *state, struct device_options *o, const char *arg, char *word)
{
	static const char *const known[] = {"hostfwd", NULL};
	struct vmm_forward *f = &o->forwards[o->net.count];

	if (!value_after(word, "hostfwd="))
		return wrong_word(state, "net", arg, word, known, "user[,hostfwd=" FORWARD_VALUE "]...");
	if (o->net.count == DEVICE_FORWARDS_MAX)
		return cli_usage(state, "--net user: more than %d forwarded ports", DEVICE_FORWARDS_MAX);
	if (read_forward(word + strlen("hostfwd="), f) < 0)
		return cli_usage(state, "--net %s: give hostfwd=%s, for example hostfwd=tcp::2222-:22", arg, FORWARD_VALUE);
	for (size_t i = 0; i < o->net.count; i++) {
		if (same_port(&o->forwards[i], f))
			return cli_usage(state, "--net %s: port %u is forwarded twice", arg, f->port);
	}
	o->net.count++;
	return 0;
}

static error_t user_net(struct argp_state *state, struct device_options *o, const char *arg, char *rest)
{
	o->net.kind = VMM_NET_USER;
	while (rest) {
		error_t rc = forward_word(state, o, arg, next_word(&rest));

		if (rc)
			return rc;
	}
	return 0;
}

static error_t tap_net(struct argp_state *state, struct device_options *o, const char *arg, const char *name, const char *rest)
{
	o->net.kind = VMM_NET_TAP;
	o->net.tap = name;
	if (rest)
		return cli_usage(state, "--net %s: nothing is expected after tap=NAME", arg);
	if (!name[0] || strlen(name) >= IFNAMSIZ || strchr(name, '/'))
		return cli_usage(state, "--net %s: give the name of a tap interface, of %d characters at most", arg,
				 IFNAMSIZ - 1);
	return 0;
}

static error_t net_option(struct argp_state *state, struct device_options *o, const char *arg)
{
	const char *kind;
	char *rest;
	size_t index;

	if (o->net_given)
		return cli_usage(state, "--net %s: a machine has one network interface at most", arg);
	o->net_given = true;
	rest = keep(o, arg);
	if (!rest)
		return ENOMEM;
	kind = next_word(&rest);
	if (strcmp(kind, "user") == 0)
		return user_net(state, o, arg, rest);
	if (value_after(kind, "tap="))
		return tap_net(state, o, arg, value_after(kind, "tap="), rest);
	o->net_none = true;
	return cli_choose(state, &device_nets, "net", arg, &index);
}

/* ---- vsock ---- */

static error_t vsock_option(struct argp_state *state, struct device_options *o, const char *arg)
{
	static const char *const known[] = {"socket", NULL};
	uint64_t cid;
	char *rest;

	if (o->vsock_cid)
		return cli_usage(state, "--vsock %s: a machine has one vsock device at most", arg);
	rest = keep(o, arg);
	if (!rest)
		return ENOMEM;
	if (cli_number(next_word(&rest), CID_MIN, CID_MAX, &cid) < 0)
		return cli_usage(state, "--vsock %s: give a context id from %u to %u", arg, CID_MIN, CID_MAX);
	o->vsock_cid = (uint32_t)cid;
	while (rest) {
		const char *word = next_word(&rest), *path = value_after(word, "socket=");

		if (!path)
			return wrong_word(state, "vsock", arg, word, known, VSOCK_VALUE);
		if (!path[0])
			return cli_usage(state, "--vsock %s: the path of the socket is missing: give %s", arg, VSOCK_VALUE);
		o->vsock_socket = path;
	}
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct device_options *o = state->input;

	switch (key) {
	case KEY_DISK:
		return disk_option(state, o, arg);
	case KEY_NET:
		return net_option(state, o, arg);
	case KEY_RNG:
		o->rng = true;
		return 0;
	case KEY_VSOCK:
		return vsock_option(state, o, arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp device_argp = {.options = options, .parser = parser};

void device_options_init(struct device_options *o, struct err *err)
{
	*o = (struct device_options){.input = {err}};
	o->net.forwards = o->forwards;
}

void device_options_free(struct device_options *o)
{
	for (size_t i = 0; i < o->text_count; i++)
		free(o->texts[i]);
	o->text_count = 0;
}

void device_options_apply(const struct device_options *o, struct vmm_config *config)
{
	config->disks = o->disks;
	config->disk_count = o->disk_count;
	config->net = NULL;
	if (o->net_given && !o->net_none)
		config->net = &o->net;
	config->rng = o->rng;
	config->vsock_cid = o->vsock_cid;
	config->vsock_socket = o->vsock_socket;
}
