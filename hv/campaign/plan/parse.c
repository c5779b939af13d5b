// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts a valid document to a struct plan. Tables map each element to the function that reads it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hv/base/grow.h"
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

/* Returns the value of an attribute, or NULL if the element does not have it. An error stays in p->err. */
static const char *attribute_of(struct parse *p, const xmlNode *node, const char *name)
{
	char *value = document_attribute(node, name);

	return value ? plan_copy(&p->plan->text, value, p->err) : NULL;
}

/* Returns the number in `text`, or 0 for NULL. The grammar ensures that the text is a number. */
static uint64_t number_in(const char *text)
{
	return text ? strtoull(text, NULL, 10) : 0;
}

struct unit {
	const char *name;
	double factor;
};

/* Read a positive amount with its unit. A value larger than `most` becomes `most`. */
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
	struct plan_value *added = list_grow(&values->list, &values->count, sizeof(*added), p->err);

	if (added)
		*added = value;
}

/* ---- elements ---- */

/* Read an element into a member of the plan. An error stays in p->err. */
typedef void reader(struct parse *p, const xmlNode *node, void *member);

/*
 * The function that reads an element, and the offset of the member that receives the value. An element with two members has two
 * entries.
 */
struct element {
	const char *name;
	reader *read;
	size_t member;
};

/* Read the children of `node` into the struct `base`. An entry without a name ends the table. */
static void read_elements(struct parse *p, const xmlNode *node, const struct element *elements, void *base)
{
	for (const xmlNode *n = document_first(node); n; n = document_next(n)) {
		for (const struct element *e = elements; e->name; e++) {
			if (document_is(n, e->name))
				e->read(p, n, (char *)base + e->member);
		}
	}
}

static void read_value(struct parse *p, const xmlNode *node, void *member)
{
	*(struct plan_value *)member = value_of(text_of(p, node), node);
}

static void read_values(struct parse *p, const xmlNode *node, void *member)
{
	add_value(p, member, value_of(text_of(p, node), node));
}

static void read_flag(struct parse *p, const xmlNode *node, void *member)
{
	(void)p;
	(void)node;
	*(bool *)member = true;
}

static void read_unsigned(struct parse *p, const xmlNode *node, void *member)
{
	*(unsigned *)member = (unsigned)number_in(text_of(p, node));
}

static void read_number(struct parse *p, const xmlNode *node, void *member)
{
	*(uint64_t *)member = number_in(text_of(p, node));
}

static void read_ns(struct parse *p, const xmlNode *node, void *member)
{
	*(uint64_t *)member = time_ns(p, node);
}

static void read_us(struct parse *p, const xmlNode *node, void *member)
{
	*(uint64_t *)member = time_ns(p, node) / 1000;
}

static void read_bytes(struct parse *p, const xmlNode *node, void *member)
{
	*(uint64_t *)member = size_bytes(p, node);
}

/* ---- parts ---- */

static void read_domain(struct parse *p, const xmlNode *node, void *member)
{
	struct plan_part *part = member;

	part->domain_file = value_of(attribute_of(p, node, "file"), node);
	part->domain_name = value_of(attribute_of(p, node, "name"), node);
	part->uri = value_of(attribute_of(p, node, "uri"), node);
}

static void read_disk(struct parse *p, const xmlNode *node, void *member)
{
	struct plan_part *part = member;
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

static void read_interface(struct parse *p, const xmlNode *node, void *member)
{
	struct plan_part *part = member;
	const xmlNode *target = document_first(node);
	const char *device = target ? attribute_of(p, target, "dev") : NULL;

	part->net = value_of(device ? plan_printf(&p->plan->text, p->err, "tap=%s", device) : "user", node);
}

/*
 * Append the element's text, the name of a function, to `functions` of the part `member`. Commas separate the functions, as
 * --sample expects.
 */
static void read_function(struct parse *p, const xmlNode *node, void *member)
{
	struct plan_part *part = member;
	const char *name = text_of(p, node), *before = part->functions.text;

	if (name)
		part->functions = value_of(
			plan_printf(&p->plan->text, p->err, "%s%s%s", before ? before : "", before ? "," : "", name), node);
}

static const struct element part_elements[] = {
	{"kernel", read_value, PLAN_MEMBER(kernel)},
	{"initrd", read_value, PLAN_MEMBER(initrd)},
	{"cmdline", read_value, PLAN_MEMBER(cmdline)},
	{"module", read_value, PLAN_MEMBER(module)},
	{"vcpu", read_value, PLAN_MEMBER(vcpu)},
	{"vcpu", read_unsigned, PLAN_MEMBER(vcpus)},
	{"memory", read_value, PLAN_MEMBER(memory)},
	{"memory", read_bytes, PLAN_MEMBER(bytes)},
	{"symbols", read_values, PLAN_MEMBER(symbols)},
	{"sources", read_values, PLAN_MEMBER(sources)},
	{"rules", read_values, PLAN_MEMBER(rules)},
	{"suppress", read_values, PLAN_MEMBER(suppress)},
	{"rng", read_flag, PLAN_MEMBER(rng)},
	{"percpu", read_flag, PLAN_MEMBER(percpu)},
	{"callees", read_number, PLAN_MEMBER(callees)},
	{"duration", read_ns, PLAN_MEMBER(duration_ns)},
	{"delay", read_us, PLAN_MEMBER(delay_us)},
	{"rate", read_number, PLAN_MEMBER(rate)},
	{"overhead", read_number, PLAN_MEMBER(overhead)},
	{"domain", read_domain, 0},
	{"disk", read_disk, 0},
	{"interface", read_interface, 0},
	{"function", read_function, 0},
	{NULL, NULL, 0},
};

static void read_part(struct parse *p, const xmlNode *node, void *member)
{
	const char *name = attribute_of(p, node, "name");

	*(struct plan_part *)member = (struct plan_part){.name = name ? name : "", .line = xmlGetLineNo(node)};
	read_elements(p, node, part_elements, member);
}

/* Read the element `node` into a new part of the list. Returns the part, or NULL with p->err set. */
static struct plan_part *add_part(struct parse *p, const xmlNode *node, struct plan_parts *parts)
{
	struct plan_part *part = list_grow(&parts->list, &parts->count, sizeof(*part), p->err);

	if (part)
		read_part(p, node, part);
	return part;
}

static void read_parts(struct parse *p, const xmlNode *node, void *member)
{
	for (const xmlNode *n = document_first(node); n && p->err->code == EXIT_OK; n = document_next(n))
		add_part(p, n, member);
}

/* ---- workloads ---- */

/* A <pair>. An entry of `programs` is a program: plan_value.text is its command, and plan_value.more its name. */
struct pair {
	struct plan_pair shared;
	struct plan_values programs;
};

static void read_text(struct parse *p, const xmlNode *node, void *member)
{
	*(const char **)member = text_of(p, node);
}

static void read_program(struct parse *p, const xmlNode *node, void *member)
{
	struct plan_value program = value_of(text_of(p, node), node);

	program.more = attribute_of(p, node, "name");
	add_value(p, member, program);
}

static const struct element pair_elements[] = {
	{"prepare", read_text, offsetof(struct pair, shared.prepare)},
	{"trials", read_unsigned, offsetof(struct pair, shared.trials)},
	{"steps", read_number, offsetof(struct pair, shared.steps)},
	{"program", read_program, offsetof(struct pair, programs)},
	{NULL, NULL, 0},
};

/* For every two programs of the <pair>, add a part: a workload of its own, named "WORKLOAD.PROGRAM+PROGRAM". */
static void add_pairs(struct parse *p, const xmlNode *workload, const struct pair *pair, struct plan_parts *parts)
{
	const struct plan_value *list = pair->programs.list;

	for (size_t i = 0; i < pair->programs.count; i++) {
		for (size_t k = i + 1; k < pair->programs.count && p->err->code == EXIT_OK; k++) {
			struct plan_part *part = add_part(p, workload, parts);

			if (!part)
				return;
			part->pair = pair->shared;
			part->pair.workload = part->name;
			part->pair.command[0] = list[i].text;
			part->pair.command[1] = list[k].text;
			part->name = plan_printf(&p->plan->text, p->err, "%s.%s+%s", part->name, list[i].more, list[k].more);
		}
	}
}

static void read_pair(struct parse *p, const xmlNode *workload, const xmlNode *node, struct plan_parts *parts)
{
	struct pair pair = {.shared = {.prepare = ""}};

	read_elements(p, node, pair_elements, &pair);
	if (pair.programs.count > PLAN_PROGRAMS_MAX)
		err_set(p->err, EXIT_INPUT, "%s:%ld: <pair> has %zu programs: expected at most %d", p->plan->path,
			xmlGetLineNo(node), pair.programs.count, PLAN_PROGRAMS_MAX);
	add_pairs(p, workload, &pair, parts);
	free(pair.programs.list);
}

static void read_workloads(struct parse *p, const xmlNode *node, void *member)
{
	for (const xmlNode *n = document_first(node); n && p->err->code == EXIT_OK; n = document_next(n)) {
		const xmlNode *pair = document_first(n);

		while (pair && !document_is(pair, "pair"))
			pair = document_next(pair);
		if (pair)
			read_pair(p, n, pair, member);
		else
			add_part(p, n, member);
	}
}

/* ---- the campaign ---- */

#define LIMIT(member) offsetof(struct plan_limits, member)
static const struct element limit_elements[] = {
	{"time", read_ns, LIMIT(time_ns)},
	{"cpu", read_ns, LIMIT(cpu_ns)},
	{"memory", read_bytes, LIMIT(memory)},
	{"output", read_bytes, LIMIT(output)},
	{"silence", read_ns, LIMIT(silence_ns)},
	{"heartbeat", read_ns, LIMIT(heartbeat_ns)},
	{NULL, NULL, 0},
};

static void read_limits(struct parse *p, const xmlNode *node, void *member)
{
	read_elements(p, node, limit_elements, member);
}

/* Returns the bit for one of the words in <failure on='...'/>. The grammar has refused a file with any other word. */
static unsigned failure_of(const char *word)
{
	static const struct {
		const char *word;
		enum plan_failure bit;
	} words[] = {
		{"new-harmful", PLAN_FAIL_NEW_HARMFUL},
		{"new-unclear", PLAN_FAIL_NEW_UNCLEAR},
		{"any-new", PLAN_FAIL_ANY_NEW},
		{"new-finding", PLAN_FAIL_NEW_FINDING},
		{"finding", PLAN_FAIL_FINDING},
		{"limit", PLAN_FAIL_LIMIT},
		{"complaint", PLAN_FAIL_COMPLAINT},
		/* words in campaign files for older versions of outrider */
		{"new-race", PLAN_FAIL_ANY_NEW},
		{"new", PLAN_FAIL_ANY_NEW},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i].word) == 0)
			return words[i].bit;
	}
	return 0;
}

static void read_failure(struct parse *p, const xmlNode *node, void *member)
{
	const char *on = attribute_of(p, node, "on");
	unsigned *failures = member;
	char *copy = strdup(on ? on : ""), *rest = NULL;

	*failures = 0;
	if (!copy) {
		err_set(p->err, EXIT_INTERNAL, "out of memory");
		return;
	}
	for (char *word = strtok_r(copy, " \t\r\n", &rest); word; word = strtok_r(NULL, " \t\r\n", &rest))
		*failures |= failure_of(word);
	free(copy);
}

static void read_seeds(struct parse *p, const xmlNode *node, void *member)
{
	struct plan *plan = member;
	const char *from = attribute_of(p, node, "from");

	plan->drawn = !from;
	plan->seed_from = number_in(from);
	plan->seed_count = (unsigned)number_in(attribute_of(p, node, "count"));
	plan->seeds_line = xmlGetLineNo(node);
}

static void read_exclude(struct parse *p, const xmlNode *node, void *member)
{
	struct plan *plan = member;
	struct plan_exclude *e = list_grow(&plan->excludes, &plan->exclude_count, sizeof(*e), p->err);

	if (!e)
		return;
	e->line = xmlGetLineNo(node);
	for (size_t i = 0; i < PLAN_AXES; i++)
		e->names[i] = value_of(attribute_of(p, node, plan_axis_words[i]), node);
}

static void read_learn(struct parse *p, const xmlNode *node, void *member)
{
	*(bool *)member = strcmp(attribute_of(p, node, "state") ?: "on", "on") == 0;
}

#define CAMPAIGN(member) offsetof(struct plan, member)
static const struct element campaign_elements[] = {
	{"kernels", read_parts, CAMPAIGN(axes[PLAN_KERNEL])},
	{"images", read_parts, CAMPAIGN(axes[PLAN_IMAGE])},
	{"workloads", read_workloads, CAMPAIGN(axes[PLAN_WORKLOAD])},
	{"samplings", read_parts, CAMPAIGN(axes[PLAN_SAMPLING])},
	{"machine", read_part, CAMPAIGN(machine)},
	{"emulator", read_value, CAMPAIGN(emulator)},
	{"budget", read_ns, CAMPAIGN(budget_ns)},
	{"jobs", read_unsigned, CAMPAIGN(jobs)},
	{"limits", read_limits, CAMPAIGN(limits)},
	{"failure", read_failure, CAMPAIGN(failures)},
	{"learn", read_learn, CAMPAIGN(learns)},
	{"seeds", read_seeds, 0},
	{"exclude", read_exclude, 0},
	{NULL, NULL, 0},
};

/*
 * If the campaign file has no element for this axis of the matrix, give the axis a single part with this name and no settings.
 */
static void add_default(struct parse *p, struct plan_parts *parts, const char *name)
{
	struct plan_part *part = parts->count ? NULL : list_grow(&parts->list, &parts->count, sizeof(*part), p->err);

	if (part)
		part->name = name;
}

int plan_parse(struct plan *plan, const xmlDoc *doc, struct err *err)
{
	struct parse p = {plan, err};
	const xmlNode *root = xmlDocGetRootElement((xmlDoc *)(uintptr_t)doc);

	plan->machine.name = "";
	plan->learns = true;
	plan->failures = PLAN_FAIL_NEW_HARMFUL | PLAN_FAIL_FINDING;
	plan->name = attribute_of(&p, root, "name");
	read_elements(&p, root, campaign_elements, plan);
	add_default(&p, &plan->axes[PLAN_WORKLOAD], "none");
	add_default(&p, &plan->axes[PLAN_SAMPLING], "all");
	return err->code == EXIT_OK ? 0 : -1;
}
