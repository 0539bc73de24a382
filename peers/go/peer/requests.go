package peer

// Requests one after the other, on one stream or a new one for each: ../../../benchmarks/scenarios/requests.ts.

import (
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// requestSender keeps no core awake, as the scenario in JavaScript does: Go's own idle threads spin for a while, and
// beside a goroutine that always yields its sockets are seen late, p99 then is 20 ms instead of 0.1.
type requestSender struct {
	connection              Connection
	messageBytes, unitBytes int
	// lasting is the stream of all requests, if they share one
	lasting  Stream
	position int
	reply    []byte
}

func openRequests(connection Connection, onOneStream bool, messageBytes, unitBytes int) (sender, error) {
	s := &requestSender{connection: connection, messageBytes: messageBytes, unitBytes: unitBytes, reply: make([]byte, messageBytes)}

	if onOneStream {
		stream, err := connection.Open()
		if err != nil {
			return nil, err
		}
		s.lasting = stream
	}

	return s, nil
}

func (s *requestSender) work(units int) (latenciesMs []float64, err error) {
	for range units * s.unitBytes / s.messageBytes {
		latencyMs, err := s.request()
		if err != nil {
			return nil, err
		}
		latenciesMs = append(latenciesMs, latencyMs)
	}

	return latenciesMs, nil
}

func (s *requestSender) request() (latencyMs float64, err error) {
	start := time.Now()
	stream := s.lasting

	if stream == nil {
		if stream, err = s.connection.Open(); err != nil {
			return 0, err
		}
	}
	if _, err := stream.Write(bytesAt(s.position, s.messageBytes)); err != nil {
		return 0, err
	}
	if _, err := io.ReadFull(stream, s.reply); err != nil {
		return 0, err
	}

	latencyMs = msSince(start)

	if !isAt(s.position, s.reply) {
		return 0, errors.New("the reply differs from the request")
	}

	s.position += s.messageBytes

	if s.lasting == nil {
		err = stream.Close()
	}

	return latencyMs, err
}

func (s *requestSender) close() error {
	if s.lasting == nil {
		return nil
	}

	return closeFully(s.lasting, nil)
}

// requestAnswerer sends back what it reads, message by message.
func requestAnswerer(messageBytes int) receiver {
	var position atomic.Int64

	return func(stream Stream) error {
		request := make([]byte, messageBytes)

		for {
			_, err := io.ReadFull(stream, request)
			if err == io.EOF {
				return stream.CloseWrite()
			}
			if err != nil {
				return err
			}
			if !isAt(int(position.Add(int64(messageBytes)))-messageBytes, request) {
				return errors.New("the request has wrong bytes")
			}
			if _, err := stream.Write(request); err != nil {
				return err
			}
		}
	}
}
