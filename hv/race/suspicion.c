// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/race/suspicion.h"

#include <stdlib.h>

void suspicions_fini(struct suspicions *s)
{
	free(s->list);
	*s = (struct suspicions){0};
}
