// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads XML files that are not trusted, with limits on size and depth. */
#include "hv/campaign/plan/document.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hv/base/siphash.h"

#define SIZE_LIMIT (1 << 20) /* bytes of a file */

/* ---- the bytes ---- */

static int read_all(int fd, char *bytes, size_t size, size_t *len)
{
	for (*len = 0; *len < size;) {
		ssize_t n = read(fd, bytes + *len, size - *len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		*len += (size_t)n;
	}
	return 0;
}

/* Read a file. Returns its bytes from malloc(), or NULL with err set. */
static char *read_file(const char *path, size_t *len, struct err *err)
{
	/* Open with O_NONBLOCK, because opening a FIFO without a writer would block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *bytes = NULL;
	struct stat st;
	bool ok = false;

	if (fd < 0 || fstat(fd, &st) < 0) {
		err_set(err, EXIT_INPUT, "cannot open %s: %s", path, strerror(errno));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {
		err_set(err, EXIT_INPUT, "%s is not a file: give an XML file", path);
		goto out;
	}
	bytes = malloc(SIZE_LIMIT + 1);
	if (!bytes)
		err_set(err, EXIT_INTERNAL, "out of memory");
	else if (read_all(fd, bytes, SIZE_LIMIT + 1, len) < 0)
		err_set(err, EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
	else if (*len > SIZE_LIMIT)
		err_set(err, EXIT_INPUT, "%s:1: the file is larger than 1 MiB: expected a smaller one", path);
	else
		ok = true;
out:
	if (fd >= 0)
		close(fd);
	if (!ok) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

static void hash_bytes(const char *bytes, size_t len, char hash[DOCUMENT_HASH_MAX])
{
	static const struct siphash_key key = {{0, 0}};

	snprintf(hash, DOCUMENT_HASH_MAX, "%016" PRIx64, siphash(&key, bytes, len));
}

/* ---- the parser ---- */

#if LIBXML_VERSION >= 21200
typedef const xmlError *xml_error;
#else
typedef xmlError *xml_error;
#endif

/* The first error of the parser. Line 0: there was none. */
struct refused {
	int line;
	char what[200];
};

/* Refuse a document type declaration. Without it, a file has no entities and no external parts. */
static void refuse_doctype(void *ctx, const xmlChar *name, const xmlChar *public, const xmlChar *system)
{
	xmlParserCtxt *parser = ctx;
	struct refused *r = parser->_private;

	(void)name;
	(void)public;
	(void)system;
	if (!r->line) {
		r->line = xmlSAX2GetLineNumber(ctx);
		snprintf(r->what, sizeof(r->what), "there is a document type declaration (<!DOCTYPE ...>); expected none");
	}
	xmlStopParser(parser);
}

static void note_error(void *ctx, xml_error e)
{
	struct refused *r = ((xmlParserCtxt *)ctx)->_private;

	if (r->line || e->level < XML_ERR_ERROR)
		return;
	r->line = e->line > 0 ? e->line : 1;
	snprintf(r->what, sizeof(r->what), "%.*s; expected well-formed XML", (int)strcspn(e->message ? e->message : "", "\n"),
		 e->message ? e->message : "");
}

static void ignore_error(void *ctx, xml_error e)
{
	(void)ctx;
	(void)e;
}

xmlDoc *plan_document_read(const char *path, char hash[DOCUMENT_HASH_MAX], struct err *err)
{
	/* Do not set XML_PARSE_HUGE: without it, the parser limits the depth, and the length of names and texts. */
	const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES | XML_PARSE_NOCDATA;
	struct refused refused = {0};
	xmlParserCtxt *parser = NULL;
	xmlDoc *doc = NULL;
	size_t len = 0;
	char *bytes = read_file(path, &len, err);

	if (!bytes)
		return NULL;
	if (hash)
		hash_bytes(bytes, len, hash);
	parser = xmlNewParserCtxt();
	if (!parser) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		goto out;
	}
	parser->_private = &refused;
	parser->sax->internalSubset = refuse_doctype;
	parser->sax->serror = note_error;
	/* Ignore errors of encodings: they do not reach the parser's own handler, and libxml2 would print them. */
	xmlSetStructuredErrorFunc(NULL, ignore_error);
	doc = xmlCtxtReadMemory(parser, bytes, (int)len, NULL, NULL, options);
	xmlSetStructuredErrorFunc(NULL, NULL);
	if (refused.line || !doc || !xmlDocGetRootElement(doc)) {
		err_set(err, EXIT_INPUT, "%s:%d: %s", path, refused.line ? refused.line : 1,
			refused.line ? refused.what : "nothing can be read; expected well-formed XML");
		xmlFreeDoc(doc);
		doc = NULL;
	}
out:
	xmlFreeParserCtxt(parser);
	free(bytes);
	return doc;
}

/* ---- access to the document ---- */

int document_is(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static const xmlNode *element_from(const xmlNode *node)
{
	while (node && node->type != XML_ELEMENT_NODE)
		node = node->next;
	return node;
}

const xmlNode *document_first(const xmlNode *node)
{
	return element_from(node->children);
}

const xmlNode *document_next(const xmlNode *node)
{
	return element_from(node->next);
}

/*
 * Remove blanks at both ends, and replace each sequence of blanks between words by one blank. Frees `text`, which may be NULL.
 */
static char *collapse(xmlChar *text)
{
	char *out = text ? strdup((const char *)text) : NULL, *to = out;

	for (const char *from = out; from && *from; from++) {
		bool blank = strchr(" \t\r\n", *from) != NULL;

		if (!blank)
			*to++ = *from;
		else if (to > out && to[-1] != ' ')
			*to++ = ' ';
	}
	if (out) {
		if (to > out && to[-1] == ' ')
			to--;
		*to = '\0';
	}
	xmlFree(text);
	return out;
}

char *document_text(const xmlNode *node)
{
	return collapse(xmlNodeGetContent(node));
}

char *document_attribute(const xmlNode *node, const char *name)
{
	return collapse(xmlGetNoNsProp(node, (const xmlChar *)name));
}
