package main

// Requests one after the other, on one stream or a new one for each: ../../scenarios/requests.ts.

import (
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-yamux/v5"
)

// requestSender keeps no core awake, as ../../scenarios/requests.ts does: Go's own idle threads spin for a while, and beside
// a goroutine that always yields its sockets are seen late, p99 then is 20 ms instead of 0.1.
type requestSender struct {
	connection              *connection
	messageBytes, unitBytes int
	// lasting is the stream of all requests, if they share one
	lasting     *yamux.Stream
	position    int
	reply       []byte
	latenciesMs []float64
}

func openRequests(connection *connection, onOneStream bool, messageBytes, unitBytes int) (sender, error) {
	s := &requestSender{connection: connection, messageBytes: messageBytes, unitBytes: unitBytes, reply: make([]byte, messageBytes), latenciesMs: []float64{}}

	if onOneStream {
		stream, err := connection.open()
		if err != nil {
			return nil, err
		}
		s.lasting = stream
	}

	return s, nil
}

func (s *requestSender) work(units int) error {
	for range units * s.unitBytes / s.messageBytes {
		if err := s.request(); err != nil {
			return err
		}
	}

	return nil
}

func (s *requestSender) request() (err error) {
	start := time.Now()
	stream := s.lasting

	if stream == nil {
		if stream, err = s.connection.open(); err != nil {
			return err
		}
	}
	if _, err := stream.Write(bytesAt(s.position, s.messageBytes)); err != nil {
		return err
	}
	if _, err := io.ReadFull(stream, s.reply); err != nil {
		return err
	}

	s.latenciesMs = append(s.latenciesMs, msSince(start))

	if !isAt(s.position, s.reply) {
		return errors.New("the reply differs from the request")
	}

	s.position += s.messageBytes

	if s.lasting == nil {
		return stream.Close()
	}

	return nil
}

func (s *requestSender) takeLatencies() []float64 {
	taken := s.latenciesMs
	s.latenciesMs = []float64{}
	return taken
}

func (s *requestSender) close() error {
	if s.lasting == nil {
		return nil
	}

	return closeFully(s.lasting)
}

// requestAnswerer sends back what it reads, message by message.
func requestAnswerer(messageBytes int) receiver {
	var position atomic.Int64

	return func(stream *yamux.Stream) error {
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
