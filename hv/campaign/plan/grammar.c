// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks a document against the grammar. libxml2 says whether the document is valid, but its messages often name only the
 * outermost element. So on an error this file searches for the cause: first for an element or attribute that the grammar does
 * not allow at its place, then for the innermost element that is invalid on its own. The grammar's <documentation> of that
 * element tells the user what was expected.
 */
#include "hv/campaign/plan/grammar.h"

#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hv/campaign/plan/document.h"
#include "hv/campaign/plan/mistake.h"

static const char grammar_text[] =
#include "campaign.rng.h"
	;

#define GRAMMAR_DEPTH 64 /* maximum depth of nested references; ends the search if references form a circle */

/* ---- the grammar ---- */

/* A pattern of the grammar that may occur directly in an element. */
struct allowed {
	const xmlNode *pattern; /* the grammar's <element> or <attribute>; NULL: not found */
	bool many;		/* The element may be repeated. */
};

static bool has_name(const xmlNode *pattern, const xmlNode *named)
{
	char *name = document_attribute(pattern, "name");
	bool same = name && strcmp(name, (const char *)named->name) == 0;

	free(name);
	return same;
}

static const xmlNode *define_of(const xmlNode *ref)
{
	char *name = document_attribute(ref, "name");
	const xmlNode *found = NULL;

	for (const xmlNode *n = document_first(xmlDocGetRootElement(ref->doc)); name && n && !found; n = document_next(n)) {
		char *is = document_is(n, "define") ? document_attribute(n, "name") : NULL;

		if (is && strcmp(is, name) == 0)
			found = n;
		free(is);
	}
	free(name);
	return found;
}

/*
 * Search below the grammar's node `in` for the pattern that describes `named`, a node of the campaign file: a pattern of the
 * kind `kind` ("element" or "attribute") with the name that `named` has.
 */
static void look(const xmlNode *in, const char *kind, const xmlNode *named, bool many, int depth, struct allowed *out)
{
	for (const xmlNode *n = in && depth < GRAMMAR_DEPTH ? document_first(in) : NULL; n && !out->pattern;
	     n = document_next(n)) {
		bool repeats = many || document_is(n, "zeroOrMore") || document_is(n, "oneOrMore");

		if (document_is(n, kind) && has_name(n, named))
			*out = (struct allowed){n, many};
		else if (document_is(n, "ref"))
			look(define_of(n), kind, named, repeats, depth + 1, out);
		else if (!document_is(n, "element") && !document_is(n, "attribute"))
			look(n, kind, named, repeats, depth + 1, out);
	}
}

static struct allowed allowed_in(const xmlNode *pattern, const char *kind, const xmlNode *named)
{
	struct allowed out = {0};

	look(pattern, kind, named, false, 0, &out);
	return out;
}

/* Returns whether text may be directly in an element with this pattern. */
static bool allows_text(const xmlNode *pattern, int depth)
{
	for (const xmlNode *n = pattern && depth < GRAMMAR_DEPTH ? document_first(pattern) : NULL; n; n = document_next(n)) {
		if (document_is(n, "text") || document_is(n, "data") || document_is(n, "value") || document_is(n, "list"))
			return true;
		if (document_is(n, "ref") && allows_text(define_of(n), depth + 1))
			return true;
		if (!document_is(n, "element") && !document_is(n, "attribute") && !document_is(n, "documentation") &&
		    allows_text(n, depth + 1))
			return true;
	}
	return false;
}

/* `attribute` is the grammar's description of an attribute. Returns whether the attribute's value must be a name. */
static bool is_name(const xmlNode *attribute)
{
	const xmlNode *ref = document_first(attribute);
	char *name = ref && document_is(ref, "ref") ? document_attribute(ref, "name") : NULL;
	bool is = name && strcmp(name, "name") == 0;

	free(name);
	return is;
}

/* Returns the grammar's documentation of an element, from malloc(), or NULL if memory runs out. */
static char *expected(const xmlNode *pattern)
{
	for (const xmlNode *n = document_first(pattern); n; n = document_next(n)) {
		if (document_is(n, "documentation"))
			return document_text(n);
	}
	return strdup("what docs/campaigns.md says");
}

/* ---- libxml2 ---- */

#define PATTERNS_MAX 64 /* size of the list of schemas: more than the grammar has elements */

/* Schemas for single patterns of the grammar, each made at its first use. */
struct schemas {
	const xmlDoc *grammar;
	struct {
		const xmlNode *pattern;
		xmlRelaxNG *schema;
	} list[PATTERNS_MAX];
	size_t count;
};

#if LIBXML_VERSION >= 21200
typedef const xmlError *xml_error;
#else
typedef xmlError *xml_error;
#endif

/* Drop libxml2's messages: only the result of the validation is used. */
static void ignore_error(void *ctx, xml_error e)
{
	(void)ctx;
	(void)e;
}

static xmlRelaxNG *parse_schema(xmlDoc *grammar)
{
	xmlRelaxNGParserCtxt *parser = xmlRelaxNGNewDocParserCtxt(grammar);
	xmlRelaxNG *schema = NULL;

	if (!parser)
		return NULL;
	xmlRelaxNGSetParserStructuredErrors(parser, ignore_error, NULL);
	schema = xmlRelaxNGParse(parser);
	xmlRelaxNGFreeParserCtxt(parser);
	return schema;
}

/* Returns a schema made from the grammar with `pattern` as its start. */
static xmlRelaxNG *make_schema(const xmlDoc *grammar, const xmlNode *pattern)
{
	xmlDoc *copy = xmlCopyDoc((xmlDoc *)(uintptr_t)grammar, 1);
	const xmlNode *start = copy ? document_first(xmlDocGetRootElement(copy)) : NULL;
	xmlNode *content = start ? xmlDocCopyNode((xmlNode *)(uintptr_t)pattern, copy, 1) : NULL, *old;
	xmlRelaxNG *schema = NULL;

	if (content) {
		old = xmlReplaceNode((xmlNode *)(uintptr_t)document_first(start), content);
		xmlFreeNode(old);
		schema = parse_schema(copy);
	}
	xmlFreeDoc(copy);
	return schema;
}

static xmlRelaxNG *schema_of(struct schemas *s, const xmlNode *pattern)
{
	for (size_t i = 0; i < s->count; i++) {
		if (s->list[i].pattern == pattern)
			return s->list[i].schema;
	}
	if (s->count == PATTERNS_MAX)
		return NULL;
	s->list[s->count].pattern = pattern;
	s->list[s->count].schema = make_schema(s->grammar, pattern);
	return s->list[s->count++].schema;
}

static void schemas_free(struct schemas *s)
{
	for (size_t i = 0; i < s->count; i++)
		xmlRelaxNGFree(s->list[i].schema);
}

/* Validate a document. Returns 0 if it is valid, 1 if it is not, or -1 if libxml2 failed. */
static int validate(xmlRelaxNG *schema, xmlDoc *doc)
{
	xmlRelaxNGValidCtxt *valid = schema ? xmlRelaxNGNewValidCtxt(schema) : NULL;
	int rc;

	if (!valid)
		return -1;
	xmlRelaxNGSetValidStructuredErrors(valid, ignore_error, NULL);
	rc = xmlRelaxNGValidateDoc(valid, doc);
	xmlRelaxNGFreeValidCtxt(valid);
	return rc > 0 ? 1 : rc;
}

/* Returns whether the element alone is valid. */
static bool fits(struct schemas *s, const xmlNode *node, const xmlNode *pattern)
{
	xmlDoc *doc = xmlNewDoc((const xmlChar *)"1.0");
	xmlNode *copy = doc ? xmlDocCopyNode((xmlNode *)(uintptr_t)node, doc, 1) : NULL;
	bool right = false;

	if (copy) {
		xmlDocSetRootElement(doc, copy);
		right = validate(schema_of(s, pattern), doc) != 1;
	}
	xmlFreeDoc(doc);
	return right;
}

/* ---- search for the cause ---- */

struct walk {
	const char *path;
	struct schemas *schemas;
	struct err *err;
};

/* Set the error "PATH:LINE: SENTENCE; expected ...", with the place of `at` and the documentation of `pattern`. Returns -1. */
static int say(const struct walk *w, const xmlNode *at, const char *sentence, const xmlNode *pattern)
{
	char *wanted = expected(pattern);

	err_set(w->err, EXIT_INPUT, "%s:%ld: %s; expected %s", w->path, xmlGetLineNo(at), sentence, wanted ? wanted : "less");
	free(wanted);
	return -1;
}

static bool came_before(const xmlNode *node)
{
	for (const xmlNode *n = node->prev; n; n = n->prev) {
		if (document_is(n, (const char *)node->name))
			return true;
	}
	return false;
}

/* Set the error "PATH:LINE: SENTENCE" for a mistake whose sentence needs no "expected ...". Returns -1. */
static int say_mistake(const struct walk *w, long line, const char *sentence)
{
	return err_set(w->err, EXIT_INPUT, "%s:%ld: %s", w->path, line, sentence);
}

/* Check that the value of the attribute `a` of `node` is a valid name. Returns 0, or -1 with the error set. */
static int check_name(const struct walk *w, const xmlNode *node, const xmlAttr *a)
{
	char *value = document_attribute(node, (const char *)a->name), sentence[MISTAKE_MAX];
	bool wrong = value && mistake_in_name(node, value, sentence);

	free(value);
	return wrong ? say_mistake(w, xmlGetLineNo(node), sentence) : 0;
}

static int check_attributes(const struct walk *w, const xmlNode *node, const xmlNode *pattern)
{
	char sentence[256];

	for (const xmlAttr *a = node->properties; a; a = a->next) {
		const xmlNode *known = allowed_in(pattern, "attribute", (const xmlNode *)a).pattern;

		if (known && is_name(known) && check_name(w, node, a) < 0)
			return -1;
		if (known)
			continue;
		snprintf(sentence, sizeof(sentence), "<%.60s> has the attribute %.60s, which is not known",
			 (const char *)node->name, (const char *)a->name);
		return say(w, node, sentence, pattern);
	}
	return 0;
}

/* Returns 0, or -1 with the error set if the element has text that the grammar does not allow. */
static int check_text(const struct walk *w, const xmlNode *node, const xmlNode *pattern)
{
	char sentence[MISTAKE_MAX];
	long line;

	return !allows_text(pattern, 0) && mistake_of_text(node, sentence, &line) ? say_mistake(w, line, sentence) : 0;
}

/*
 * Check that the grammar allows each element, each attribute and the text in `node` at its place. Returns 0, or -1 with the
 * error set.
 */
static int find_unknown(const struct walk *w, const xmlNode *node, const xmlNode *pattern)
{
	char sentence[MISTAKE_MAX];

	if (check_attributes(w, node, pattern) < 0 || check_text(w, node, pattern) < 0)
		return -1;
	for (const xmlNode *n = document_first(node); n; n = document_next(n)) {
		struct allowed a = allowed_in(pattern, "element", n);

		if (mistake_of_namespace(n, sentence))
			return say_mistake(w, xmlGetLineNo(n), sentence);
		if (!a.pattern || (!a.many && came_before(n))) {
			snprintf(sentence, sizeof(sentence), "<%.60s> is %s in <%.60s>", (const char *)n->name,
				 a.pattern ? "there twice" : "not known", (const char *)node->name);
			return say(w, n, sentence, pattern);
		}
		/* This recursion needs no limit of its own, since the parser limits the document's depth. */
		if (find_unknown(w, n, a.pattern) < 0)
			return -1;
	}
	return 0;
}

/*
 * Set the error for the innermost element that is invalid on its own. The caller has found that `node` is invalid, and that the
 * grammar allows each element in it at its place.
 */
static void blame(const struct walk *w, const xmlNode *node, const xmlNode *pattern)
{
	char sentence[128];

	for (const xmlNode *n = document_first(node); n; n = document_next(n)) {
		const xmlNode *inner = allowed_in(pattern, "element", n).pattern;

		if (fits(w->schemas, n, inner))
			continue;
		blame(w, n, inner);
		return;
	}
	snprintf(sentence, sizeof(sentence), "<%.60s> is not right", (const char *)node->name);
	say(w, node, sentence, pattern);
}

static void explain(const struct walk *w, const xmlDoc *doc)
{
	const xmlNode *root = xmlDocGetRootElement((xmlDoc *)(uintptr_t)doc);
	const xmlNode *grammar = xmlDocGetRootElement((xmlDoc *)(uintptr_t)w->schemas->grammar);
	struct allowed a = allowed_in(document_first(grammar), "element", root);
	char sentence[MISTAKE_MAX];

	if (mistake_of_namespace(root, sentence))
		say_mistake(w, xmlGetLineNo(root), sentence);
	else if (!a.pattern)
		err_set(w->err, EXIT_INPUT, "%s:%ld: <%.60s> is not known; expected <campaign>", w->path, xmlGetLineNo(root),
			(const char *)root->name);
	else if (find_unknown(w, root, a.pattern) == 0)
		blame(w, root, a.pattern);
}

int grammar_check(const char *path, xmlDoc *doc, struct err *err)
{
	xmlDoc *grammar = xmlReadMemory(grammar_text, sizeof(grammar_text) - 1, NULL, NULL, XML_PARSE_NONET);
	struct schemas schemas = {.grammar = grammar};
	xmlRelaxNG *schema = grammar ? parse_schema(grammar) : NULL;
	int rc = validate(schema, doc);

	if (rc < 0)
		err_set(err, EXIT_INTERNAL, "%s cannot be checked against the grammar of campaign files", path);
	else if (rc > 0)
		explain(&(struct walk){path, &schemas, err}, doc);
	schemas_free(&schemas);
	xmlRelaxNGFree(schema);
	xmlFreeDoc(grammar);
	return rc == 0 ? 0 : -1;
}
