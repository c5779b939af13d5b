/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that describe a device's access. Pure functions. */
#ifndef OUTRIDER_REPORT_DEVICE_H
#define OUTRIDER_REPORT_DEVICE_H

#include "hv/race/observation.h"

/* Bytes of the texts below, including the NUL. */
#define DEVICE_TEXT_MAX 192

/* Write the kind of device and of request, for example "virtio-blk (read request)". The text is the same in every run. */
void device_kind(const struct device_access *access, char out[DEVICE_TEXT_MAX]);

/*
 * Describe the request: "virtio-blk 0, queue 0: read of sector 8192, descriptor 3, segment 1". The descriptor is the head of
 * the request's chain, the segment is the accessed part of the chain.
 */
void device_request(const struct device_access *access, char out[DEVICE_TEXT_MAX]);

/* Name the VMM's thread that served the request: "thread disk0 queue0 (tid 4711)". */
void device_thread(const struct device_access *access, char out[DEVICE_TEXT_MAX]);

#endif
