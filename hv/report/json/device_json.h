/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A device's access as a JSON object, and read back. */
#ifndef OUTRIDER_REPORT_JSON_DEVICE_JSON_H
#define OUTRIDER_REPORT_JSON_DEVICE_JSON_H

#include "hv/race/device.h"
#include "hv/report/json/read.h"
#include "hv/report/json/write.h"

/* The access as an object. `rw` has the enum insn_rw bits that its kind is made of. */
json_t *device_json(struct json_builder *b, const struct device_access *access, uint8_t rw);

/* Read member "device" of `side` back. *rw becomes the bits of its kind. All zero after an error. */
void device_read(struct json_reader *r, const json_t *side, struct device_access *access, uint8_t *rw);

#endif
