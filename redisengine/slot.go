package redisengine

import "strings"

// hashSlot is the slot of a Redis cluster in which a key lies: CRC-16 (XMODEM: polynomial 0x1021, from 0) of what stands in the first pair of braces, or
// of the whole key if there is none or nothing in it, modulo 16384.
func hashSlot(key string) uint16 {
	if _, tag, open := strings.Cut(key, "{"); open {
		if tag, _, closed := strings.Cut(tag, "}"); closed && tag != "" {
			key = tag
		}
	}
	var crc uint16
	for i := range len(key) {
		crc ^= uint16(key[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return crc % 16384
}
