/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012), a keyed hash. Without the key, an attacker cannot choose inputs that
 * collide, so hash tables of names from a guest or a file stay fast.
 */
#ifndef OUTRIDER_BASE_SIPHASH_H
#define OUTRIDER_BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t k[2];
};

/*
 * Make a random key. If the host has no entropy yet, derive the key from the time: lookups stay correct, but an attacker who
 * guesses the time can choose inputs that collide.
 */
void siphash_key_make(struct siphash_key *key);

static inline uint64_t siphash_rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static inline void siphash_rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[1] = siphash_rotate(v[1], 13) ^ v[0];
		v[0] = siphash_rotate(v[0], 32);
		v[2] += v[3];
		v[3] = siphash_rotate(v[3], 16) ^ v[2];
		v[0] += v[3];
		v[3] = siphash_rotate(v[3], 21) ^ v[0];
		v[2] += v[1];
		v[1] = siphash_rotate(v[1], 17) ^ v[2];
		v[2] = siphash_rotate(v[2], 32);
	}
}

static inline void siphash_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	siphash_rounds(v, 2);
	v[0] ^= word;
}

/* Returns the hash of the `len` bytes at `data`. */
static inline uint64_t siphash(const struct siphash_key *key, const void *data, size_t len)
{
	uint64_t v[4] = {key->k[0] ^ UINT64_C(0x736f6d6570736575), key->k[1] ^ UINT64_C(0x646f72616e646f6d),
			 key->k[0] ^ UINT64_C(0x6c7967656e657261), key->k[1] ^ UINT64_C(0x7465646279746573)};
	const uint8_t *bytes = data;
	uint64_t word = 0;

	/* Process the data as little-endian words of 8 bytes. The top byte of the last word is the low byte of the length. */
	for (size_t i = 0; i < len; i++) {
		word |= (uint64_t)bytes[i] << 8 * (i % 8);
		if (i % 8 == 7) {
			siphash_word(v, word);
			word = 0;
		}
	}
	siphash_word(v, word | (uint64_t)len << 56);
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif
