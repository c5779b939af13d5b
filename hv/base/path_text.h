/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shortens the paths of source files, so that they fit into a message. */
#ifndef OUTRIDER_BASE_PATH_TEXT_H
#define OUTRIDER_BASE_PATH_TEXT_H

#define PATH_TEXT_MAX 161 /* bytes, including the NUL; kernel paths have less than 100 */

/*
 * Copy the path. Leave out whole folders in its middle if it is longer than PATH_TEXT_MAX - 1 bytes, and write "..." for them:
 * "/home/user/.../drivers/net/nic.c". If the file's name alone is too long, its beginning is left out, too.
 */
void path_text(const char *path, char out[PATH_TEXT_MAX]);

#endif
