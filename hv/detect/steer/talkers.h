/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which sites are worth a sample point now. A function has news when a CPU is seen to run it for the first time, or
 * again after NEWS_QUIET_NS, when a site in it talks (hv/detect/core/touches.h), and when the first conflict of a site in it is
 * seen. The functions with the latest news come first. In such a function, each site is tried a few times, a site that talks is
 * tried more often, and a site whose conflicts were seen several times is not tried any more. So the same race is not found
 * again and again.
 *
 * Tries are forgotten with time, and sites that are not due are still sampled at random (rate.h).
 *
 * Belongs to the sampler's thread, and needs no lock. All times are CLOCK_MONOTONIC, in ns.
 */
#ifndef OUTRIDER_DETECT_STEER_TALKERS_H
#define OUTRIDER_DETECT_STEER_TALKERS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Number of sites and functions that are remembered, powers of two. A new site or function replaces an older one with the same
 * hash.
 */
#define TALK_SITES 8192u
#define TALK_FUNCTIONS 2048u
/* Number of functions with news. When there are more, the function with the oldest news is dropped. */
#define TALK_NEWS 256u
/* A function has news when a CPU runs it after no CPU was seen to run it for 30 s: the guest's load has changed. */
#define NEWS_QUIET_NS UINT64_C(30000000000)
/* News is dropped after 10 s, because the guest may do something else by then. */
#define NEWS_AGE_NS UINT64_C(10000000000)
/* How often a site is tried after news of its function. With more tries, fewer functions get their turn. */
#define TALK_TRIES 2u
/* How often a site is tried if it talks. A window meets the other side only by chance, so this is several times TALK_TRIES. */
#define TALKER_TRIES 12u
/* After this many conflicts at a site, the site is not tried any more: its races are known. */
#define TALK_CONFLICTS 3u
/* The counts of a site are halved every 30 s, so that the site is tried again later. */
#define TALK_HALF_NS UINT64_C(30000000000)
/* A site whose sample point no CPU reaches within 200 ms counts as tried. Hot code is reached within milliseconds. */
#define TALK_WAIT_NS 200000000u

/* The record of a site. */
struct talk_site {
	/* GVA. 0: the entry is free. */
	uint64_t site;
	/* When the counts were last halved, and until when the site is not due, since a sample point waits there. */
	uint64_t halved_ns, wait_ns;
	/*
	 * `tries`: hits that say something about the site (enum talk_result), and sample points that no CPU reached.
	 * `refused`: hits of TALK_REFUSED. `conflicts`: conflicts seen at the site.
	 */
	uint8_t tries, refused, conflicts;
	bool talks;
};

/* When a CPU was last seen to run the function at this GVA. 0: the entry is free. */
struct talk_function {
	uint64_t function, run_ns;
};

struct talk_news {
	uint64_t function, ns;
};

struct talkers {
	struct talk_site sites[TALK_SITES];
	struct talk_function functions[TALK_FUNCTIONS];
	/* The functions with news, `count` of them, the latest news last. */
	struct talk_news news[TALK_NEWS];
	unsigned count;
	/*
	 * Number of sites that were found to talk, and number of sites that are not tried any more because TALK_CONFLICTS
	 * conflicts were seen there.
	 */
	uint64_t talking, retired;
};

enum talk_result {
	TALK_TRIED,   /* a window was opened */
	TALK_UNHELD,  /* no window: the CPU cannot be held at this hit, and seldom at later hits here; counts as two tries */
	TALK_USELESS, /* no window: the access is to the stack or to no RAM, and later accesses mostly are, too; try no more */
	TALK_REFUSED, /* no window, for a reason that has nothing to do with the site */
};

/* A CPU was seen to run `function`, at its `site`, with this result. */
void talkers_ran(struct talkers *t, uint64_t function, uint64_t site, enum talk_result result, uint64_t now);

/* The site in `function` talks: it touched memory that another CPU touched, and one of the two wrote. */
void talkers_talk(struct talkers *t, uint64_t function, uint64_t site, uint64_t now);

/* A conflict of the site in `function` was seen. */
void talkers_conflict(struct talkers *t, uint64_t function, uint64_t site, uint64_t now);

/* Whether the site is due for one more try. */
bool talkers_due(struct talkers *t, uint64_t site, uint64_t now);

/*
 * Whether the site had its tries lately, or its races are known. Sites that are chosen at random are passed over for this
 * reason, but not always (rate.c).
 */
bool talkers_tried(struct talkers *t, uint64_t site, uint64_t now);

/* Whether a sample point waits at the site for a CPU (talkers_armed()). */
bool talkers_waits(struct talkers *t, uint64_t site, uint64_t now);

/* A sample point was armed at the site: the site is not due again until a CPU runs it, or TALK_WAIT_NS have passed. */
void talkers_armed(struct talkers *t, uint64_t site, uint64_t now);

/* Whether the sample point that was armed at `armed_ns` is the latest one at the site, and no CPU was seen to hit it. */
bool talkers_armed_at(struct talkers *t, uint64_t site, uint64_t armed_ns, uint64_t now);

/* No CPU came to the sample point at the site. */
void talkers_not_reached(struct talkers *t, uint64_t site, uint64_t now);

/*
 * Returns the function with the `n`th latest news, counted from 0, or 0 if there is none. talkers_done() for a function moves
 * the functions with older news one place up.
 */
uint64_t talkers_news(struct talkers *t, unsigned n, uint64_t now);

/* No site of the function is due. Drops its news. */
void talkers_done(struct talkers *t, uint64_t function);

#endif
