// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/base/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

#include "hv/base/err.h"

void *library_function(const struct library *library, const char *name)
{
	/* A second dlopen() of a library only returns its handle. */
	void *handle = dlopen(library->file, RTLD_NOW | RTLD_LOCAL);
	void *function = handle ? dlsym(handle, name) : NULL;

	if (!function) {
		fprintf(stderr, "outrider: %s; install the package %s\n", dlerror(), library->package);
		_exit(EXIT_INPUT);
	}
	return function;
}
