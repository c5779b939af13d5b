/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parses the options of `outrider run` for the devices of the machine: disks, network, entropy and vsock. */
#ifndef OUTRIDER_CLI_DEVICE_OPTIONS_H
#define OUTRIDER_CLI_DEVICE_OPTIONS_H

#include "hv/cli/choice.h"
#include "hv/cli/cli.h"
#include "hv/vmm/vmm.h"

/* Maximum number of ports that one command line forwards to the guest. */
#define DEVICE_FORWARDS_MAX 64

/*
 * Maximum number of option values that are copied: one for each disk, one for a network interface, and one for a vsock device.
 */
#define DEVICE_TEXTS_MAX (VMM_MAX_DISKS + 2)

struct device_options {
	struct cli_input input; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	struct vmm_disk disks[VMM_MAX_DISKS];
	size_t disk_count;
	/* --net was given. `net` describes the interface, unless the value was "none". */
	bool net_given, net_none;
	struct vmm_net net;
	struct vmm_forward forwards[DEVICE_FORWARDS_MAX];
	bool rng;
	/* The guest's context id. 0: --vsock was not given. */
	uint32_t vsock_cid;
	const char *vsock_socket; /* NULL: not given */
	/* Copies of option values, cut at their commas. The strings above point into these copies. */
	char *texts[DEVICE_TEXTS_MAX];
	size_t text_count;
};

/* A child parser for argp, in the option group 1. Its input is a struct device_options. */
extern const struct argp device_argp;

/* The words that a value of --net begins with. */
extern const struct cli_choice device_nets;

/* Initialise `o` without devices. Call device_options_free() in the end. `o` must not be moved. */
void device_options_init(struct device_options *o, struct err *err);
void device_options_free(struct device_options *o);

/* Set the devices of `config`, which must not outlive `o`. */
void device_options_apply(const struct device_options *o, struct vmm_config *config);

#endif
