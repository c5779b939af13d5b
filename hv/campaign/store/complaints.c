// SPDX-License-Identifier: GPL-2.0-or-later
/* Converts the complaints of the guest's kernel in a run's report to findings. */
#include "hv/campaign/store/complaints.h"

#include <stdlib.h>
#include <string.h>

/*
 * "Oops: ..." is the second line that the kernel prints for an oops. A complaint of a report has only the first line. So says()
 * takes a console line that begins with OOPS for the same event as a fatal complaint.
 */
#define OOPS "Oops"

static enum store_outcome outcome_of(enum complaint_kind kind)
{
	switch (kind) {
	case COMPLAINT_PANIC:
		return STORE_PANIC;
	case COMPLAINT_LOCKUP:
	case COMPLAINT_HUNG_TASK:
		return STORE_LOCKUP;
	default:
		return STORE_COMPLAINT;
	}
}

int complaints_take(struct run_data *d, const struct run_complaints *from, struct err *err)
{
	d->complaints = calloc(from->count + 1, sizeof(*d->complaints));
	if (!d->complaints)
		return err_set(err, EXIT_INTERNAL, "out of memory");
	for (size_t i = 0; i < from->count; i++) {
		const struct complaint *c = &from->list[i];
		const char *where = c->where.text;

		d->complaints[d->complaint_count++] = (struct run_data_complaint){
			.kind = outcome_of(c->kind),
			.line = text_printf(d->text, "%s%s%s", c->text, where[0] ? ", in " : "", where),
			.text = text_copy(d->text, c->text),
			.where = text_copy(d->text, where),
			.fatal = c->fatal,
		};
	}
	return 0;
}

static bool says(const struct run_data_complaint *c, const char *line)
{
	return strcmp(line, c->text) == 0 || (c->where[0] && strstr(line, c->where)) ||
	       (c->fatal && strncmp(line, OOPS, strlen(OOPS)) == 0);
}

bool complaints_say(const struct run_data *d, const struct store_finding *finding)
{
	int kind = store_outcome_from_word(finding->kind);

	if (kind != STORE_PANIC && kind != STORE_LOCKUP && kind != STORE_COMPLAINT)
		return false;
	for (size_t i = 0; i < d->complaint_count; i++) {
		if (says(&d->complaints[i], finding->line))
			return true;
	}
	return false;
}

const struct run_data_complaint *complaints_worst(const struct run_data *d)
{
	const struct run_data_complaint *worst = NULL;

	for (size_t i = 0; i < d->complaint_count; i++) {
		if (!worst || ends_is_worse(d->complaints[i].kind, worst->kind))
			worst = &d->complaints[i];
	}
	return worst;
}
