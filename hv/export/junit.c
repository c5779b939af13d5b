// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a report as JUnit XML: each group of races is a test case. */
#include <inttypes.h>
#include <libxml/xmlwriter.h>
#include <string.h>

#include "hv/export/internal.h"
#include "hv/race/race_key.h"
#include "hv/report/locks/suspicion_key.h"
#include "hv/report/text/text.h"

/*
 * The functions of libxml2 return a negative number on failure. Their results are combined by |, which keeps the sign bit, so
 * one check at the end suffices.
 */

/* Returns `text` as libxml2's own character type. The short name keeps the calls readable. */
static const xmlChar *x(const char *text)
{
	return (const xmlChar *)text;
}

struct counts {
	size_t tests, failed, skipped, errors;
};

/* Returns true if the user does not count this doubt about a run as a failure. */
static bool is_excused(const struct export_run *run, enum run_doubt doubt)
{
	return run->excused & 1u << doubt;
}

static struct counts count(const struct export_run *run)
{
	struct counts c = {.tests = run->groups ? run->groups->count : 0};

	for (size_t i = 0; i < run->run_count; i++) {
		enum run_doubt doubt = run_doubt(&run->runs[i]);

		c.tests += doubt != RUN_SOUND;
		c.errors += doubt != RUN_SOUND && !is_excused(run, doubt);
		c.skipped += doubt != RUN_SOUND && is_excused(run, doubt);
	}
	for (size_t i = 0; i < run->run_count; i++) {
		c.tests += run->runs[i].complaints.count;
		c.failed += run->complaints_fail ? run->runs[i].complaints.count : 0;
		c.skipped += run->complaints_fail ? 0 : run->runs[i].complaints.count;
	}
	for (size_t i = 0; run->groups && i < run->groups->count; i++) {
		const struct export_race *lead = &run->races[run->groups->list[i].members[0]];

		c.failed += lead->fails;
		c.skipped += lead->suppression != NULL;
	}
	return c;
}

/* Write the text report of a race, as the content of a failed test case. */
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

/* Write the lead's text and evidence, and the text of the group's other races. */
static int write_failure(xmlTextWriter *w, const struct export_run *run, const struct group *group, const char *title)
{
	const struct export_race *r = &run->races[group->members[0]];
	int rc = xmlTextWriterStartElement(w, x("failure"));

	rc |= xmlTextWriterWriteAttribute(w, x("type"), x(r->verdict ? r->verdict : "data race"));
	rc |= xmlTextWriterWriteAttribute(w, x("message"), x(r->evidence ? r->evidence : title));
	for (size_t i = 0; i < group->count && rc >= 0; i++)
		rc |= write_text(w, run->races[group->members[i]].race);
	return rc | xmlTextWriterEndElement(w);
}

/* Write why the race is not a failure. */
static int write_passed(xmlTextWriter *w, const struct export_race *r)
{
	int rc = xmlTextWriterStartElement(w, x("system-out"));

	rc |= xmlTextWriterWriteFormatString(w, "%s, %s: %s", r->verdict ? r->verdict : "not judged",
					     r->rule ? r->rule->name : "no rule", r->evidence ? r->evidence : "");
	return rc | xmlTextWriterEndElement(w);
}

static int write_skipped(xmlTextWriter *w, const struct export_race *r)
{
	int rc = xmlTextWriterStartElement(w, x("skipped"));

	rc |= xmlTextWriterWriteAttribute(w, x("message"), x(r->suppression));
	return rc | xmlTextWriterEndElement(w);
}

/* Write the name of the function of the group's first side. It has no offset, because offsets change with the build. */
static int write_class(xmlTextWriter *w, const struct race *lead)
{
	struct race_key key;

	race_key(lead, &key);
	return xmlTextWriterWriteFormatAttribute(w, x("classname"), "%s%s%s", key.sides[0].module,
						 key.sides[0].module[0] ? ":" : "", key.sides[0].function);
}

/*
 * Write the test case of a group, with the facts of its lead. Servers identify a test by its class and name. So class and name
 * must be the same in every build, and must not depend on which race of the group is the lead.
 */
static int write_case(xmlTextWriter *w, const struct export_run *run, const struct group *group)
{
	const struct export_race *r = &run->races[group->members[0]];
	unsigned primary = export_primary(r->race);
	const struct source_line *line = export_line(r->race, primary);
	char title[EXPORT_TITLE_MAX];
	int rc;

	export_title(r->race, title);
	rc = xmlTextWriterStartElement(w, x("testcase"));
	rc |= write_class(w, r->race);
	rc |= xmlTextWriterWriteFormatAttribute(w, x("name"), "%s (%s)", group->text, group->id);
	if (line) {
		rc |= xmlTextWriterWriteAttribute(w, x("file"), x(line->file));
		rc |= xmlTextWriterWriteFormatAttribute(w, x("line"), "%u", line->line);
	}
	if (r->suppression)
		rc |= write_skipped(w, r);
	else
		rc |= r->fails ? write_failure(w, run, group, title) : write_passed(w, r);
	return rc | xmlTextWriterEndElement(w);
}

/*
 * If a run is unfinished or has sampled nothing (enum run_doubt), write a test case with an error. So a suite does not pass
 * only because no race could be found. If the user does not count this doubt as a failure, the case is skipped.
 */
static int write_doubt(xmlTextWriter *w, const struct export_run *run, size_t index)
{
	const struct run_facts *facts = &run->runs[index];
	enum run_doubt doubt = run_doubt(facts);
	char text[RUN_DOUBT_TEXT_MAX];
	int rc;

	if (doubt == RUN_SOUND)
		return 0;
	run_doubt_text(facts, text);
	rc = xmlTextWriterStartElement(w, x("testcase"));
	rc |= xmlTextWriterWriteAttribute(w, x("classname"), x("outrider"));
	rc |= xmlTextWriterWriteFormatAttribute(w, x("name"), "run %zu", index + 1);
	rc |= xmlTextWriterStartElement(w, x(is_excused(run, doubt) ? "skipped" : "error"));
	if (!is_excused(run, doubt))
		rc |= xmlTextWriterWriteAttribute(w, x("type"), x(run_doubt_word(doubt)));
	rc |= xmlTextWriterWriteAttribute(w, x("message"), x(text));
	rc |= xmlTextWriterEndElement(w);
	return rc | xmlTextWriterEndElement(w);
}

/*
 * Write a complaint of the guest's kernel as a failed test case if complaints make the command fail, and else as a skipped one.
 */
static int write_complaint(xmlTextWriter *w, const struct complaint *c, bool fails)
{
	int rc = xmlTextWriterStartElement(w, x("testcase"));

	rc |= xmlTextWriterWriteAttribute(w, x("classname"), x("outrider.complaint"));
	rc |= xmlTextWriterWriteFormatAttribute(w, x("name"), "%s%s%s", complaint_word(c->kind),
						c->where.function[0] ? " in " : "", c->where.function);
	rc |= xmlTextWriterStartElement(w, x(fails ? "failure" : "skipped"));
	if (fails)
		rc |= xmlTextWriterWriteAttribute(w, x("type"), x("complaint"));
	rc |= xmlTextWriterWriteAttribute(w, x("message"), x(c->text));
	rc |= xmlTextWriterEndElement(w);
	return rc | xmlTextWriterEndElement(w);
}

static int write_complaints(xmlTextWriter *w, const struct export_run *run)
{
	int rc = 0;

	for (size_t i = 0; i < run->run_count; i++) {
		const struct run_complaints *complaints = &run->runs[i].complaints;

		for (size_t n = 0; n < complaints->count && rc >= 0; n++)
			rc |= write_complaint(w, &complaints->list[n], run->complaints_fail);
	}
	return rc;
}

/* State for writing the properties of a run. From the second run on, names are prefixed with the run's number. */
struct properties {
	xmlTextWriter *w;
	size_t number;
	int rc;
};

static void put(struct properties *p, const char *name, const char *value)
{
	if (!value || !value[0])
		return;
	p->rc |= xmlTextWriterStartElement(p->w, x("property"));
	if (p->number > 1)
		p->rc |= xmlTextWriterWriteFormatAttribute(p->w, x("name"), "run%zu.%s", p->number, name);
	else
		p->rc |= xmlTextWriterWriteAttribute(p->w, x("name"), x(name));
	p->rc |= xmlTextWriterWriteAttribute(p->w, x("value"), x(value));
	p->rc |= xmlTextWriterEndElement(p->w);
}

static void put_number(struct properties *p, const char *name, uint64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, number);
	if (number)
		put(p, name, text);
}

static void put_seconds(struct properties *p, const char *name, uint64_t ns)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3f", (double)ns / 1e9);
	if (ns)
		put(p, name, text);
}

static void put_build_id(struct properties *p, const struct run_kernel *kernel)
{
	char text[2 * REPORT_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < kernel->build_id_len; i++)
		snprintf(text + 2 * i, 3, "%02x", kernel->build_id[i]);
	put(p, "kernel.build-id", text);
}

static void put_options(struct properties *p, const struct run_facts *run)
{
	char name[32];

	for (size_t i = 0; i < run->option_count; i++) {
		snprintf(name, sizeof(name), "option.%zu", i + 1);
		put(p, name, run->options[i]);
	}
}

static void put_run(struct properties *p, const struct run_facts *run)
{
	put(p, "outrider", run->tool_version);
	put(p, "kernel", run->kernel.banner ? run->kernel.banner : "not found");
	put_build_id(p, &run->kernel);
	put(p, "kernel.file", run->kernel_file);
	put(p, "kernel.command-line", run->cmdline);
	put(p, "started", run->started);
	put(p, "ended", run->ended);
	put(p, "finished", run->finished ? "yes" : "no");
	put(p, "end", run->end);
	put_seconds(p, "sampled-seconds", run->sampled_ns);
	put(p, "host", run->host.name);
	put(p, "host.kernel", run->host.release);
	put(p, "host.cpu", run->host.cpu);
	put_options(p, run);
	put(p, "sample", run->sample);
	put(p, "module", run->module);
	put_number(p, "seed", run->seed);
	put_number(p, "rate", run->rate);
	put_number(p, "delay-microseconds", run->delay_ns / 1000);
	put_number(p, "cpus", run->cpus);
	put_number(p, "memory-bytes", run->memory);
}

static int write_properties(xmlTextWriter *w, const struct export_run *run)
{
	struct properties p = {.w = w};

	p.rc = xmlTextWriterStartElement(w, x("properties"));
	put(&p, "report-by-outrider", run->tool_version);
	for (size_t i = 0; i < run->run_count; i++) {
		p.number = i + 1;
		put_run(&p, &run->runs[i]);
	}
	return p.rc | xmlTextWriterEndElement(w);
}

/*
 * Write time and host of the first run, which servers show with the suite. JUnit's format of a time has no time zone and no
 * milliseconds.
 */
static int write_when(xmlTextWriter *w, const struct run_facts *first)
{
	int rc = 0;

	if (first->started[0])
		rc |= xmlTextWriterWriteFormatAttribute(w, x("timestamp"), "%.19s", first->started);
	if (first->host.name)
		rc |= xmlTextWriterWriteAttribute(w, x("hostname"), x(first->host.name));
	return rc | xmlTextWriterWriteFormatAttribute(w, x("time"), "%.3f", (double)first->sampled_ns / 1e9);
}

/*
 * Write the class and the name of a suspicion's test case. They contain functions without offsets, because offsets change with
 * the build.
 */
static int write_suspicion_name(xmlTextWriter *w, const struct chart_suspicion *c)
{
	char function[2][SITE_NAME_MAX];
	int rc;

	for (unsigned i = 0; i < 2; i++)
		suspicion_function(c->site[i], function[i]);
	rc = xmlTextWriterWriteAttribute(w, x("classname"), x(function[0]));
	return rc |
	       xmlTextWriterWriteFormatAttribute(w, x("name"), "suspicion about %s (%s:%u)", function[1], c->identity, c->nth);
}

/* Write a suspicion as a failed test case if suspicions make the command fail, and otherwise as a skipped one. */
static int write_suspicion(xmlTextWriter *w, const struct chart_suspicion *c, bool fails)
{
	int rc = xmlTextWriterStartElement(w, x("testcase"));

	rc |= write_suspicion_name(w, c);
	rc |= xmlTextWriterStartElement(w, x(fails ? "failure" : "skipped"));
	if (fails)
		rc |= xmlTextWriterWriteAttribute(w, x("type"), x("suspicion"));
	rc |= xmlTextWriterWriteAttribute(w, x("message"), x(c->suspicion.text));
	rc |= xmlTextWriterEndElement(w);
	return rc | xmlTextWriterEndElement(w);
}

static bool suspicion_fails(const struct export_run *run, const struct chart_suspicion *c)
{
	return run->suspicions_fail || (run->atomicities_fail && c->suspicion.kind == SUSPICION_ATOMICITY);
}

/* Write the suspicions as a separate test suite. */
static int write_suspicions(xmlTextWriter *w, const struct export_run *run)
{
	const struct lock_chart *locks = run->locks;
	int rc = xmlTextWriterStartElement(w, x("testsuite"));
	size_t failed = 0;

	for (size_t i = 0; i < locks->suspicion_count; i++)
		failed += suspicion_fails(run, &locks->suspicions[i]);
	rc |= xmlTextWriterWriteAttribute(w, x("name"), x("outrider suspicions"));
	rc |= xmlTextWriterWriteFormatAttribute(w, x("tests"), "%zu", locks->suspicion_count);
	rc |= xmlTextWriterWriteFormatAttribute(w, x("failures"), "%zu", failed);
	rc |= xmlTextWriterWriteFormatAttribute(w, x("skipped"), "%zu", locks->suspicion_count - failed);
	rc |= xmlTextWriterWriteAttribute(w, x("errors"), x("0"));
	for (size_t i = 0; i < locks->suspicion_count && rc >= 0; i++)
		rc |= write_suspicion(w, &locks->suspicions[i], suspicion_fails(run, &locks->suspicions[i]));
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
	rc |= xmlTextWriterWriteFormatAttribute(w, x("tests"), "%zu", c.tests);
	rc |= xmlTextWriterWriteFormatAttribute(w, x("failures"), "%zu", c.failed);
	rc |= xmlTextWriterWriteFormatAttribute(w, x("skipped"), "%zu", c.skipped);
	rc |= xmlTextWriterWriteFormatAttribute(w, x("errors"), "%zu", c.errors);
	if (run->run_count)
		rc |= write_when(w, &run->runs[0]);
	rc |= write_properties(w, run);
	for (size_t i = 0; i < run->run_count && rc >= 0; i++)
		rc |= write_doubt(w, run, i);
	rc |= write_complaints(w, run);
	for (size_t i = 0; run->groups && i < run->groups->count && rc >= 0; i++)
		rc |= write_case(w, run, &run->groups->list[i]);
	rc |= xmlTextWriterEndElement(w);
	if (run->locks && rc >= 0)
		rc |= write_suspicions(w, run);
	return rc | xmlTextWriterEndDocument(w);
}

int export_junit(FILE *out, const struct export_run *run, struct err *err)
{
	xmlBuffer *buffer = xmlBufferCreate();
	xmlTextWriter *w = buffer ? xmlNewTextWriterMemory(buffer, 0) : NULL;
	int rc = w ? write_document(w, run) : -1;

	if (w)
		xmlFreeTextWriter(w);
	if (rc < 0)
		err_set(err, EXIT_INTERNAL, "out of memory while exporting");
	else
		fwrite(xmlBufferContent(buffer), 1, (size_t)xmlBufferLength(buffer), out);
	xmlBufferFree(buffer);
	return rc < 0 ? -1 : 0;
}
