package main

// Which scenario it is, and both of its halves: what is sent, and what is done with the streams that are accepted.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/libp2p/go-yamux/v5"
)

// receiver is what is done with each stream that is accepted.
type receiver func(*yamux.Stream) error

func (do receiver) accept(stream *yamux.Stream) {
	if err := do(stream); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stream.Reset()
	}
}

func receive(scenario string, parameters []int) receiver {
	if scenario == "messages" {
		return messageVerifier(parameters[0], parameters[2])
	}

	return requestAnswerer(parameters[0])
}

func open(connection *connection, scenario string, parameters []int) (sender, error) {
	switch scenario {
	case "messages":
		return openMessages(connection, parameters[0], parameters[1], parameters[2])
	case "requests-on-one-stream":
		return openRequests(connection, true, parameters[0], parameters[1])
	case "requests":
		return openRequests(connection, false, parameters[0], parameters[1])
	}

	return nil, fmt.Errorf("there is no scenario %s", scenario)
}

// forEach does it for all indices at once and returns the first error when all are done.
func forEach(count int, do func(index int) error) error {
	failures := make([]error, count)
	var running sync.WaitGroup

	for i := range count {
		running.Go(func() { failures[i] = do(i) })
	}

	running.Wait()

	for _, err := range failures {
		if err != nil {
			return err
		}
	}

	return nil
}

// closeFully waits until the other side has closed as well.
func closeFully(stream *yamux.Stream) error {
	if err := stream.CloseWrite(); err != nil {
		return err
	}
	if surplusBytes, err := io.Copy(io.Discard, stream); surplusBytes > 0 || err != nil {
		return errors.Join(err, fmt.Errorf("the receiver sent %d bytes that nobody asked for", surplusBytes))
	}

	return nil
}
