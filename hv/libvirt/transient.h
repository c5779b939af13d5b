/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libvirt domain that does not outlive this process, even if the process is killed: libvirt destroys the domain when the
 * connection that started it ends. Not thread-safe.
 */
#ifndef OUTRIDER_LIBVIRT_TRANSIENT_H
#define OUTRIDER_LIBVIRT_TRANSIENT_H

#include "hv/base/err.h"

struct domain_transient;

/* Start the domain that `xml` describes. `uri` NULL: libvirt's default. Returns NULL with EXIT_INPUT in `err` on failure. */
struct domain_transient *domain_transient_start(const char *uri, const char *xml, struct err *err);

/* Destroy the domain. `t` may be NULL. */
void domain_transient_end(struct domain_transient *t);

#endif
