// SPDX-License-Identifier: GPL-2.0-or-later
#include <libxml/xmlwriter.h>

#include "hv/export/internal.h"
#include "hv/report/text/text.h"

/* libxml2 has a character type of its own. This keeps the calls that write short. */
static const xmlChar *x(const char *text)
{
	return (const xmlChar *)text;
}

struct counts {
	unsigned failed, skipped;
};

static bool fails(const struct export_race *r)
{
	return !r->suppression && r->level != EXPORT_BENIGN;
}

static struct counts count(const struct export_run *run)
{
	struct counts c = {0};

	for (size_t i = 0; i < run->count; i++) {
		c.failed += fails(&run->races[i]);
		c.skipped += run->races[i].suppression != NULL;
	}
	return c;
}

/* The report as people read it, which a failed test shows. Returns 0, or -1 when memory runs out. */
static int write_text(xmlTextWriter *w, const struct race *race)
{
	const struct text_style style = {0};
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);
	int rc;

	if (!memory)
		return -1;
	text_race(memory, race, &style);
	rc = fclose(memory) == 0 && xmlTextWriterWriteString(w, x(text)) >= 0 ? 0 : -1;
	free(text);
	return rc;
}

static int write_failure(xmlTextWriter *w, const struct export_race *r, const char *title)
{
	if (xmlTextWriterStartElement(w, x("failure")) < 0 ||
	    xmlTextWriterWriteAttribute(w, x("type"), x(r->verdict ? r->verdict : "data race")) < 0 ||
	    xmlTextWriterWriteAttribute(w, x("message"), x(r->evidence ? r->evidence : title)) < 0 ||
	    write_text(w, r->race) < 0)
		return -1;
	return xmlTextWriterEndElement(w);
}

static int write_case(xmlTextWriter *w, const struct export_race *r)
{
	const struct source_line *line = export_line(r->race, 0);
	char title[EXPORT_TITLE_MAX], file[EXPORT_NAME_MAX];
	int rc;

	export_title(r->race, title);
	rc = xmlTextWriterStartElement(w, x("testcase"));
	rc |= xmlTextWriterWriteAttribute(w, x("classname"), x(r->race->site[0]));
	rc |= xmlTextWriterWriteFormatAttribute(w, x("name"), "%s (%s)", title, r->race->id);
	if (line) {
		export_text(line->file, sizeof(line->file), file);
		rc |= xmlTextWriterWriteAttribute(w, x("file"), x(file));
		rc |= xmlTextWriterWriteFormatAttribute(w, x("line"), "%u", line->line);
	}
	if (fails(r))
		rc |= write_failure(w, r, title);
	if (r->suppression) {
		rc |= xmlTextWriterStartElement(w, x("skipped"));
		rc |= xmlTextWriterWriteAttribute(w, x("message"), x(r->suppression));
		rc |= xmlTextWriterEndElement(w);
	}
	return rc | xmlTextWriterEndElement(w);
}

static int write_document(xmlTextWriter *w, const struct export_run *run)
{
	const struct counts c = count(run);
	int rc = xmlTextWriterStartDocument(w, NULL, "UTF-8", NULL);

	rc |= xmlTextWriterSetIndent(w, 1);
	rc |= xmlTextWriterStartElement(w, x("testsuites"));
	rc |= xmlTextWriterStartElement(w, x("testsuite"));
	rc |= xmlTextWriterWriteAttribute(w, x("name"), x("outrider"));
	rc |= xmlTextWriterWriteFormatAttribute(w, x("tests"), "%zu", run->count);
	rc |= xmlTextWriterWriteFormatAttribute(w, x("failures"), "%u", c.failed);
	rc |= xmlTextWriterWriteFormatAttribute(w, x("skipped"), "%u", c.skipped);
	rc |= xmlTextWriterWriteAttribute(w, x("errors"), x("0"));
	for (size_t i = 0; i < run->count && rc >= 0; i++)
		rc |= write_case(w, &run->races[i]);
	return rc | xmlTextWriterEndDocument(w);
}

int export_junit(FILE *out, const struct export_run *run, struct err *err)
{
	xmlBuffer *buffer = xmlBufferCreate();
	xmlTextWriter *w = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
	int rc = w ? write_document(w, run) : -1;

	if (w)
		xmlFreeTextWriter(w);
	/* A negative result has the sign bit, and so has the value that it is or-ed into. */
	if (rc < 0)
		err_set(err, EXIT_INTERNAL, "out of memory while exporting");
	else
		fwrite(xmlBufferContent(buffer), 1, (size_t)xmlBufferLength(buffer), out);
	xmlBufferFree(buffer);
	return rc < 0 ? -1 : 0;
}
