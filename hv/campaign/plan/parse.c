// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts a valid document to a struct plan. A table maps each element of a part to the function that reads it. */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/plan/internal.h"

const char *const plan_axis_words[PLAN_AXES] = {"kernel", "image", "workload", "sampling"};

struct parse {
	struct plan *plan;
	struct err *err;
};

/* ---- values ---- */

static const char *text_of(struct parse *p, const xmlNode *node)
{
	return plan_copy(&p->plan->text, document_text(node), p->err);
}

/* The attribute's value, or NULL if there is none. An error stays in p->err. */
static const char *attribute_of(struct parse *p, const xmlNode *node, const char *name)
{
	char *value = document_attribute(node, name);

	return value ? plan_copy(&p->plan->text, value, p->err) : NULL;
}

/* The grammar ensures that the text is a number. */
static uint64_t number_in(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

struct unit {
	const char *name;
	double factor;
};

/* Read a positive amount with its unit. A larger value than `most` becomes `most`. */
static uint64_t amount(struct parse *p, const xmlNode *node, const struct unit *units, double most)
{
	const char *text = text_of(p, node), *unit = attribute_of(p, node, "unit");
	double value = text ? strtod(text, NULL) : 0;

	for (; unit && units->name; units++) {
		if (strcmp(unit, units->name) == 0)
			value *= units->factor;
	}
	return value >= most ? (uint64_t)most : value < 1 ? 1 : (uint64_t)value;
}

static uint64_t time_ns(struct parse *p, const xmlNode *node)
{
	static const struct unit units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}, {0}};

	return amount(p, node, units, 4e18);
}

static uint64_t size_bytes(struct parse *p, const xmlNode *node)
{
	static const struct unit units[] = {
		{"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}, {0}};

	return amount(p, node, units, 4e18);
}

static struct plan_value value_of(const char *text, const xmlNode *node)
{
	return (struct plan_value){.text = text, .line = xmlGetLineNo(node), .more = ""};
}

static void add_value(struct parse *p, struct plan_values *values, struct plan_value value)
{
	struct plan_value *list = realloc(values->list, (values->count + 1) * sizeof(*list));

	if (!list) {
		err_set(p->err, EXIT_INTERNAL, "out of memory");
		return;
	}
	values->list = list;
	list[values->count++] = value;
}

/* ---- elements of a part ---- */

/* Read an element into a part. An error stays in p->err. */
typedef void reader(struct parse *p, const xmlNode *node, struct plan_part *part);

static void read_domain(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->domain_file = value_of(attribute_of(p, node, "file"), node);
	part->domain_name = value_of(attribute_of(p, node, "name"), node);
	part->uri = value_of(attribute_of(p, node, "uri"), node);
}

static void read_kernel(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->kernel = value_of(text_of(p, node), node);
}

static void read_vcpu(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->vcpu = value_of(text_of(p, node), node);
	part->vcpus = (unsigned)number_in(part->vcpu.text);
}

static void read_memory(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->memory = value_of(text_of(p, node), node);
	part->bytes = size_bytes(p, node);
}

static void read_initrd(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->initrd = value_of(text_of(p, node), node);
}

static void read_cmdline(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->cmdline = value_of(text_of(p, node), node);
}

static void read_disk(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	struct plan_value disk = {.more = ""};

	for (const xmlNode *n = document_first(node); n; n = document_next(n)) {
		if (document_is(n, "source")) {
			disk.text = attribute_of(p, n, "file");
			disk.line = xmlGetLineNo(n);
		} else {
			disk.more = document_is(n, "readonly") ? ",ro" : ",overlay";
		}
	}
	add_value(p, &part->disks, disk);
}

static void read_interface(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	const xmlNode *target = document_first(node);
	const char *device = target ? attribute_of(p, target, "dev") : NULL;
	char *tap = NULL;

	if (device)
		tap = asprintf(&tap, "tap=%s", device) < 0 ? NULL : tap;
	part->net = value_of(device ? plan_copy(&p->plan->text, tap, p->err) : "user", node);
}

static void read_rng(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	(void)p;
	(void)node;
	part->rng = true;
}

static void read_symbols(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	add_value(p, &part->symbols, value_of(text_of(p, node), node));
}

static void read_sources(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	add_value(p, &part->sources, value_of(text_of(p, node), node));
}

static void read_rules(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	add_value(p, &part->rules, value_of(text_of(p, node), node));
}

static void read_suppress(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	add_value(p, &part->suppress, value_of(text_of(p, node), node));
}

static void read_duration(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->duration_ns = time_ns(p, node);
}

/* Join the functions with commas, as --sample expects them. */
static void read_function(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	const char *name = text_of(p, node), *before = part->functions.text;
	char *joined = NULL;

	if (!name)
		return;
	if (asprintf(&joined, "%s%s%s", before ? before : "", before ? "," : "", name) < 0)
		joined = NULL;
	part->functions = value_of(plan_copy(&p->plan->text, joined, p->err), node);
}

static void read_module(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->module = value_of(text_of(p, node), node);
}

static void read_percpu(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	(void)p;
	(void)node;
	part->percpu = true;
}

static void read_rate(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->rate = number_in(text_of(p, node));
}

static void read_delay(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->delay_us = time_ns(p, node) / 1000;
}

static void read_overhead(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	part->overhead = number_in(text_of(p, node));
}

static const struct {
	const char *name;
	reader *read;
} readers[] = {
	{"kernel", read_kernel},     {"domain", read_domain},	  {"vcpu", read_vcpu},	       {"memory", read_memory},
	{"initrd", read_initrd},     {"cmdline", read_cmdline},	  {"disk", read_disk},	       {"interface", read_interface},
	{"rng", read_rng},	     {"symbols", read_symbols},	  {"sources", read_sources},   {"rules", read_rules},
	{"suppress", read_suppress}, {"duration", read_duration}, {"function", read_function}, {"module", read_module},
	{"percpu", read_percpu},     {"rate", read_rate},	  {"delay", read_delay},       {"overhead", read_overhead},
};

static void read_part(struct parse *p, const xmlNode *node, struct plan_part *part)
{
	const char *name = attribute_of(p, node, "name");

	*part = (struct plan_part){.name = name ? name : "", .line = xmlGetLineNo(node)};
	for (const xmlNode *n = document_first(node); n; n = document_next(n)) {
		for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
			if (document_is(n, readers[i].name))
				readers[i].read(p, n, part);
		}
	}
}

/* ---- the campaign ---- */

static void read_parts(struct parse *p, const xmlNode *node, struct plan_parts *parts)
{
	for (const xmlNode *n = document_first(node); n; n = document_next(n)) {
		struct plan_part *list = realloc(parts->list, (parts->count + 1) * sizeof(*list));

		if (!list) {
			err_set(p->err, EXIT_INTERNAL, "out of memory");
			return;
		}
		parts->list = list;
		read_part(p, n, &list[parts->count++]);
	}
}

static void read_limits(struct parse *p, const xmlNode *node)
{
	struct plan_limits *l = &p->plan->limits;

	for (const xmlNode *n = document_first(node); n; n = document_next(n)) {
		if (document_is(n, "time"))
			l->time_ns = time_ns(p, n);
		else if (document_is(n, "cpu"))
			l->cpu_ns = time_ns(p, n);
		else if (document_is(n, "memory"))
			l->memory = size_bytes(p, n);
		else if (document_is(n, "output"))
			l->output = size_bytes(p, n);
		else if (document_is(n, "silence"))
			l->silence_ns = time_ns(p, n);
		else if (document_is(n, "heartbeat"))
			l->heartbeat_ns = time_ns(p, n);
	}
}

static void read_failure(struct parse *p, const xmlNode *node)
{
	static const struct {
		const char *word;
		enum plan_failure bit;
	} words[] = {{"new-harmful", PLAN_FAIL_NEW_HARMFUL},
		     {"new-unclear", PLAN_FAIL_NEW_UNCLEAR},
		     {"new-race", PLAN_FAIL_NEW_RACE},
		     {"finding", PLAN_FAIL_FINDING},
		     {"limit", PLAN_FAIL_LIMIT}};
	const char *on = attribute_of(p, node, "on");

	p->plan->failures = 0;
	for (size_t i = 0; on && i < sizeof(words) / sizeof(words[0]); i++) {
		/* strstr() is enough, because no word contains another one. */
		if (strstr(on, words[i].word))
			p->plan->failures |= words[i].bit;
	}
}

static void read_seeds(struct parse *p, const xmlNode *node)
{
	const char *from = attribute_of(p, node, "from");

	p->plan->drawn = !from;
	p->plan->seed_from = number_in(from);
	p->plan->seed_count = (unsigned)number_in(attribute_of(p, node, "count"));
	p->plan->seeds_line = xmlGetLineNo(node);
}

static void read_exclude(struct parse *p, const xmlNode *node)
{
	struct plan *plan = p->plan;
	struct plan_exclude *list = realloc(plan->excludes, (plan->exclude_count + 1) * sizeof(*list)), *e;

	if (!list) {
		err_set(p->err, EXIT_INTERNAL, "out of memory");
		return;
	}
	plan->excludes = list;
	e = &list[plan->exclude_count++];
	*e = (struct plan_exclude){.line = xmlGetLineNo(node)};
	for (size_t i = 0; i < PLAN_AXES; i++)
		e->names[i] = value_of(attribute_of(p, node, plan_axis_words[i]), node);
}

static void read_element(struct parse *p, const xmlNode *n)
{
	static const char *const axes[PLAN_AXES] = {"kernels", "images", "workloads", "samplings"};
	struct plan *plan = p->plan;

	for (size_t i = 0; i < PLAN_AXES; i++) {
		if (document_is(n, axes[i]))
			read_parts(p, n, &plan->axes[i]);
	}
	if (document_is(n, "emulator"))
		plan->emulator = value_of(text_of(p, n), n);
	else if (document_is(n, "budget"))
		plan->budget_ns = time_ns(p, n);
	else if (document_is(n, "jobs"))
		plan->jobs = (unsigned)number_in(text_of(p, n));
	else if (document_is(n, "failure"))
		read_failure(p, n);
	else if (document_is(n, "limits"))
		read_limits(p, n);
	else if (document_is(n, "machine"))
		read_part(p, n, &plan->machine);
	else if (document_is(n, "seeds"))
		read_seeds(p, n);
	else if (document_is(n, "exclude"))
		read_exclude(p, n);
	else if (document_is(n, "learn"))
		plan->learns = strcmp(attribute_of(p, n, "state") ?: "on", "on") == 0;
}

/* An axis that the file does not have gets one part without settings. */
static void add_default(struct parse *p, struct plan_parts *parts, const char *name)
{
	if (parts->count)
		return;
	parts->list = calloc(1, sizeof(*parts->list));
	if (!parts->list) {
		err_set(p->err, EXIT_INTERNAL, "out of memory");
		return;
	}
	parts->list[0].name = name;
	parts->count = 1;
}

int plan_parse(struct plan *plan, const xmlDoc *doc, struct err *err)
{
	struct parse p = {plan, err};
	const xmlNode *root = xmlDocGetRootElement((xmlDoc *)(uintptr_t)doc);

	plan->machine.name = "";
	plan->learns = true;
	plan->failures = PLAN_FAIL_NEW_HARMFUL | PLAN_FAIL_FINDING;
	plan->name = attribute_of(&p, root, "name");
	for (const xmlNode *n = document_first(root); n; n = document_next(n))
		read_element(&p, n);
	add_default(&p, &plan->axes[PLAN_WORKLOAD], "none");
	add_default(&p, &plan->axes[PLAN_SAMPLING], "all");
	return err->code == EXIT_OK ? 0 : -1;
}
