// SPDX-License-Identifier: GPL-2.0-or-later
/* Values of options, and the messages about wrong values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdbool.h>
#include <string.h>

#include "hv/cli/attach_options.h"
#include "hv/cli/run_options.h"
#include "hv/rsp/rsp.h"

static void numbers(void **state)
{
	uint64_t n = 7;

	(void)state;
	assert_int_equal(cli_number("12", 1, 16, &n), 0);
	assert_int_equal(n, 12);
	assert_int_equal(cli_number("0x10", 0, 16, &n), 0);
	assert_int_equal(n, 16);
	assert_int_equal(cli_number("010", 0, 16, &n), 0);
	assert_int_equal(n, 10);
	assert_int_equal(cli_number("18446744073709551615", 0, UINT64_MAX, &n), 0);
	n = 7;
	for (const char **bad =
		     (const char *[]){"", "0", "17", "-1", "+1", " 1", "1 ", "1x", "x", "18446744073709551616", NULL};
	     *bad; bad++)
		assert_int_equal(cli_number(*bad, 1, 16, &n), -1);
	assert_int_equal(n, 7);
}

static void sizes(void **state)
{
	uint64_t n = 7;

	(void)state;
	assert_int_equal(cli_size("512M", 0, UINT64_MAX, &n), 0);
	assert_int_equal(n, 512u << 20);
	assert_int_equal(cli_size("5g", 0, UINT64_MAX, &n), 0);
	assert_int_equal(n, UINT64_C(5) << 30);
	assert_int_equal(cli_size("4096", 0, UINT64_MAX, &n), 0);
	assert_int_equal(n, UINT64_C(4096) << 20);
	assert_int_equal(cli_size("65536k", 0, UINT64_MAX, &n), 0);
	assert_int_equal(n, 64u << 20);
	n = 7;
	for (const char **bad =
		     (const char *[]){"", "M", "5X", "5MB", "5 M", "-5M", "16777216T", "1M", "1", "17592186044416", NULL};
	     *bad; bad++)
		assert_int_equal(cli_size(*bad, 2 << 20, UINT64_MAX, &n), -1);
	assert_int_equal(n, 7);
}

static void times(void **state)
{
	uint64_t n = 7;

	(void)state;
	assert_int_equal(cli_time("30s", &n), 0);
	assert_int_equal(n, UINT64_C(30000000000));
	assert_int_equal(cli_time("30", &n), 0);
	assert_int_equal(n, UINT64_C(30000000000));
	assert_int_equal(cli_time("2m", &n), 0);
	assert_int_equal(n, UINT64_C(120000000000));
	assert_int_equal(cli_time("500ms", &n), 0);
	assert_int_equal(n, 500000000);
	n = 7;
	for (const char **bad = (const char *[]){"", "s", "1d", "1.5s", "-1s", "30000000000s", NULL}; *bad; bad++)
		assert_int_equal(cli_time(*bad, &n), -1);
	assert_int_equal(n, 7);
}

#define MAX_ARGS 8

static int parse(struct run_options *o, struct err *err, const char *const args[])
{
	char *argv[MAX_ARGS + 2] = {(char *)"run"};
	int argc = 1;

	while (args[argc - 1]) {
		argv[argc] = (char *)args[argc - 1];
		argc++;
	}
	*err = (struct err){0};
	return run_options_parse(o, argc, argv, err);
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void good_options(void **state)
{
	struct run_options o;
	struct err err;

	(void)state;
	assert_int_equal(
		parse(&o, &err, ARGS("--kernel", "k", "--cpus=16", "--memory=5G", "--delay", "250", "--rate=30", "--per-cpu")),
		0);
	assert_string_equal(o.engine.vm.kernel, "k");
	assert_int_equal(o.engine.vm.cpus, 16);
	assert_int_equal(o.engine.vm.memory, UINT64_C(5) << 30);
	assert_int_equal(o.detect.session.detect.delay_ns, 250000);
	assert_int_equal(o.detect.session.detect.rate, 30);
	assert_true(o.detect.session.detect.per_cpu);
	run_options_free(&o);
	assert_int_equal(parse(&o, &err, ARGS("--kernel", "k", "--seed=0xffffffffffffffff", "--duration=2m")), 0);
	assert_true(o.detect.session.detect.seed == UINT64_MAX);
	assert_int_equal(o.detect.session.duration_ns, UINT64_C(120000000000));
	assert_int_equal(o.detect.session.replay_free_ns, UINT64_C(2000000000));
	assert_int_equal(o.engine.vm.cpus, 2);
	run_options_free(&o);
}

static void devices(void **state)
{
	struct run_options o;
	const struct vmm_config *vm = &o.engine.vm;
	struct err err;

	(void)state;
	assert_int_equal(parse(&o, &err, ARGS("--kernel=k")), 0);
	assert_true(!vm->disk_count && !vm->net && !vm->rng && !vm->vsock_cid && !vm->vsock_socket);
	run_options_free(&o);
	assert_int_equal(parse(&o, &err,
			       ARGS("--kernel=k", "--disk=a,,b.img", "--disk=/r,queues=3,overlay", "--disk=c,ro,format=raw",
				    "--rng", "--vsock=5,socket=/v")),
			 0);
	assert_int_equal(vm->disk_count, 3);
	assert_string_equal(vm->disks[0].path, "a,b.img");
	assert_true(!vm->disks[0].read_only && !vm->disks[0].overlay && vm->disks[0].queues == 0);
	assert_string_equal(vm->disks[1].path, "/r");
	assert_true(!vm->disks[1].read_only && vm->disks[1].overlay && vm->disks[1].queues == 3);
	assert_true(vm->disks[2].read_only && !vm->disks[2].overlay);
	assert_true(!vm->disks[1].raw && vm->disks[2].raw);
	assert_true(vm->rng);
	assert_int_equal(vm->vsock_cid, 5);
	assert_string_equal(vm->vsock_socket, "/v");
	run_options_free(&o);
}

static void networks(void **state)
{
	struct run_options o;
	const struct vmm_config *vm = &o.engine.vm;
	struct err err;

	(void)state;
	assert_int_equal(parse(&o, &err, ARGS("--kernel=k", "--net=none")), 0);
	assert_null(vm->net);
	run_options_free(&o);
	assert_int_equal(parse(&o, &err, ARGS("--kernel=k", "--net=tap=tap0")), 0);
	assert_int_equal(vm->net->kind, VMM_NET_TAP);
	assert_string_equal(vm->net->tap, "tap0");
	run_options_free(&o);
	assert_int_equal(parse(&o, &err, ARGS("--kernel=k", "--net=user,hostfwd=tcp::2222-:22,hostfwd=udp:0.0.0.0:53-:5353")),
			 0);
	assert_int_equal(vm->net->kind, VMM_NET_USER);
	assert_null(vm->net->tap);
	assert_int_equal(vm->net->count, 2);
	assert_true(!vm->net->forwards[0].udp && vm->net->forwards[0].address.s_addr == htonl(INADDR_LOOPBACK));
	assert_int_equal(vm->net->forwards[0].port, 2222);
	assert_int_equal(vm->net->forwards[0].guest_port, 22);
	assert_true(vm->net->forwards[1].udp && vm->net->forwards[1].address.s_addr == htonl(INADDR_ANY));
	assert_int_equal(vm->net->forwards[1].port, 53);
	assert_int_equal(vm->net->forwards[1].guest_port, 5353);
	run_options_free(&o);
}

static void wrong_options(void **state)
{
	static const struct {
		const char *args[4], *said;
	} cases[] = {
		{{"--rate=5"}, "needs --kernel"},
		{{"--kernel=k", "--cpus=0"}, "--cpus 0: give a number from 1 to 16"},
		{{"--kernel=k", "--cpus=17"}, "--cpus 17: give a number from 1 to 16"},
		{{"--kernel=k", "--memory=63M"}, "--memory 63M: give a size"},
		{{"--kernel=k", "--memory=100000001"}, "--memory 100000001: give a size"},
		{{"--kernel=k", "--rate=0"}, "--rate 0: give"},
		{{"--kernel=k", "--delay=0"}, "--delay 0: give"},
		{{"--kernel=k", "--seed=x"}, "--seed x: give"},
		{{"--kernel=k", "--duration=0"}, "--duration 0: give"},
		{{"--kernel=k", "--frobnicate"}, "--frobnicate is not an option of `outrider run`"},
		{{"--kernel=k", "-z"}, "-z is not an option of `outrider run`"},
		{{"--kernel=k", "--rate"}, "--rate needs a value"},
		{{"--kernel=k", "--per-cpu=1"}, "--per-cpu takes no value"},
		{{"--kernel=k", "stray"}, "'stray' is not expected"},
		{{"--kernel=k", "--sample="}, "--sample is empty"},
		{{"--kernel=k", "--no-detect", "--json=f"}, "--no-detect"},
	};
	struct run_options o;
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(parse(&o, &err, cases[i].args), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		if (!strstr(err.text, cases[i].said))
			fail_msg("'%s' is not in '%s'", cases[i].said, err.text);
		assert_null(strchr(err.text, '\n'));
		run_options_free(&o);
	}
}

static void wrong_attach_options(void **state)
{
	static const struct {
		const char *args[2], *said;
	} cases[] = {
		{{NULL}, "attach needs a DOMAIN"},
		{{"here", "--gdb=:1234"}, "give DOMAIN here or --gdb :1234, not both"},
		{{"here", "there"}, "give only one domain to attach to: 'here' or 'there'"},
		{{"here", "--overhead=51"}, "--overhead 51: give percent"},
	};
	struct attach_options o;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *argv[3] = {"outrider attach", (char *)cases[i].args[0], (char *)cases[i].args[1]};
		struct err err = {0};

		assert_int_equal(attach_options_parse(&o, 1 + !!argv[1] + !!argv[2], argv, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		if (!strstr(err.text, cases[i].said))
			fail_msg("'%s' is not in '%s'", cases[i].said, err.text);
		detect_options_free(&o.detect);
	}
}

static void wrong_stub_addresses(void **state)
{
	static const char *const cases[] = {"foo", "foo:", "foo:bar", "foo:0", "foo:65536", ":12x", "[::1]"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = {0};

		assert_int_equal(rsp_connect(cases[i], NULL, &err), -1);
		assert_int_equal(err.code, EXIT_USAGE);
		assert_non_null(strstr(err.text, "give unix:PATH or HOST:PORT"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(sizes),
		cmocka_unit_test(times),
		cmocka_unit_test(good_options),
		cmocka_unit_test(devices),
		cmocka_unit_test(networks),
		cmocka_unit_test(wrong_options),
		cmocka_unit_test(wrong_attach_options),
		cmocka_unit_test(wrong_stub_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
