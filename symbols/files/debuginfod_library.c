// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions of libdebuginfod that outrider calls. The first call of any of them loads the library (hv/base/library.h). */
#include <elfutils/debuginfod.h>

#include "hv/base/library.h"

static const struct library libdebuginfod = {"libdebuginfod.so.1", "libdebuginfod1"};

LIBRARY_CALL(libdebuginfod, debuginfod_client *, debuginfod_begin, (void))
LIBRARY_CALL(libdebuginfod, void, debuginfod_end, (debuginfod_client * c), c)
LIBRARY_CALL(libdebuginfod, void, debuginfod_set_user_data, (debuginfod_client * c, void *data), c, data)
LIBRARY_CALL(libdebuginfod, void *, debuginfod_get_user_data, (debuginfod_client * c), c)
LIBRARY_CALL(libdebuginfod, void, debuginfod_set_progressfn, (debuginfod_client * c, debuginfod_progressfn_t progress), c,
	     progress)
LIBRARY_CALL(libdebuginfod, int, debuginfod_find_debuginfo,
	     (debuginfod_client * c, const unsigned char *id, int len, char **path), c, id, len, path)
