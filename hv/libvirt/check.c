/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks, from a domain's state and description, whether outrider can attach to the domain. */
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/libvirt/internal.h"

static const char *const states[] = {
	[VIR_DOMAIN_NOSTATE] = "no state", [VIR_DOMAIN_RUNNING] = "running",	    [VIR_DOMAIN_BLOCKED] = "running",
	[VIR_DOMAIN_PAUSED] = "paused",	   [VIR_DOMAIN_SHUTDOWN] = "shutting down", [VIR_DOMAIN_SHUTOFF] = "shut off",
	[VIR_DOMAIN_CRASHED] = "crashed",  [VIR_DOMAIN_PMSUSPENDED] = "suspended",
};

static int state_of(virDomainPtr domain)
{
	int state, reason;

	return virDomainGetState(domain, &state, &reason, 0) || state < 0 || state > VIR_DOMAIN_PMSUSPENDED ? VIR_DOMAIN_NOSTATE
													    : state;
}

const char *libvirt_state_name(virDomainPtr domain)
{
	return states[state_of(domain)];
}

/* Evaluate an XPath expression to a text, cut to `size` - 1 bytes. */
static void xpath_text(xmlXPathContext *context, const char *path, char *out, size_t size)
{
	xmlXPathObject *object = xmlXPathEvalExpression((const xmlChar *)path, context);

	snprintf(out, size, "%s", object && object->stringval ? (const char *)object->stringval : "");
	xmlXPathFreeObject(object);
}

/*
 * Read the domain's description into `facts`, `type` (such as "kvm") and `arch` (such as "x86_64"). Returns 0, or -1 if the
 * description cannot be read.
 */
static int read_description(virDomainPtr domain, struct domain_facts *facts, char type[32], char arch[32])
{
	char *xml = virDomainGetXMLDesc(domain, 0), number[32];
	xmlDoc *doc = xml ? xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOERROR) : NULL;
	xmlXPathContext *context = doc ? xmlXPathNewContext(doc) : NULL;

	if (context) {
		xpath_text(context, "string(/domain/@type)", type, 32);
		xpath_text(context, "string(/domain/os/type/@arch)", arch, 32);
		xpath_text(context, "string(/domain/name)", facts->name, sizeof(facts->name));
		xpath_text(context, "string(/domain/os/kernel)", facts->kernel, sizeof(facts->kernel));
		xpath_text(context, "string(/domain/os/cmdline)", facts->cmdline, sizeof(facts->cmdline));
		xpath_text(context, "string(/domain/currentMemory)", number, sizeof(number));
		facts->memory = strtoull(number, NULL, 10) << 10;
		xpath_text(context, "string(/domain/vcpu)", number, sizeof(number));
		facts->cpus = (unsigned)strtoul(number, NULL, 10);
		facts->kvm = strcmp(type, "kvm") == 0;
		xmlXPathFreeContext(context);
	}
	xmlFreeDoc(doc);
	free(xml);
	return context ? 0 : -1;
}

static bool migrating(virDomainPtr domain)
{
	virDomainJobInfo job;

	return virDomainGetJobInfo(domain, &job) == 0 && job.type != VIR_DOMAIN_JOB_NONE;
}

void libvirt_check(virDomainPtr domain, bool writable, struct domain_facts *facts, char *why, size_t size)
{
	struct domain_facts own = {0};
	char type[32] = "", arch[32] = "";
	int state = state_of(domain);

	facts = facts ? facts : &own;
	why[0] = 0;
	if (read_description(domain, facts, type, arch))
		snprintf(why, size, "its description cannot be read");
	else if (strcmp(type, "kvm") != 0 && strcmp(type, "qemu") != 0)
		snprintf(why, size, "it is not a QEMU domain but %s", type);
	else if (strcmp(arch, "x86_64") != 0)
		snprintf(why, size, "it is not an x86-64 machine but %s", arch);
	else if (state == VIR_DOMAIN_PAUSED)
		snprintf(why, size, "it is paused: `virsh resume` it first");
	else if (state != VIR_DOMAIN_RUNNING && state != VIR_DOMAIN_BLOCKED)
		snprintf(why, size, "it does not run (%s)", states[state]);
	else if (migrating(domain))
		snprintf(why, size, "it is being migrated, saved or copied: wait until that is over");
	else if (!writable)
		snprintf(why, size, "the connection is read-only");
}
