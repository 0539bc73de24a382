package main

// Messages of one size on one or many streams: ../../scenarios/messages.ts.

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/libp2p/go-yamux/v5"
)

const (
	indexBytes = 4
	replyBytes = 8
	readBytes  = 64 * 1024
)

// lane is a stream and how far it has come.
type lane struct {
	stream         *yamux.Stream
	position       int
	confirmedBytes int
}

type messageSender struct {
	lanes                   []lane
	messageBytes, unitBytes int
}

func openMessages(connection *connection, streams, messageBytes, unitBytes int) (sender, error) {
	s := &messageSender{make([]lane, streams), messageBytes, unitBytes}

	err := forEach(streams, func(index int) error {
		stream, err := connection.open()
		if err != nil {
			return err
		}

		s.lanes[index] = lane{stream: stream, position: startOfStream(index)}
		if _, err := stream.Write(binary.BigEndian.AppendUint32(nil, uint32(index))); err != nil {
			return err
		}

		return s.lanes[index].confirm(0)
	})

	return s, err
}

// work has a goroutine for each stream, as is usual in Go: one without credit stops no other, and a single writer taking
// turns was a fifth slower at 1,000 x 100 B (a tenth faster at 1,000 x 4 KiB, while no stream lacked credit). Two units are
// under way on each stream.
func (s *messageSender) work(units int) error {
	return forEach(len(s.lanes), func(index int) error {
		lane := &s.lanes[index]

		for unit := range units {
			if err := lane.write(s.messageBytes, s.unitBytes); err != nil {
				return err
			}
			if unit > 0 {
				if err := lane.confirm(s.unitBytes); err != nil {
					return err
				}
			}
		}

		return lane.confirm(s.unitBytes)
	})
}

func (s *messageSender) takeLatencies() []float64 {
	return []float64{}
}

func (s *messageSender) close() error {
	return forEach(len(s.lanes), func(index int) error { return closeFully(s.lanes[index].stream) })
}

func (l *lane) write(messageBytes, unitBytes int) error {
	for range unitBytes / messageBytes {
		if _, err := l.stream.Write(bytesAt(l.position, messageBytes)); err != nil {
			return err
		}

		l.position += messageBytes
	}

	return nil
}

// confirm reads the receiver's next reply, which is the sum of all bytes.
func (l *lane) confirm(moreBytes int) error {
	var reply [replyBytes]byte
	if _, err := io.ReadFull(l.stream, reply[:]); err != nil {
		return err
	}

	l.confirmedBytes += moreBytes
	verifiedBytes := math.Float64frombits(binary.BigEndian.Uint64(reply[:]))

	if verifiedBytes < 0 {
		return fmt.Errorf("the receiver got wrong bytes after %.0f right ones", -1-verifiedBytes)
	}
	if verifiedBytes != float64(l.confirmedBytes) {
		return fmt.Errorf("the receiver got %.0f bytes instead of %d", verifiedBytes, l.confirmedBytes)
	}

	return nil
}

func sendReply(stream *yamux.Stream, verifiedBytes float64) error {
	_, err := stream.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(verifiedBytes)))
	return err
}

// messageVerifier replies after each unit with the number of right bytes so far, negative when the next one is wrong.
func messageVerifier(unitBytes int) receiver {
	return func(stream *yamux.Stream) error {
		var index [indexBytes]byte
		if _, err := io.ReadFull(stream, index[:]); err != nil {
			return err
		}
		if err := sendReply(stream, 0); err != nil {
			return err
		}

		start := startOfStream(int(binary.BigEndian.Uint32(index[:])))
		if err := verify(stream, start, unitBytes); err != nil {
			return err
		}

		return stream.CloseWrite()
	}
}

func verify(stream *yamux.Stream, start, unitBytes int) error {
	buffer := make([]byte, readBytes)
	verifiedBytes, replyAtBytes := 0, unitBytes

	for {
		byteLength, err := stream.Read(buffer)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !isAt(start+verifiedBytes, buffer[:byteLength]) {
			if err := sendReply(stream, float64(-1-verifiedBytes)); err != nil {
				return err
			}
			// the sender learns of it when it has written its unit
			_, err := io.Copy(io.Discard, stream)
			return err
		}

		verifiedBytes += byteLength

		for ; verifiedBytes >= replyAtBytes; replyAtBytes += unitBytes {
			if err := sendReply(stream, float64(replyAtBytes)); err != nil {
				return err
			}
		}
	}
}
