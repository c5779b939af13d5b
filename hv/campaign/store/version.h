/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Versions of kernels, to decide whether a kernel has a fix that came with some version. Pure functions. Any thread.
 *
 * A version is that of `uname -r`, of a tag, or of a package: "6.1.115", "v6.13-rc2", "6.1.0-56-cloud-amd64", "6.12.95+deb12",
 * "5.14.0-427.13.1.el9_4.x86_64". What counts are its numbers: major, minor, patch, then the number of the release candidate (a
 * candidate is older than its release), then up to four numbers after a dash (a distribution's own count, or the commits since
 * a tag).
 */
#ifndef OUTRIDER_CAMPAIGN_STORE_VERSION_H
#define OUTRIDER_CAMPAIGN_STORE_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#define VERSION_TEXT_MAX 128 /* bytes of a version, with the NUL */

enum version_part {
	VERSION_MAJOR,
	VERSION_MINOR,
	VERSION_PATCH,
	VERSION_CANDIDATE,
	VERSION_MORE,
	VERSION_PARTS = VERSION_MORE + 4
};

struct version {
	long part[VERSION_PARTS];
};

/* Read a version. Returns false if the text does not begin with a major and a minor number. */
bool version_read(const char *text, struct version *out);

/* Returns a number below, equal to or above 0 if `a` is older than, the same as or newer than `b`. */
int version_compare(const struct version *a, const struct version *b);

/*
 * Copy the release of a version line, "Linux version 6.1.0-56-cloud-amd64 (...) ...", to `out`. Returns false, with an empty
 * `out`, if the line has another form.
 */
bool version_release(const char *banner, char out[VERSION_TEXT_MAX]);

enum version_has { VERSION_HAS_NOT, VERSION_HAS, VERSION_UNKNOWN };

/*
 * Returns whether the kernel with the version line `banner` has a fix. `fixed` lists the versions that brought the fix,
 * separated by blanks or commas: one version for each series of kernels (major and minor number) that got the fix.
 *
 * If `fixed` has a version of the kernel's own series, the kernel has the fix from this version on. Otherwise the kernel has
 * the fix if its series is newer than all series in `fixed`, because a new series begins with all fixes that mainline has.
 *
 * A version line of Debian has two versions. The release counts the kernel's ABI ("6.1.0-56"), and the version of the package
 * is at the end of the line ("Debian 6.1.192-2"). A version X.Y.0-N in `fixed` is compared with the release. Any other version
 * is compared with the package's version, or with the release if the version line names no package. Returns VERSION_UNKNOWN if
 * the version line has no version.
 */
enum version_has version_has_mend(const char *banner, const char *fixed);

#endif
