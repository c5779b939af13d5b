/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads XML files that are not trusted. Their size and depth are limited. A document type declaration is refused, so there are
 * no entities, and no other file is opened. Any thread may call these functions.
 */
#ifndef OUTRIDER_CAMPAIGN_PLAN_DOCUMENT_H
#define OUTRIDER_CAMPAIGN_PLAN_DOCUMENT_H

#include <libxml/tree.h>

#include "hv/base/err.h"

#define DOCUMENT_HASH_MAX 17

/*
 * Read the XML file at `path`. Writes a hash of its bytes in hexadecimal to `hash`, which may be NULL. Returns a document, to
 * be freed by xmlFreeDoc(), or NULL with err set: EXIT_INTERNAL if memory runs out, else EXIT_INPUT and "PATH:LINE: what is
 * wrong".
 */
xmlDoc *plan_document_read(const char *path, char hash[DOCUMENT_HASH_MAX], struct err *err);

/*
 * Returns the text of an element from malloc(), without blanks at its ends, and with one blank for each sequence of blanks.
 * Returns NULL if memory runs out.
 */
char *document_text(const xmlNode *node);

/*
 * Returns the value of the attribute `name` as document_text() returns a text. Also returns NULL if the element has no such
 * attribute.
 */
char *document_attribute(const xmlNode *node, const char *name);

/* Returns whether the node is an element of this name. */
int document_is(const xmlNode *node, const char *name);

/*
 * Two functions for a loop over the child elements of a node. document_first() returns the first child element of `node`.
 * document_next() returns the next element after `node` that has the same parent. Both return NULL if there is none.
 */
const xmlNode *document_first(const xmlNode *node);
const xmlNode *document_next(const xmlNode *node);

#endif
