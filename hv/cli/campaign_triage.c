// SPDX-License-Identifier: GPL-2.0-or-later
/* `outrider campaign triage`: stores a user's judgement on a race. */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hv/campaign/store/version.h"
#include "hv/cli/campaign.h"
#include "hv/cli/campaign_list.h"

/* One command can have at most this many options --in: one for each stable branch that has the fix, with room to spare. */
#define MENDS_MAX 32

enum key { KEY_NOTE = 0x200, KEY_WHO, KEY_IN };

struct options {
	struct campaign_place place; /* must be first: parsers take its address for this struct's address (cli_parse()) */
	const char *race;
	enum store_triage state;
	bool has_state;
	const char *note, *who;
	const char *in[MENDS_MAX]; /* the values of the options --in: kernel versions, build ids or commits */
	size_t in_count;
};

static const struct argp_option options[] = {
	{"in", KEY_IN, "VERSION", 0,
	 "with fixed: the version that brought the fix, for example 6.1.115 or v6.13-rc2, or a build id or commit of a kernel "
	 "in the store; once for each line of development that got it. The race may be seen in older kernels",
	 0},
	{"note", KEY_NOTE, "TEXT", 0, "why, or where to read more", 0},
	{"who", KEY_WHO, "NAME", 0, "who says so (default: the user's login name)", 0},
	{0},
};

static const char doc[] =
	"Mark a race as known, fixed, wontfix, or new again.\v"
	"RACE is the id of a race in a list or a report, or its first characters. A race that is known or "
	"wontfix needs no attention any more. A race that is fixed needs attention when it is seen again, with --in when a "
	"kernel with the fix shows it. The history keeps every state.";

static error_t argument(struct options *o, const char *arg, struct argp_state *state)
{
	int triage;

	if (!o->race) {
		o->race = arg;
		return 0;
	}
	if (o->has_state)
		return cli_usage(state, "%.80s: triage takes one RACE and one STATE; give the note after --note", arg);
	triage = store_triage_from_word(arg);
	if (triage < 0)
		return cli_usage(state, "%.80s: the STATE of a race is new, known, fixed or wontfix", arg);
	o->has_state = true;
	o->state = (enum store_triage)triage;
	return 0;
}

static error_t check_arguments(const struct options *o, struct argp_state *state)
{
	if (!o->has_state)
		return cli_usage(state, "triage needs a RACE and a STATE: new, known, fixed or wontfix");
	if (o->in_count && o->state != STORE_TRIAGE_FIXED)
		return cli_usage(state, "--in says where a race is fixed: give the state fixed, or leave --in out");
	return 0;
}

static error_t parser(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->place;
		return 0;
	case KEY_NOTE:
		o->note = arg;
		return 0;
	case KEY_WHO:
		o->who = arg;
		return 0;
	case ARGP_KEY_ARG:
		return argument(o, arg, state);
	case KEY_IN:
		if (o->in_count == MENDS_MAX)
			return cli_usage(state, "--in %.40s: give at most %d versions", arg, MENDS_MAX);
		o->in[o->in_count++] = arg;
		return 0;
	case ARGP_KEY_END:
		return check_arguments(o, state);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_child children[] = {{&campaign_store_argp, 0, NULL, 0}, {0}};
const struct argp campaign_triage_argp = {
	.options = options, .parser = parser, .args_doc = "RACE STATE", .doc = doc, .children = children};

static const char *user_name(void)
{
	const struct passwd *user = getpwuid(getuid());

	return user ? user->pw_name : "";
}

/*
 * Set the state that the options give. If the value of --in is a version, the store gets this version. If it is a build id or a
 * commit, the store gets the release of this build.
 */
static int set_state(struct store *store, int64_t race, const struct options *o, struct err *err)
{
	char releases[MENDS_MAX][VERSION_TEXT_MAX];
	const char *mended[MENDS_MAX], *who = o->who ? o->who : user_name();
	struct version version;

	if (!o->in_count)
		return store_triage_set(store, race, o->state, o->note, who, 0, err);
	for (size_t i = 0; i < o->in_count; i++) {
		bool given = strlen(o->in[i]) < VERSION_TEXT_MAX && version_read(o->in[i], &version) &&
			     !o->in[i][strcspn(o->in[i], " ,")];

		mended[i] = given ? o->in[i] : releases[i];
		if (!given && store_build_release(store, o->in[i], releases[i], sizeof(releases[i]), err) < 0)
			return -1;
		if (!version_read(mended[i], &version))
			return err_set(err, EXIT_USAGE, "--in %.80s: the release %.80s of this kernel is no version", o->in[i],
				       mended[i]);
	}
	return store_mend_set(store, race, mended, o->in_count, o->note, who, 0, err);
}

/* Print the new state, with the race's full id: the user's RACE may have been an abbreviation. */
static int say(struct store *store, int64_t race, const struct options *o, struct err *err)
{
	const struct store_races_query q = {.race = race};
	struct store_races races = {0};
	int rc = store_races(store, &q, &races, err);

	if (rc == 0 && races.count == 1)
		printf("%s %s%s%s: %s in %s <-> %s in %s\n", races.list[0].name, store_triage_word(o->state),
		       races.list[0].mended[0] ? " in " : "", races.list[0].mended, races.list[0].sides[0].kind,
		       races.list[0].sides[0].function, races.list[0].sides[1].kind, races.list[0].sides[1].function);
	store_races_free(&races);
	return rc;
}

int campaign_triage(int argc, char **argv)
{
	struct err err = {0};
	struct options o = {.place.input.err = &err};
	struct store *store = NULL;
	int64_t race;

	if (cli_parse(&campaign_triage_argp, argc, argv, &o.place.input) == 0 &&
	    (store = campaign_place_open(&o.place, STORE_WRITE, &err)) && store_race_find(store, o.race, &race, &err) == 0 &&
	    set_state(store, race, &o, &err) == 0)
		say(store, race, &o, &err);
	store_close(store);
	return err.code == EXIT_OK ? EXIT_OK : cli_fail(&err);
}
