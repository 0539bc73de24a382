package peer

// The bytes that messages carry, those of ../../../testing/verified/pattern.ts, and the check of every byte that arrives.

import (
	"bytes"
	"encoding/binary"
)

const (
	periodBytes         = 100_900
	longestMessageBytes = 1024 * 1024
)

var repeated = func() []byte {
	// xorshift32
	state := uint32(1)
	period := make([]byte, periodBytes)
	for word := 0; word < periodBytes; word += 4 {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		binary.LittleEndian.PutUint32(period[word:], state)
	}

	return bytes.Repeat(period, 2+longestMessageBytes/periodBytes)[:periodBytes+longestMessageBytes]
}()

// startOfStream tells mixed up streams apart.
func startOfStream(index int) int {
	return index * 7900
}

// bytesAt returns a view of the bytes that belong at a position.
func bytesAt(position, byteLength int) []byte {
	start := position % periodBytes
	return repeated[start : start+byteLength]
}

// isAt tells whether these are the bytes that belong at the position. It takes no more than one message at once.
func isAt(position int, received []byte) bool {
	return bytes.Equal(received, bytesAt(position, len(received)))
}
