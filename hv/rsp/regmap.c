/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the XML description of the CPU's registers that a gdbstub sends (GDB manual, appendix G), and finds in it the number
 * and the position of each register of wanted[]. The gdbstub is not trusted.
 */
#include "hv/rsp/regmap.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 4u
#define DOCUMENTS_MAX 64u
#define REGISTERS_MAX 4096u
#define BITS_MAX 65536u

static const struct wanted {
	const char *name;
	uint16_t at;  /* The register's offset in struct x86_regs, in bytes. */
	uint8_t size; /* The register's size in struct x86_regs, in bytes. */
	bool needed;  /* The client cannot work without this register. */
} wanted[REGMAP_REGS] = {
	{"rax", offsetof(struct x86_regs, gpr[0]), 8, true},
	{"rcx", offsetof(struct x86_regs, gpr[1]), 8, true},
	{"rdx", offsetof(struct x86_regs, gpr[2]), 8, true},
	{"rbx", offsetof(struct x86_regs, gpr[3]), 8, true},
	{"rsp", offsetof(struct x86_regs, gpr[4]), 8, true},
	{"rbp", offsetof(struct x86_regs, gpr[5]), 8, true},
	{"rsi", offsetof(struct x86_regs, gpr[6]), 8, true},
	{"rdi", offsetof(struct x86_regs, gpr[7]), 8, true},
	{"r8", offsetof(struct x86_regs, gpr[8]), 8, true},
	{"r9", offsetof(struct x86_regs, gpr[9]), 8, true},
	{"r10", offsetof(struct x86_regs, gpr[10]), 8, true},
	{"r11", offsetof(struct x86_regs, gpr[11]), 8, true},
	{"r12", offsetof(struct x86_regs, gpr[12]), 8, true},
	{"r13", offsetof(struct x86_regs, gpr[13]), 8, true},
	{"r14", offsetof(struct x86_regs, gpr[14]), 8, true},
	{"r15", offsetof(struct x86_regs, gpr[15]), 8, true},
	{"rip", offsetof(struct x86_regs, rip), 8, true},
	{"eflags", offsetof(struct x86_regs, rflags), 8, true},
	{"cs", offsetof(struct x86_regs, cs), 2, true},
	{"ss", offsetof(struct x86_regs, ss), 2, true},
	{"gs_base", offsetof(struct x86_regs, gs_base), 8, true},
	{"cr3", offsetof(struct x86_regs, cr3), 8, true},
	{"cr4", offsetof(struct x86_regs, cr4), 8, true},
	{"efer", offsetof(struct x86_regs, efer), 8, true},
	{"fs_base", offsetof(struct x86_regs, fs_base), 8, false},
	{"cr0", offsetof(struct x86_regs, cr0), 8, false},
};

/* Only the first 18 registers of wanted[], up to eflags, can get new values when a CPU is resumed (TARGET_RESUME_REGS). */
#define WRITABLE 18u

struct reading {
	struct regmap *map;
	regmap_fetch *fetch;
	void *ctx;
	struct err *err;
	unsigned documents;
	unsigned registers;
	uint32_t next_number, offset;
	char architecture[32];
};

static bool is_element(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

/*
 * Read a decimal attribute of an XML element. *out becomes `otherwise` if the element has no such attribute. Returns 0, or -1
 * if the attribute is not a number up to `max`.
 */
static int number_attribute(xmlNode *node, const char *name, uint32_t otherwise, uint32_t max, uint32_t *out)
{
	char *text = (char *)xmlGetNoNsProp(node, (const xmlChar *)name), *end;
	unsigned long value;
	int ret = 0;

	*out = otherwise;
	if (!text)
		return 0;
	value = strtoul(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end || value > max)
		ret = -1;
	*out = (uint32_t)value;
	xmlFree(text);
	return ret;
}

static int add_register(struct reading *r, xmlNode *node)
{
	uint32_t bits, number;
	char *name;

	if (++r->registers > REGISTERS_MAX || number_attribute(node, "bitsize", 0, BITS_MAX, &bits) || !bits || bits % 8 ||
	    number_attribute(node, "regnum", r->next_number, UINT16_MAX, &number) || number < r->next_number)
		return err_set(r->err, EXIT_INPUT,
			       "the gdbstub's register description has a register of an impossible size or number, or too many "
			       "registers: outrider cannot use this gdbstub");
	name = (char *)xmlGetNoNsProp(node, (const xmlChar *)"name");
	for (unsigned i = 0; name && i < REGMAP_REGS; i++) {
		if (strcmp(name, wanted[i].name) != 0)
			continue;
		r->map->regs[i].known = bits <= 64 && bits / 8 >= wanted[i].size / 2;
		r->map->regs[i].number = (uint16_t)number;
		r->map->regs[i].size = (uint8_t)(bits / 8);
		r->map->regs[i].offset = r->offset;
	}
	xmlFree(name);
	r->next_number = number + 1;
	r->offset += bits / 8;
	return 0;
}

static int read_document(struct reading *r, const char *annex, unsigned depth);

static int read_included(struct reading *r, xmlNode *node, unsigned depth)
{
	char *href = (char *)xmlGetNoNsProp(node, (const xmlChar *)"href");
	int ret = href ? read_document(r, href, depth + 1) : 0;

	xmlFree(href);
	return ret;
}

static int read_children(struct reading *r, xmlNode *parent, unsigned depth)
{
	for (xmlNode *node = parent->children; node; node = node->next) {
		int ret = 0;

		/* QEMU does not declare the XML prefix "xi", so libxml2 takes the prefix as part of the element's name. */
		if (is_element(node, "include") || is_element(node, "xi:include")) {
			ret = read_included(r, node, depth);
		} else if (is_element(node, "reg")) {
			ret = add_register(r, node);
		} else if (is_element(node, "feature") && depth <= DEPTH_MAX) {
			ret = read_children(r, node, depth + 1);
		} else if (is_element(node, "architecture")) {
			char *text = (char *)xmlNodeGetContent(node);

			snprintf(r->architecture, sizeof(r->architecture), "%s", text ? text : "");
			xmlFree(text);
		}
		if (ret)
			return -1;
	}
	return 0;
}

/* ---- XML ---- */

/*
 * Stop parsing at the first declaration. A document type can declare entities and attributes such that a few hundred kilobytes
 * expand to gigabytes. QEMU's document type declares nothing, so no valid description is refused.
 */
static void refuse(void *parser)
{
	xmlParserCtxt *context = parser;

	*(bool *)context->_private = true;
	xmlStopParser(context);
}

static void on_entity(void *parser, const xmlChar *name, int type, const xmlChar *public_id, const xmlChar *system_id,
		      xmlChar *content)
{
	(void)name, (void)type, (void)public_id, (void)system_id, (void)content;
	refuse(parser);
}

static void on_unparsed(void *parser, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id,
			const xmlChar *notation)
{
	(void)name, (void)public_id, (void)system_id, (void)notation;
	refuse(parser);
}

static void on_notation(void *parser, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id)
{
	(void)name, (void)public_id, (void)system_id;
	refuse(parser);
}

static void on_element(void *parser, const xmlChar *name, int type, xmlElementContent *content)
{
	(void)name, (void)type, (void)content;
	refuse(parser);
}

/*
 * Called for the declaration of an attribute: stops parsing, as refuse() does. Frees `values`, as libxml2 requires of this
 * callback.
 */
static void on_attribute(void *parser, const xmlChar *element, const xmlChar *name, int type, int otherwise,
			 const xmlChar *value, xmlEnumeration *values)
{
	(void)element, (void)name, (void)type, (void)otherwise, (void)value;
	xmlFreeEnumeration(values);
	refuse(parser);
}

/* Parse a document. Returns NULL with `err` set when it is not XML, or has declarations. */
static xmlDoc *parse(const char *text, const char *annex, struct err *err)
{
	const int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
	xmlParserCtxt *context = xmlNewParserCtxt();
	bool declares = false;
	xmlDoc *doc;

	if (!context) {
		err_set(err, EXIT_INTERNAL, "out of memory");
		return NULL;
	}
	context->_private = &declares;
	context->sax->entityDecl = on_entity;
	context->sax->unparsedEntityDecl = on_unparsed;
	context->sax->notationDecl = on_notation;
	context->sax->elementDecl = on_element;
	context->sax->attributeDecl = on_attribute;
	doc = xmlCtxtReadMemory(context, text, (int)strlen(text), NULL, NULL, options);
	if (declares) {
		err_set(err, EXIT_INPUT,
			"the gdbstub's register description (%s) declares entities, which no QEMU does: it is refused", annex);
		xmlFreeDoc(doc);
		doc = NULL;
	} else if (!doc || !xmlDocGetRootElement(doc)) {
		err_set(err, EXIT_INPUT, "the gdbstub's register description (%s) is not XML", annex);
		xmlFreeDoc(doc);
		doc = NULL;
	}
	xmlFreeParserCtxt(context);
	return doc;
}

static int read_document(struct reading *r, const char *annex, unsigned depth)
{
	xmlDoc *doc;
	char *text;
	int ret = -1;

	if (depth > DEPTH_MAX || ++r->documents > DOCUMENTS_MAX)
		return err_set(r->err, EXIT_INPUT, "the gdbstub's register description includes itself");
	text = r->fetch(r->ctx, annex, r->err);
	if (!text)
		return -1;
	doc = parse(text, annex, r->err);
	if (doc)
		ret = read_children(r, xmlDocGetRootElement(doc), depth);
	xmlFreeDoc(doc);
	free(text);
	return ret;
}

int regmap_read(struct regmap *map, regmap_fetch *fetch, void *ctx, struct err *err)
{
	struct reading r = {.map = map, .fetch = fetch, .ctx = ctx, .err = err};

	*map = (struct regmap){0};
	if (read_document(&r, "target.xml", 0))
		return -1;
	if (r.architecture[0] && strcmp(r.architecture, "i386:x86-64") != 0)
		return err_set(err, EXIT_INPUT, "the guest is not an x86-64 machine but %s", r.architecture);
	for (unsigned i = 0; i < REGMAP_REGS; i++) {
		if (wanted[i].needed && !map->regs[i].known)
			return err_set(
				err, EXIT_INPUT,
				"the gdbstub does not show register %s; outrider needs an x86-64 machine of QEMU 5 or newer",
				wanted[i].name);
	}
	return 0;
}

int regmap_decode(const struct regmap *map, const uint8_t *bytes, size_t len, struct x86_regs *regs)
{
	*regs = (struct x86_regs){0};
	for (unsigned i = 0; i < REGMAP_REGS; i++) {
		size_t size = map->regs[i].size, offset = map->regs[i].offset;
		uint64_t value = 0;

		if (!map->regs[i].known)
			continue;
		if (offset > len || size > len - offset)
			return -1;
		memcpy(&value, bytes + offset, size); /* The stub and this host are both little-endian. */
		memcpy((char *)regs + wanted[i].at, &value, wanted[i].size);
	}
	return 0;
}

int regmap_writable(const struct regmap *map, unsigned n, const struct x86_regs *regs, unsigned *number, unsigned *size,
		    uint64_t *value)
{
	if (n >= WRITABLE)
		return -1;
	*number = map->regs[n].number;
	*size = map->regs[n].size;
	*value = 0;
	memcpy(value, (const char *)regs + wanted[n].at, wanted[n].size);
	return 0;
}
