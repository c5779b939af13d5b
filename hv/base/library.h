/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared libraries that are loaded at the first call into them. libvirt, libpq and libdebuginfod bring some fifty libraries of
 * TLS, Kerberos, LDAP and HTTP with them. When outrider loaded all of these at its start, this took 12 of the 16 ms of CPU time
 * that the start needed, and few commands call these libraries.
 *
 * A file of LIBRARY_CALLs defines the functions of a library that outrider calls. Each definition has the prototype of the
 * library's header, so callers and the compiler see no difference.
 */
#ifndef OUTRIDER_BASE_LIBRARY_H
#define OUTRIDER_BASE_LIBRARY_H

#include <stdatomic.h>

struct library {
	const char *file;    /* soname, which dlopen() searches as the loader of a program does */
	const char *package; /* the Debian package to install if there is no such file */
};

/*
 * Return the address of the library's function `name`. Load the library first if it is not loaded yet; it stays for the life of
 * the process. If the library or the function is missing, print one line and end the process with EXIT_INPUT. A complete
 * installation lacks neither, because the package of outrider depends on the library's package. Safe on all threads.
 */
void *library_function(const struct library *library, const char *name);

/*
 * Define the library's function `name`, which returns `type`. `params`: the list of its parameters, in parentheses. The
 * arguments of the macro after `params` are the names of these parameters.
 */
#define LIBRARY_CALL(library, type, name, params, ...)                                \
	type name params                                                              \
	{                                                                             \
		static _Atomic(__typeof__(&name)) function;                           \
                                                                                      \
		if (!atomic_load(&function))                                          \
			atomic_store(&function, library_function(&(library), #name)); \
		return atomic_load(&function)(__VA_ARGS__);                           \
	}

#endif
