// Package peer speaks the lines that ../../README.md describes, for any connection that has streams.
package peer

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Stream is what the three implementations have in common.
type Stream interface {
	io.ReadWriter
	CloseWrite() error
	Reset(code uint32) error
}

// Connection is the one connection that a peer has.
type Connection interface {
	Open() (Stream, error)
	// Ping sends one and waits for its answer.
	Ping() error
	// Close ends the connection in good order.
	Close() error
	// Closed is closed when the connection is.
	Closed() <-chan struct{}
}

// Endpoint makes connections.
type Endpoint interface {
	// Listen returns an address to dial. The connection that comes is sent to the channel.
	Listen(accepted chan<- Connection) (address string, err error)
	Dial(address string) (Connection, error)
}

// Serve answers commands until the input ends. `describe` tells how a stream ended, by what a read or write returned.
func Serve(endpoint Endpoint, describe func(error) string) {
	server := server{endpoint: endpoint, describe: describe, accepted: make(chan Connection, 1)}
	lines := bufio.NewScanner(os.Stdin)

	for lines.Scan() {
		result, err := server.run(strings.Fields(lines.Text()))

		if err != nil {
			fmt.Printf("error %q\n", err)
		} else {
			fmt.Printf("ok %s\n", result)
		}
	}
}

type server struct {
	endpoint   Endpoint
	describe   func(error) string
	accepted   chan Connection
	connection Connection
}

func (s *server) run(words []string) (string, error) {
	switch words[0] {
	case "listen":
		return s.endpoint.Listen(s.accepted)
	case "dial":
		connection, err := s.endpoint.Dial(words[1])
		s.connection = connection
		return "", err
	case "ended":
		return s.describe(<-hangEnds), nil
	}

	if s.connection == nil {
		s.connection = <-s.accepted
	}

	numbers := numbersOf(words[1:])

	switch words[0] {
	case "echo":
		return "", echoAll(s.connection, numbers[0], numbers[1])
	case "send":
		return "", send(s.connection, numbers[0], numbers[1], numbers[2])
	case "receive":
		return "", receive(s.connection, numbers[0], numbers[1])
	case "exchange":
		return "", exchange(s.connection, numbers[0])
	case "hang":
		_, err := openHanging(s.connection)
		return "", err
	case "reset":
		stream, err := openHanging(s.connection)
		if err != nil {
			return "", err
		}
		return "", stream.Reset(uint32(numbers[0]))
	case "be-reset":
		return s.beReset(numbers[0])
	case "ping":
		return "", s.connection.Ping()
	case "close":
		return "", s.connection.Close()
	case "closed":
		<-s.connection.Closed()
		return "", nil
	}

	return "", fmt.Errorf("there is no command %s", words[0])
}

func (s *server) beReset(code int) (string, error) {
	stream, err := open(s.connection, "reset %d\n", code)
	if err != nil {
		return "", err
	}

	_, err = io.Copy(io.Discard, stream)
	return s.describe(err), nil
}

func numbersOf(words []string) []int {
	numbers := make([]int, len(words))

	for i, word := range words {
		numbers[i], _ = strconv.Atoi(word)
	}

	return numbers
}
