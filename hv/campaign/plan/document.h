/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads XML files that are not trusted. Their size and depth are limited. A document type declaration is refused, so there
 * are no entities, and no other file is opened. Any thread.
 */
#ifndef OUTRIDER_CAMPAIGN_PLAN_DOCUMENT_H
#define OUTRIDER_CAMPAIGN_PLAN_DOCUMENT_H

#include <libxml/tree.h>

#include "hv/base/err.h"

#define DOCUMENT_HASH_MAX 17

/*
 * Read the XML file at `path`. *hash becomes a hash of its bytes in hexadecimal; `hash` may be NULL. Returns a document for
 * xmlFreeDoc(), or NULL with EXIT_INPUT and "PATH:LINE: what is wrong".
 */
xmlDoc *plan_document_read(const char *path, char hash[DOCUMENT_HASH_MAX], struct err *err);

/*
 * The text of an element, without blanks at its ends, and with one blank for each sequence of blanks. From malloc(), or NULL
 * without memory.
 */
char *document_text(const xmlNode *node);

/* The value of the attribute `name`, with blanks collapsed as above. NULL also if the element has no such attribute. */
char *document_attribute(const xmlNode *node, const char *name);

/* Whether the node is an element of this name. */
int document_is(const xmlNode *node, const char *name);

/* The first child element of `node`, and the next element after `node`, for `for` loops. NULL: there is none. */
const xmlNode *document_first(const xmlNode *node);
const xmlNode *document_next(const xmlNode *node);

#endif
