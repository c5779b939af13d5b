// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads a campaign file. */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/plan/document.h"
#include "hv/campaign/plan/grammar.h"
#include "hv/campaign/plan/internal.h"
#include "hv/campaign/plan/plan.h"

/* ---- the number of vCPUs, from libvirt's domain XML ---- */

static int read_domain(const struct plan *p, struct plan_part *image, struct err *err)
{
	char *path = plan_file(p, NULL, image->domain_file.text);
	xmlDoc *doc = NULL;
	int rc = -1;

	if (!path) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		goto out;
	}
	doc = plan_document_read(path, NULL, err);
	if (!doc)
		goto out;
	if (!document_is(xmlDocGetRootElement(doc), "domain")) {
		err_set(err, EXIT_INPUT, "%s:%ld: %s is not a domain's XML; expected <domain> in it", p->path,
			image->domain_file.line, path);
		goto out;
	}
	for (const xmlNode *n = document_first(xmlDocGetRootElement(doc)); n; n = document_next(n)) {
		char *text = document_is(n, "vcpu") ? document_text(n) : NULL;
		unsigned long vcpus = text ? strtoul(text, NULL, 10) : 0;

		if (!image->vcpus && vcpus <= 4096)
			image->vcpus = (unsigned)vcpus;
		free(text);
	}
	rc = 0;
out:
	xmlFreeDoc(doc);
	free(path);
	return rc;
}

/* Read the number of vCPUs from the domain XML of each image that does not set it. Returns 0, or -1 with err set. */
static int read_domains(struct plan *p, struct err *err)
{
	struct plan_parts *images = &p->axes[PLAN_IMAGE];

	for (size_t i = 0; i < images->count; i++) {
		if (images->list[i].domain_file.text && read_domain(p, &images->list[i], err) < 0)
			return -1;
	}
	return 0;
}

/* ---- strings that are freed together ---- */

char *plan_copy(struct plan_text *t, char *string, struct err *err)
{
	char **list = string ? realloc(t->list, (t->count + 1) * sizeof(*list)) : NULL;

	if (!list) {
		free(string);
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	t->list = list;
	t->list[t->count++] = string;
	return string;
}

void plan_text_free(struct plan_text *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->list[i]);
	free(t->list);
}

/* The folder of a file. From malloc(), or NULL without memory. */
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
	     read_domains(p, err) == 0;
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
