// SPDX-License-Identifier: GPL-2.0-or-later
#include "hv/report/text/style.h"

const char *text_colour(const struct text_style *style, enum text_colour colour)
{
	static const char *const sequences[] = {
		[TEXT_PLAIN] = "\x1b[0m", [TEXT_TITLE] = "\x1b[1;31m", [TEXT_STRONG] = "\x1b[1m", [TEXT_FAINT] = "\x1b[2m"};

	return style->colour ? sequences[colour] : "";
}
