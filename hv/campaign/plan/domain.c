// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the number of vCPUs from libvirt's domain XML. The plan needs the number for images that do not set it. */
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/plan/internal.h"

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

int plan_read_domains(struct plan *p, struct err *err)
{
	struct plan_parts *images = &p->axes[PLAN_IMAGE];

	for (size_t i = 0; i < images->count; i++) {
		if (images->list[i].domain_file.text && read_domain(p, &images->list[i], err) < 0)
			return -1;
	}
	return 0;
}
