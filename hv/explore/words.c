// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/explore/words.h"

const char *explore_recorded_word(enum explore_recorded end)
{
	static const char *const words[] = {
		[EXPLORE_NOT_RECORDED] = "not-recorded",
		[EXPLORE_TO_ITS_END] = "ended",
		[EXPLORE_STEPS] = "steps",
		[EXPLORE_FULL] = "accesses",
		[EXPLORE_TIME] = "time",
		[EXPLORE_LOST] = "lost",
	};

	return words[end];
}

const char *explore_schedule_word(enum explore_schedule schedule)
{
	static const char *const words[EXPLORE_SCHEDULES] = {
		[EXPLORE_SERIAL_AB] = "serial-ab", [EXPLORE_SERIAL_BA] = "serial-ba", [EXPLORE_FLIP_A] = "flip-a",
		[EXPLORE_FLIP_B] = "flip-b",	   [EXPLORE_PAUSE_A] = "pause-a",     [EXPLORE_PAUSE_B] = "pause-b",
		[EXPLORE_WALK] = "walk",	   [EXPLORE_BETWEEN_A] = "between-a", [EXPLORE_BETWEEN_B] = "between-b",
	};

	return words[schedule];
}

const char *explore_forced_word(enum explore_forced forced)
{
	static const char *const words[] = {
		[EXPLORE_FORCED] = "forced",
		[EXPLORE_NOT_REACHED] = "not-reached",
		[EXPLORE_BLOCKED] = "blocked",
	};

	return words[forced];
}

const char *explore_outcome_word(enum explore_outcome outcome)
{
	static const char *const words[] = {
		[EXPLORE_SAME] = "same",     [EXPLORE_COMPLAINT] = "complaint",	    [EXPLORE_HANG] = "hang",
		[EXPLORE_KILLED] = "killed", [EXPLORE_STATUS] = "status",	    [EXPLORE_STATE] = "state",
		[EXPLORE_LEAK] = "leak",     [EXPLORE_FREED_TWICE] = "freed-twice", [EXPLORE_RETURNS] = "returns",
		[EXPLORE_FAILED] = "failed",
	};

	return words[outcome];
}
