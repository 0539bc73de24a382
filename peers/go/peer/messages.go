package peer

// Messages of one size on one or many streams: ../../../benchmarks/scenarios/messages.ts.

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync"
)

const (
	indexBytes = 4
	replyBytes = 8
	readBytes  = 64 * 1024
)

// lane is a stream and how far it has come.
type lane struct {
	stream         Stream
	position       int
	confirmedBytes int
}

type messageSender struct {
	lanes                   []lane
	messageBytes, unitBytes int
}

func openMessages(connection Connection, streams, messageBytes, unitBytes int) (sender, error) {
	s := &messageSender{make([]lane, streams), messageBytes, unitBytes}

	err := forEach(streams, func(index int) error {
		stream, err := openIndexed(connection, index)
		if err != nil {
			return err
		}

		s.lanes[index] = lane{stream: stream, position: startOfStream(index)}

		return s.lanes[index].confirm(0)
	})

	return s, err
}

// work has a goroutine for each stream, as is usual in Go: one without credit stops no other, and a single writer taking
// turns was a fifth slower at 1,000 x 100 B (a tenth faster at 1,000 x 4 KiB, while no stream lacked credit). Two units are
// under way: nobody begins one before the first stream has read that the one before the last has arrived on all.
func (s *messageSender) work(units int) ([]float64, error) {
	confirmed := make([]chan struct{}, units)
	for unit := range confirmed {
		confirmed[unit] = make(chan struct{})
	}
	failed := make(chan struct{})

	return []float64{}, forEach(len(s.lanes), func(index int) error {
		lane := &s.lanes[index]

		for unit := range units {
			if err := lane.write(s.messageBytes, s.unitBytes); err != nil {
				return err
			}
			if unit == 0 {
				continue
			}
			if index == 0 {
				if err := lane.confirm(s.unitBytes); err != nil {
					close(failed)
					return err
				}
				close(confirmed[unit-1])
				continue
			}

			select {
			case <-confirmed[unit-1]:
			case <-failed:
				return nil
			}
		}

		if index > 0 {
			return nil
		}

		return lane.confirm(s.unitBytes)
	})
}

func (s *messageSender) close() error {
	return forEach(len(s.lanes), func(index int) error { return closeFully(s.lanes[index].stream, nil) })
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

func sendReply(stream Stream, verifiedBytes float64) error {
	_, err := stream.Write(binary.BigEndian.AppendUint64(nil, math.Float64bits(verifiedBytes)))
	return err
}

// arrivals counts on how many streams each unit has arrived, and tells by the first stream when it is all of them.
type arrivals struct {
	mutex   sync.Mutex
	streams int
	first   Stream
	arrived map[int]int
}

// begin replies that the stream is there.
func (a *arrivals) begin(stream Stream, index int) error {
	if index == 0 {
		a.mutex.Lock()
		a.first = stream
		a.mutex.Unlock()
	}

	return sendReply(stream, 0)
}

func (a *arrivals) count(verifiedBytes int) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.arrived[verifiedBytes]++

	if a.arrived[verifiedBytes] < a.streams {
		return nil
	}

	delete(a.arrived, verifiedBytes)

	return sendReply(a.first, float64(verifiedBytes))
}

func (a *arrivals) tellWrong(verifiedBytes int) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()

	return sendReply(a.first, float64(-1-verifiedBytes))
}

// messageVerifier tells on the first stream, after each unit on all, the number of right bytes on each so far, negative when
// the next one is wrong.
func messageVerifier(streams, unitBytes int) receiver {
	arrivals := &arrivals{streams: streams, arrived: map[int]int{}}

	return func(stream Stream) error {
		var indexBuffer [indexBytes]byte
		if _, err := io.ReadFull(stream, indexBuffer[:]); err != nil {
			return err
		}

		index := int(binary.BigEndian.Uint32(indexBuffer[:]))
		if err := arrivals.begin(stream, index); err != nil {
			return err
		}
		if err := verify(stream, startOfStream(index), unitBytes, arrivals); err != nil {
			return err
		}

		return stream.CloseWrite()
	}
}

func verify(stream Stream, start, unitBytes int, arrivals *arrivals) error {
	buffer := make([]byte, readBytes)
	verifiedBytes, unitEndBytes := 0, unitBytes

	for {
		byteLength, err := stream.Read(buffer)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !isAt(start+verifiedBytes, buffer[:byteLength]) {
			if err := arrivals.tellWrong(verifiedBytes); err != nil {
				return err
			}
			// the sender learns of it when it has written its unit
			_, err := io.Copy(io.Discard, stream)
			return err
		}

		verifiedBytes += byteLength

		for ; verifiedBytes >= unitEndBytes; unitEndBytes += unitBytes {
			if err := arrivals.count(unitEndBytes); err != nil {
				return err
			}
		}
	}
}
