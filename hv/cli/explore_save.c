// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/cli/explore_save.h"

#include "hv/sandbox/sandbox.h"

/*
 * Index of the folder's temporary file to which copies write. Only one copy at a time writes a scenario, so one file is enough.
 */
#define FILE_USED 0u

static int file(void *ctx)
{
	const struct explore_save *s = ctx;

	return scenario_folder_fd(&s->folder, FILE_USED);
}

static int take(void *ctx, const char *name, bool *kept, struct err *err)
{
	struct explore_save *s = ctx;

	if (!name)
		return scenario_folder_take(&s->folder, FILE_USED, "", REPLAY_KEPT_NOTHING, kept, err);
	return scenario_folder_take_as(&s->folder, FILE_USED, name, kept, err);
}

struct opening {
	struct explore_save *save;
	const char *path;
};

static int open_as_user(void *ctx, struct err *err)
{
	const struct opening *o = ctx;

	return scenario_folder_open(&o->save->folder, o->path, err);
}

int explore_save_open(struct explore_save *s, const char *path, struct err *err)
{
	struct opening o = {.save = s, .path = path};

	s->saver = (struct explore_saver){.file = file, .take = take, .ctx = s};
	return sandbox_as_user(open_as_user, &o, err);
}

void explore_save_close(struct explore_save *s)
{
	scenario_folder_close(&s->folder);
}
