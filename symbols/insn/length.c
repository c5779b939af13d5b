/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the length of an instruction that Capstone does not know, from its opcode map and its ModRM byte. */
#include "symbols/insn/insn.h"
#include "symbols/insn/length.h"

/* Opcode maps, numbered as in VEX and EVEX prefixes. */
enum map { MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3, MAP_5 = 5, MAP_6 = 6 };

size_t insn_modrm_length(const uint8_t *code, size_t len, size_t pos, bool *has_mem)
{
	size_t n = 1;
	uint8_t mod, rm;

	if (pos >= len)
		return 0;
	mod = code[pos] >> 6;
	rm = code[pos] & 7;
	*has_mem = mod != 3;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (pos + 1 >= len)
			return 0;
		n = 2;
		rm = code[pos + 1] & 7;
		/* mod 0 with SIB base 5: no base register, a displacement of 32 bits follows. */
		if (mod == 0 && rm == 5)
			n += 4;
	} else if (mod == 0 && rm == 5) {
		n += 4;
	}
	return n + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static bool has_imm8(unsigned map, uint8_t opcode)
{
	if (map == MAP_0F3A)
		return true;
	return map == MAP_0F && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6));
}

/* Find the opcode map of the VEX or EVEX prefix at *pos, and move *pos to the opcode byte after the prefix. */
static bool vector_map(const uint8_t *code, size_t len, size_t *pos, unsigned *map)
{
	size_t prefix = code[*pos] == 0xc5 ? 2 : code[*pos] == 0xc4 ? 3 : 4;

	if (*pos + prefix >= len)
		return false;
	*map = prefix == 2 ? MAP_0F : code[*pos + 1] & (prefix == 3 ? 0x1f : 7);
	*pos += prefix;
	return (*map >= MAP_0F && *map <= MAP_0F3A) || *map == MAP_5 || *map == MAP_6;
}

/*
 * Returns true for an opcode after 0x0f under which vendors still define new instructions. Every instruction with such an
 * opcode has ModRM and no immediate.
 */
static bool growing_group(uint8_t opcode)
{
	switch (opcode) {
	case 0x01: /* system: serialize, rdpkru, pvalidate, monitorx... */
	case 0x0d: /* prefetch */
	case 0xae: /* fences, umonitor, tpause, incssp... */
	case 0xb9: /* ud1 */
	case 0xc7: /* rdpid, rdrand, xsavec... */
	case 0xff: /* ud0 */
		return true;
	default:
		return opcode >= 0x18 && opcode <= 0x1f; /* hints: cldemote, endbr, rdssp */
	}
}

/* Find the opcode map of an opcode that begins with 0x0f at *pos, and move *pos to the last byte of the opcode. */
static bool legacy_map(const uint8_t *code, size_t len, size_t *pos, unsigned *map)
{
	if (*pos + 2 >= len || code[*pos] != 0x0f)
		return false;
	*map = code[*pos + 1] == 0x38 ? MAP_0F38 : code[*pos + 1] == 0x3a ? MAP_0F3A : MAP_0F;
	*pos += *map == MAP_0F ? 1 : 2;
	return *map != MAP_0F || growing_group(code[*pos]);
}

unsigned insn_regular_length(const uint8_t *code, size_t len, size_t opcode, bool *has_mem)
{
	size_t pos = opcode, n;
	unsigned map = 0;
	bool known;

	if (pos >= len)
		return 0;
	if (code[pos] == 0xc4 || code[pos] == 0xc5 || code[pos] == 0x62)
		known = vector_map(code, len, &pos, &map);
	else
		known = legacy_map(code, len, &pos, &map);
	if (!known)
		return 0;
	n = insn_modrm_length(code, len, pos + 1, has_mem);
	if (!n)
		return 0;
	n += pos + 1 + has_imm8(map, code[pos]);
	return n <= len && n <= INSN_MAX_LEN ? (unsigned)n : 0;
}
