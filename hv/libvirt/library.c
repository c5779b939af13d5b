// SPDX-License-Identifier: GPL-2.0-or-later
/* The functions of libvirt that outrider calls. libvirt is loaded at the first call of such a function (hv/base/library.h). */
#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "hv/base/library.h"

static const struct library libvirt = {"libvirt.so.0", "libvirt0"};
static const struct library qemu = {"libvirt-qemu.so.0", "libvirt0"};

LIBRARY_CALL(libvirt, int, virGetVersion, (unsigned long *library, const char *type, unsigned long *of_type), library, type,
	     of_type)
LIBRARY_CALL(libvirt, void, virSetErrorFunc, (void *ctx, virErrorFunc handler), ctx, handler)
LIBRARY_CALL(libvirt, virErrorPtr, virGetLastError, (void))
LIBRARY_CALL(libvirt, const char *, virGetLastErrorMessage, (void))
LIBRARY_CALL(libvirt, int, virEventRegisterDefaultImpl, (void))
LIBRARY_CALL(libvirt, int, virEventRunDefaultImpl, (void))

LIBRARY_CALL(libvirt, virConnectPtr, virConnectOpen, (const char *uri), uri)
LIBRARY_CALL(libvirt, virConnectPtr, virConnectOpenReadOnly, (const char *uri), uri)
LIBRARY_CALL(libvirt, int, virConnectClose, (virConnectPtr c), c)
LIBRARY_CALL(libvirt, int, virConnectIsAlive, (virConnectPtr c), c)
LIBRARY_CALL(libvirt, int, virConnectSetKeepAlive, (virConnectPtr c, int interval, unsigned int count), c, interval, count)
LIBRARY_CALL(libvirt, int, virConnectListAllDomains, (virConnectPtr c, virDomainPtr **domains, unsigned int flags), c, domains,
	     flags)
LIBRARY_CALL(libvirt, int, virConnectDomainEventRegisterAny,
	     (virConnectPtr c, virDomainPtr domain, int event, virConnectDomainEventGenericCallback callback, void *ctx,
	      virFreeCallback release),
	     c, domain, event, callback, ctx, release)
LIBRARY_CALL(libvirt, int, virConnectDomainEventDeregisterAny, (virConnectPtr c, int callback), c, callback)

LIBRARY_CALL(libvirt, virDomainPtr, virDomainCreateXML, (virConnectPtr c, const char *xml, unsigned int flags), c, xml, flags)
LIBRARY_CALL(libvirt, virDomainPtr, virDomainLookupByID, (virConnectPtr c, int id), c, id)
LIBRARY_CALL(libvirt, virDomainPtr, virDomainLookupByName, (virConnectPtr c, const char *name), c, name)
LIBRARY_CALL(libvirt, virDomainPtr, virDomainLookupByUUIDString, (virConnectPtr c, const char *uuid), c, uuid)
LIBRARY_CALL(libvirt, int, virDomainDestroy, (virDomainPtr d), d)
LIBRARY_CALL(libvirt, int, virDomainFree, (virDomainPtr d), d)
LIBRARY_CALL(libvirt, int, virDomainGetJobInfo, (virDomainPtr d, virDomainJobInfoPtr info), d, info)
LIBRARY_CALL(libvirt, const char *, virDomainGetName, (virDomainPtr d), d)
LIBRARY_CALL(libvirt, int, virDomainGetState, (virDomainPtr d, int *state, int *reason, unsigned int flags), d, state, reason,
	     flags)
LIBRARY_CALL(libvirt, char *, virDomainGetXMLDesc, (virDomainPtr d, unsigned int flags), d, flags)
LIBRARY_CALL(libvirt, int, virDomainIsActive, (virDomainPtr d), d)

LIBRARY_CALL(qemu, int, virDomainQemuMonitorCommand, (virDomainPtr d, const char *command, char **result, unsigned int flags),
	     d, command, result, flags)
LIBRARY_CALL(qemu, int, virDomainQemuMonitorCommandWithFiles,
	     (virDomainPtr d, const char *command, unsigned int n_in, int *in, unsigned int *n_out, int **out, char **result,
	      unsigned int flags),
	     d, command, n_in, in, n_out, out, result, flags)
