/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * XML files of others, read so that they can do no harm: a file is of bounded size and depth, has no document type declaration,
 * and so no entities, and nothing else is opened because of it. Any thread.
 */
#ifndef OUTRIDER_CAMPAIGN_PLAN_DOCUMENT_H
#define OUTRIDER_CAMPAIGN_PLAN_DOCUMENT_H

#include <libxml/tree.h>

#include "hv/base/err.h"

#define DOCUMENT_HASH_MAX 17

/*
 * Read the XML file at `path`. `hash` becomes a hash of its bytes in hexadecimal, unless NULL. Returns a document for
 * xmlFreeDoc(), or NULL with EXIT_INPUT and "PATH:LINE: what is wrong".
 */
xmlDoc *plan_document_read(const char *path, char hash[DOCUMENT_HASH_MAX], struct err *err);

/* The text in an element, without blanks at both ends and with one blank for several. From malloc(), or NULL. */
char *document_text(const xmlNode *node);

/* The value of the attribute `name`, in the same way. NULL also when the element has no such attribute. */
char *document_attribute(const xmlNode *node, const char *name);

/* Whether the node is an element of this name. */
int document_is(const xmlNode *node, const char *name);

/* Call this in `for` loops over the elements in `node`: the first one, and the next one. */
const xmlNode *document_first(const xmlNode *node);
const xmlNode *document_next(const xmlNode *node);

#endif
