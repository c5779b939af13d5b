// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks, counts and merges the results of running the instances of a race in both orders. */
#include "hv/race/replay.h"

#include <string.h>

#include "hv/base/clean.h"
#include "hv/race/count.h"

/* The weights of replay_weight(). The higher the weight, the more the instance says about whether the race does harm. */
enum weight { NOT_RUN, NO_STATE_CHANGE, FAILURE, STATE_CHANGE, ONE_TROUBLED };

bool replay_in_trouble(const struct replay_order *order)
{
	return order->trouble[0] || order->machine == REPLAY_MACHINE_PANIC || order->machine == REPLAY_MACHINE_HANG ||
	       order->machine == REPLAY_MACHINE_TRIPLE_FAULT;
}

int replay_troubled_order(const struct replay_instance *instance)
{
	for (int i = 0; i < 2; i++) {
		const struct replay_order *other = &instance->orders[!i];

		if (replay_in_trouble(&instance->orders[i]) && !replay_in_trouble(other) &&
		    other->machine != REPLAY_MACHINE_NOT_RUN)
			return i;
	}
	return -1;
}

int replay_weight(const struct replay_instance *instance)
{
	if (replay_troubled_order(instance) >= 0)
		return ONE_TROUBLED;
	if (instance->outcome == REPLAY_STATE_CHANGE)
		return STATE_CHANGE;
	if (instance->outcome == REPLAY_NO_STATE_CHANGE)
		return NO_STATE_CHANGE;
	return instance->why == REPLAY_CANNOT_LOAD ? NOT_RUN : FAILURE;
}

bool replay_same_outcome(const struct replay_instance *a, const struct replay_instance *b)
{
	return replay_weight(a) == replay_weight(b) && a->why == b->why && replay_troubled_order(a) == replay_troubled_order(b);
}

static bool same_difference(const struct replay_difference *a, const struct replay_difference *b)
{
	return a->is_register == b->is_register && a->side == b->side && a->len == b->len && a->gpa == b->gpa &&
	       memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0 && (!a->is_register || strcmp(a->name, b->name) == 0);
}

bool replay_identical(const struct replay_instance *a, const struct replay_instance *b)
{
	if (!replay_same_outcome(a, b) || a->outcome != b->outcome || a->difference_count != b->difference_count ||
	    a->kept != b->kept)
		return false;
	for (unsigned i = 0; i < 4; i++) {
		const struct replay_region *x = &a->orders[i / 2].regions[i % 2], *y = &b->orders[i / 2].regions[i % 2];

		if (x->end != y->end || x->instructions != y->instructions)
			return false;
	}
	for (uint32_t i = 0; i < a->kept; i++)
		if (!same_difference(&a->differences[i], &b->differences[i]))
			return false;
	return true;
}

static const char *difference_wrong(const struct replay_difference *difference)
{
	if (difference->len == 0 || difference->len > REPLAY_BYTES_MAX)
		return "the length of a difference is out of range";
	if (difference->side > 1)
		return "a difference names a side other than 0 and 1";
	return NULL;
}

static const char *order_wrong(const struct replay_order *order)
{
	if ((unsigned)order->machine >= REPLAY_MACHINES)
		return "the end of a machine has an unknown value";
	for (int i = 0; i < 2; i++) {
		if ((unsigned)order->regions[i].end >= REPLAY_ENDS)
			return "the end of a region has an unknown value";
	}
	return NULL;
}

const char *replay_instance_wrong(const struct replay_instance *instance)
{
	const char *wrong = NULL;

	if ((unsigned)instance->outcome >= REPLAY_OUTCOMES || (unsigned)instance->why >= REPLAY_FAILURES)
		return "the outcome has an unknown value";
	if ((instance->outcome == REPLAY_FAILURE) != (instance->why != REPLAY_NO_FAILURE))
		return "a failure has no reason, or another outcome has one";
	if (instance->kept > REPLAY_DIFFERENCES_MAX || instance->kept > instance->difference_count)
		return "more differences are listed than their count or the limit allows";
	if (instance->outcome == REPLAY_STATE_CHANGE && instance->difference_count == 0)
		return "a state change has no difference";
	if (instance->outcome == REPLAY_NO_STATE_CHANGE && instance->difference_count)
		return "there are differences without a state change";
	for (int i = 0; i < 2 && !wrong; i++)
		wrong = order_wrong(&instance->orders[i]);
	for (uint32_t i = 0; i < instance->kept && !wrong; i++)
		wrong = difference_wrong(&instance->differences[i]);
	return wrong;
}

/*
 * Returns the highest replay_weight() that an instance of this replay has, derived from the counts. A record is inconsistent if
 * replay->telling, the instance that it keeps, has another weight.
 */
static int weight_by_counts(const struct race_replay *replay)
{
	if (replay->one_troubled)
		return ONE_TROUBLED;
	if (replay->count[REPLAY_STATE_CHANGE])
		return STATE_CHANGE;
	if (replay->count[REPLAY_FAILURE] > replay->not_run)
		return FAILURE;
	return replay->count[REPLAY_NO_STATE_CHANGE] ? NO_STATE_CHANGE : NOT_RUN;
}

const char *replay_wrong(const struct race_replay *replay)
{
	for (int i = 0; i < REPLAY_OUTCOMES; i++) {
		if (replay->count[i] > INT64_MAX)
			return "a count of instances is out of range";
	}
	if (replay_instances(replay) == 0)
		return "there is no instance";
	if (replay->not_run > replay->count[REPLAY_FAILURE] || replay->one_troubled > replay_instances(replay) ||
	    replay->last_moments > replay_instances(replay))
		return "one of the counts is larger than the number of instances";
	if (replay_instance_wrong(&replay->telling))
		return replay_instance_wrong(&replay->telling);
	if (replay->count[replay->telling.outcome] == 0 || replay_weight(&replay->telling) != weight_by_counts(replay))
		return "the instance and the counts contradict each other";
	return NULL;
}

uint64_t replay_instances(const struct race_replay *replay)
{
	uint64_t sum = 0;

	for (int i = 0; i < REPLAY_OUTCOMES; i++)
		sum = count_sum(sum, replay->count[i]);
	return sum;
}

enum replay_outcome replay_outcome(const struct race_replay *replay)
{
	if (replay->count[REPLAY_STATE_CHANGE])
		return REPLAY_STATE_CHANGE;
	if (replay->count[REPLAY_FAILURE] > replay->not_run || !replay->count[REPLAY_NO_STATE_CHANGE])
		return REPLAY_FAILURE;
	return REPLAY_NO_STATE_CHANGE;
}

static void swap_regions(struct replay_order *order)
{
	struct replay_region region = order->regions[0];

	order->regions[0] = order->regions[1];
	order->regions[1] = region;
}

static void swap_bytes(struct replay_difference *difference)
{
	for (int i = 0; i < REPLAY_BYTES_MAX; i++) {
		uint8_t byte = difference->bytes[0][i];

		difference->bytes[0][i] = difference->bytes[1][i];
		difference->bytes[1][i] = byte;
	}
}

void replay_swap(struct replay_instance *instance)
{
	struct replay_order order = instance->orders[0];

	instance->orders[0] = instance->orders[1];
	instance->orders[1] = order;
	swap_regions(&instance->orders[0]);
	swap_regions(&instance->orders[1]);
	for (uint32_t i = 0; i < instance->kept; i++) {
		struct replay_difference *difference = &instance->differences[i];

		swap_bytes(difference);
		if (difference->is_register)
			difference->side = !difference->side;
	}
}

void replay_clean(struct replay_instance *instance)
{
	clean_field(instance->why_text, sizeof(instance->why_text));
	for (int i = 0; i < 2; i++)
		clean_field(instance->orders[i].trouble, sizeof(instance->orders[i].trouble));
	for (uint32_t i = 0; i < instance->kept; i++)
		clean_field(instance->differences[i].name, sizeof(instance->differences[i].name));
}

/*
 * Copy the instance to into->telling if its replay_weight() is higher than that of into->telling. `first`: into->telling is not
 * set yet.
 */
static void keep_telling(struct race_replay *into, const struct replay_instance *instance, bool first)
{
	if (first || replay_weight(instance) > replay_weight(&into->telling))
		into->telling = *instance;
}

void replay_count(struct race_replay *into, const struct replay_instance *instance)
{
	keep_telling(into, instance, replay_instances(into) == 0);
	replay_clean(&into->telling);
	into->telling.last_moment = false;
	into->count[instance->outcome] = count_sum(into->count[instance->outcome], 1);
	if (instance->why == REPLAY_CANNOT_LOAD)
		into->not_run = count_sum(into->not_run, 1);
	if (replay_troubled_order(instance) >= 0)
		into->one_troubled = count_sum(into->one_troubled, 1);
	if (instance->last_moment)
		into->last_moments = count_sum(into->last_moments, 1);
}

void replay_merge(struct race_replay *into, const struct race_replay *from, bool swap)
{
	struct replay_instance telling = from->telling;

	if (swap)
		replay_swap(&telling);
	keep_telling(into, &telling, replay_instances(into) == 0);
	for (int i = 0; i < REPLAY_OUTCOMES; i++)
		into->count[i] = count_sum(into->count[i], from->count[i]);
	into->not_run = count_sum(into->not_run, from->not_run);
	into->one_troubled = count_sum(into->one_troubled, from->one_troubled);
	into->last_moments = count_sum(into->last_moments, from->last_moments);
}

enum replay_kept replay_kept(const struct replay_instance *instance)
{
	if (instance->outcome == REPLAY_FAILURE && instance->why == REPLAY_CANNOT_LOAD)
		return REPLAY_KEPT_NOTHING;
	if (replay_troubled_order(instance) >= 0)
		return REPLAY_KEPT_ORDER_CRASHES;
	switch (instance->outcome) {
	case REPLAY_NO_STATE_CHANGE:
		return REPLAY_KEPT_NO_STATE_CHANGE;
	case REPLAY_STATE_CHANGE:
		return REPLAY_KEPT_STATE_CHANGE;
	default:
		return REPLAY_KEPT_FAILURE;
	}
}

const char *replay_kept_word(enum replay_kept kind)
{
	static const char *const words[] = {
		[REPLAY_KEPT_NO_STATE_CHANGE] = "no-state-change",
		[REPLAY_KEPT_STATE_CHANGE] = "state-change",
		[REPLAY_KEPT_FAILURE] = "replay-failure",
		[REPLAY_KEPT_ORDER_CRASHES] = "order-crashes",
	};

	return words[kind];
}
