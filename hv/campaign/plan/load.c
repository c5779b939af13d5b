// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a campaign file, checks it, and makes the plan of it (plan.h). */
#include "hv/campaign/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "hv/campaign/plan/document.h"
#include "hv/campaign/plan/grammar.h"
#include "hv/campaign/plan/internal.h"

/* Returns the folder of a file, from malloc(), or NULL if memory runs out. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/.") : strndup(path, (size_t)(slash - path));
}

struct plan *plan_load(const char *path, struct err *err)
{
	struct plan *p = calloc(1, sizeof(*p));
	xmlDoc *doc = NULL;
	bool ok = false;

	if (!p) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	p->path = plan_copy(&p->text, strdup(path), err);
	p->folder = plan_copy(&p->text, folder_of(path), err);
	if (p->path && p->folder)
		doc = plan_document_read(path, p->hash, err);
	ok = doc && grammar_check(path, doc, err) == 0 && plan_parse(p, doc, err) == 0 && plan_check(p, err) == 0 &&
	     plan_read_domains(p, err) == 0;
	if (ok && p->emulator.text) {
		char *program = plan_file(p, NULL, p->emulator.text);

		p->program = plan_copy(&p->text, program ? realpath(program, NULL) : NULL, err);
		free(program);
		ok = p->program != NULL;
	}
	xmlFreeDoc(doc);
	if (ok)
		return p;
	plan_free(p);
	return NULL;
}

static void part_free(struct plan_part *part)
{
	free(part->disks.list);
	free(part->symbols.list);
	free(part->sources.list);
	free(part->rules.list);
	free(part->suppress.list);
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	part_free(&p->machine);
	for (size_t i = 0; i < PLAN_AXES; i++) {
		for (size_t k = 0; k < p->axes[i].count; k++)
			part_free(&p->axes[i].list[k]);
		free(p->axes[i].list);
	}
	free(p->excludes);
	plan_text_free(&p->text);
	free(p);
}

const char *plan_name(const struct plan *p)
{
	return p->name;
}

const char *plan_path(const struct plan *p)
{
	return p->path;
}

const char *plan_hash(const struct plan *p)
{
	return p->hash;
}

uint64_t plan_budget_ns(const struct plan *p)
{
	return p->budget_ns;
}

unsigned plan_jobs(const struct plan *p)
{
	return p->jobs;
}

unsigned plan_failures(const struct plan *p)
{
	return p->failures;
}

const char *plan_emulator(const struct plan *p)
{
	return p->program;
}

bool plan_learns(const struct plan *p)
{
	return p->learns;
}

int plan_check_host(const struct plan *p, unsigned cpus, struct err *err)
{
	for (size_t i = 0; i <= PLAN_AXES; i++) {
		const struct plan_part *list = i ? p->axes[i - 1].list : &p->machine;
		size_t count = i ? p->axes[i - 1].count : 1;

		for (size_t k = 0; k < count; k++) {
			const struct plan_part *part = &list[k];

			if (part->vcpus > cpus)
				return err_set(
					err, EXIT_INPUT,
					"%s:%ld: a machine has %u vCPUs, and this host has %u CPUs: expected no more vCPUs, or "
					"--overcommit",
					p->path, part->vcpu.text ? part->vcpu.line : part->line, part->vcpus, cpus);
		}
	}
	return 0;
}
