/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts a device's access to JSON and back. */
#ifndef OUTRIDER_REPORT_JSON_DEVICE_JSON_H
#define OUTRIDER_REPORT_JSON_DEVICE_JSON_H

#include "hv/base/device.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* Returns the access as a JSON object. `rw` is the kind of the access, enum insn_rw bits. */
json_t *device_json(struct json_builder *b, const struct device_access *access, uint8_t rw);

/*
 * Read the member "device" of `side` into *access, and the kind of the access into *rw (enum insn_rw bits). On error, both
 * become zero.
 */
void device_read(struct json_reader *r, const json_t *side, struct device_access *access, uint8_t *rw);

#endif
