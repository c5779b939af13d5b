/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts a device's access to JSON and back. */
#ifndef OUTRIDER_REPORT_JSON_DEVICE_JSON_H
#define OUTRIDER_REPORT_JSON_DEVICE_JSON_H

#include "hv/base/device.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* Returns the access as an object. `rw`: its enum insn_rw bits. */
json_t *device_json(struct json_builder *b, const struct device_access *access, uint8_t rw);

/* Read the member "device" of `side`. Sets *rw to the bits of its kind. Sets all to zero on error. */
void device_read(struct json_reader *r, const json_t *side, struct device_access *access, uint8_t *rw);

#endif
