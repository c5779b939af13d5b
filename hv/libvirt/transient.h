/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A domain of libvirt that is there only as long as somebody needs it. libvirt destroys it when the connection ends that has
 * started it, so it does not outlive this process, whatever kills that. One thread.
 */
#ifndef OUTRIDER_LIBVIRT_TRANSIENT_H
#define OUTRIDER_LIBVIRT_TRANSIENT_H

#include "hv/base/err.h"

struct domain_transient;

/* Start the domain that `xml` describes. A `uri` of NULL is libvirt's default. Returns NULL with EXIT_INPUT on failure. */
struct domain_transient *domain_transient_start(const char *uri, const char *xml, struct err *err);

/* Destroy the domain. NULL is allowed. */
void domain_transient_end(struct domain_transient *t);

#endif
