package peer

// The bytes that messages carry, those of ../../../benchmarks/scenarios/pattern.ts, and the check of every byte that arrives.

import (
	"bytes"
	"crypto/sha3"
)

const (
	periodBytes         = 100_900
	longestMessageBytes = 1024 * 1024
)

var repeated = func() []byte {
	hash := sha3.NewSHAKE256()
	hash.Write([]byte("benchmark"))
	period := make([]byte, periodBytes)
	hash.Read(period)

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
