// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which sites are worth a sample point now (talkers.h). */
#include "hv/detect/steer/talkers.h"

#include <string.h>

/*
 * A refused hit (TALK_REFUSED) says nothing about the site, but uses up one hit of the requested rate. So 4 refused hits count
 * as a try.
 */
#define REFUSED_A_TRY 4u

static uint32_t hash_of(uint64_t gva)
{
	/* The multiplier is the golden ratio in 64 bits (Knuth, vol. 3, 6.4). */
	return (uint32_t)(gva * 0x9e3779b97f4a7c15ull >> 32);
}

/* Returns the record of a site, with its counts aged. A new record takes the place of an old one with the same hash. */
static struct talk_site *site_of(struct talkers *t, uint64_t site, uint64_t now)
{
	struct talk_site *s = &t->sites[hash_of(site) & (TALK_SITES - 1)];

	if (s->site != site)
		*s = (struct talk_site){.site = site, .halved_ns = now};
	for (; now - s->halved_ns >= TALK_HALF_NS; s->halved_ns += TALK_HALF_NS) {
		if (!s->tries && !s->refused && !s->conflicts) {
			s->halved_ns = now;
			break;
		}
		s->tries /= 2;
		s->refused /= 2;
		s->conflicts /= 2;
	}
	return s;
}

static void add(uint8_t *count)
{
	*count += *count < UINT8_MAX;
}

/* Returns the index of the function's news, or t->count if it has none. */
static unsigned find_news(const struct talkers *t, uint64_t function)
{
	unsigned i = 0;

	while (i < t->count && t->news[i].function != function)
		i++;
	return i;
}

static void remove_news(struct talkers *t, unsigned i)
{
	t->count--;
	memmove(&t->news[i], &t->news[i + 1], (t->count - i) * sizeof(t->news[0]));
}

/* Make this function's news the latest. */
static void add_news(struct talkers *t, uint64_t function, uint64_t now)
{
	unsigned i = find_news(t, function);

	if (i < t->count)
		remove_news(t, i);
	else if (t->count == TALK_NEWS)
		remove_news(t, 0);
	t->news[t->count++] = (struct talk_news){function, now};
}

void talkers_ran(struct talkers *t, uint64_t function, uint64_t site, enum talk_result result, uint64_t now)
{
	struct talk_function *f = &t->functions[hash_of(function) & (TALK_FUNCTIONS - 1)];
	struct talk_site *s = site_of(t, site, now);

	if (f->function != function || now - f->run_ns >= NEWS_QUIET_NS)
		add_news(t, function, now);
	*f = (struct talk_function){function, now};
	s->wait_ns = 0;
	add(result == TALK_REFUSED ? &s->refused : &s->tries);
	if (result == TALK_UNHELD)
		add(&s->tries);
	if (result == TALK_USELESS && s->tries < TALK_TRIES)
		s->tries = TALK_TRIES;
}

void talkers_talk(struct talkers *t, uint64_t function, uint64_t site, uint64_t now)
{
	struct talk_site *s = site_of(t, site, now);

	t->talking += !s->talks;
	s->talks = true;
	if (talkers_due(t, site, now))
		add_news(t, function, now);
}

void talkers_conflict(struct talkers *t, uint64_t function, uint64_t site, uint64_t now)
{
	struct talk_site *s = site_of(t, site, now);
	bool first = !s->conflicts;

	add(&s->conflicts);
	t->retired += s->conflicts == TALK_CONFLICTS;
	/* Other sites of the function are likely to access the same object. */
	if (first)
		add_news(t, function, now);
}

static bool had_its_tries(const struct talk_site *s)
{
	unsigned tries = s->tries + s->refused / REFUSED_A_TRY;

	return s->conflicts >= TALK_CONFLICTS || tries >= (s->talks ? TALKER_TRIES : TALK_TRIES);
}

bool talkers_due(struct talkers *t, uint64_t site, uint64_t now)
{
	const struct talk_site *s = site_of(t, site, now);

	return s->wait_ns <= now && !had_its_tries(s);
}

bool talkers_tried(struct talkers *t, uint64_t site, uint64_t now)
{
	struct talk_site *s = &t->sites[hash_of(site) & (TALK_SITES - 1)];

	return s->site == site && had_its_tries(site_of(t, site, now));
}

bool talkers_waits(struct talkers *t, uint64_t site, uint64_t now)
{
	return site_of(t, site, now)->wait_ns > now;
}

void talkers_armed(struct talkers *t, uint64_t site, uint64_t now)
{
	site_of(t, site, now)->wait_ns = now + TALK_WAIT_NS;
}

bool talkers_armed_at(struct talkers *t, uint64_t site, uint64_t armed_ns, uint64_t now)
{
	return site_of(t, site, now)->wait_ns == armed_ns + TALK_WAIT_NS;
}

void talkers_not_reached(struct talkers *t, uint64_t site, uint64_t now)
{
	struct talk_site *s = site_of(t, site, now);

	s->wait_ns = 0;
	add(&s->tries);
}

uint64_t talkers_news(struct talkers *t, unsigned n, uint64_t now)
{
	while (t->count && now - t->news[0].ns >= NEWS_AGE_NS)
		remove_news(t, 0);
	return n < t->count ? t->news[t->count - 1 - n].function : 0;
}

void talkers_done(struct talkers *t, uint64_t function)
{
	unsigned i = find_news(t, function);

	if (i < t->count)
		remove_news(t, i);
}
