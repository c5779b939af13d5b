// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a libvirt domain that exists for one run. */
#include "hv/campaign/runner/machine.h"

#include <inttypes.h>
#include <libxml/tree.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/plan/document.h"
#include "hv/libvirt/transient.h"

/* ---- the domain's XML ---- */

static xmlNode *child_of(const xmlNode *node, const char *name)
{
	for (const xmlNode *n = document_first(node); n; n = document_next(n)) {
		if (document_is(n, name))
			return (xmlNode *)(uintptr_t)n;
	}
	return NULL;
}

static void remove_all(xmlNode *node, const char *name)
{
	xmlNode *child;

	while ((child = child_of(node, name)) != NULL) {
		xmlUnlinkNode(child);
		xmlFreeNode(child);
	}
}

/* Make the node `node` have exactly one child element of this name, with this text. */
static xmlNode *set(xmlNode *node, const char *name, const char *text)
{
	remove_all(node, name);
	return xmlNewTextChild(node, NULL, (const xmlChar *)name, (const xmlChar *)text);
}

static xmlNode *inner(xmlNode *node, const char *name)
{
	xmlNode *child = child_of(node, name);

	return child ? child : xmlNewChild(node, NULL, (const xmlChar *)name, NULL);
}

static void set_file(xmlNode *node, const char *name, const char *path)
{
	char *absolute = path ? realpath(path, NULL) : NULL;

	if (absolute)
		set(node, name, absolute);
	else
		remove_all(node, name);
	free(absolute);
}

/* Make the domain boot the run's kernel. Add a console on the serial port, without which the runner would not see a panic. */
static void set_kernel(xmlNode *domain, const struct plan_domain *d)
{
	xmlNode *os = inner(domain, "os");
	const char *line = d->cmdline ? d->cmdline : "";
	char *text = NULL;

	set_file(os, "kernel", d->kernel);
	set_file(os, "initrd", d->initrd);
	if (asprintf(&text, "%s%s", strstr(line, "console=") ? "" : "console=ttyS0 ", line) < 0)
		return;
	set(os, "cmdline", text);
	free(text);
}

static void set_console(xmlNode *domain, const char *folder)
{
	xmlNode *devices = inner(domain, "devices"), *serial, *source;
	char *path = NULL;

	remove_all(devices, "serial");
	remove_all(devices, "console");
	if (asprintf(&path, "%s/console.log", folder) < 0)
		return;
	serial = xmlNewChild(devices, NULL, (const xmlChar *)"serial", NULL);
	xmlNewProp(serial, (const xmlChar *)"type", (const xmlChar *)"file");
	source = xmlNewChild(serial, NULL, (const xmlChar *)"source", NULL);
	xmlNewProp(source, (const xmlChar *)"path", (const xmlChar *)path);
	free(path);
}

static void set_size(xmlNode *domain, const struct plan_run *r)
{
	char number[32];

	snprintf(number, sizeof(number), "%u", r->vcpus);
	set(domain, "vcpu", number);
	if (!r->memory)
		return;
	snprintf(number, sizeof(number), "%" PRIu64, r->memory >> 10);
	remove_all(domain, "currentMemory");
	xmlNewProp(set(domain, "memory", number), (const xmlChar *)"unit", (const xmlChar *)"KiB");
}

char *machine_xml(const struct machine *m, struct err *err)
{
	const struct plan_run *r = m->run;
	xmlDoc *doc = plan_document_read(r->domain->file, NULL, err);
	xmlChar *bytes = NULL;
	char *text = NULL;
	xmlNode *domain;
	int size = 0;

	if (!doc)
		return NULL;
	domain = xmlDocGetRootElement(doc);
	remove_all(domain, "uuid");
	set(domain, "name", m->name);
	set_size(domain, r);
	if (r->domain->kernel)
		set_kernel(domain, r->domain);
	set_console(domain, m->folder);
	xmlDocDumpMemory(doc, &bytes, &size);
	text = bytes ? strdup((const char *)bytes) : NULL;
	if (!text)
		err_set(err, EXIT_INTERNAL, "out of memory");
	xmlFree(bytes);
	xmlFreeDoc(doc);
	return text;
}

/* ---- the domain ---- */

int machine_start(struct machine *m, struct err *err)
{
	char *xml = m->run ? machine_xml(m, err) : NULL;

	if (!m->run)
		return 0;
	if (xml)
		m->domain = domain_transient_start(m->run->domain->uri, xml, err);
	free(xml);
	return m->domain ? 0 : -1;
}

void machine_stop(struct machine *m)
{
	domain_transient_end(m->domain);
	m->domain = NULL;
}
