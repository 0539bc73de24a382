// The peer on go-yamux over plain TCP.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/libp2p/go-yamux/v5"

	"peers/peer"
)

type stream struct{ *yamux.Stream }

func (s stream) Reset(code uint32) error { return s.ResetWithError(code) }

type connection struct{ *yamux.Session }

func (c connection) Open() (peer.Stream, error) {
	opened, err := c.OpenStream(context.Background())
	return stream{opened}, err
}

func (c connection) Ping() error {
	_, err := c.Session.Ping()
	return err
}

func (c connection) Closed() <-chan struct{} { return c.CloseChan() }

func begin(socket net.Conn, make func(net.Conn, *yamux.Config, func() (yamux.MemoryManager, error)) (*yamux.Session, error)) (peer.Connection, error) {
	config := yamux.DefaultConfig()
	config.LogOutput = io.Discard

	session, err := make(socket, config, nil)
	if err != nil {
		return nil, err
	}

	go func() {
		for {
			accepted, err := session.AcceptStream()
			if err != nil {
				return
			}
			go peer.Accept(stream{accepted})
		}
	}()

	return connection{session}, nil
}

func describe(err error) string {
	var reset *yamux.StreamError

	switch {
	case err == nil:
		return "end"
	case errors.As(err, &reset) && reset.Remote && reset.ErrorCode != 0:
		return fmt.Sprintf("reset %d", reset.ErrorCode)
	case errors.As(err, &reset) && reset.Remote:
		return "reset"
	default:
		return "error " + err.Error()
	}
}

func main() {
	peer.Serve(peer.PlainTCP{
		Client: func(socket net.Conn) (peer.Connection, error) { return begin(socket, yamux.Client) },
		Server: func(socket net.Conn) (peer.Connection, error) { return begin(socket, yamux.Server) },
	}, describe)
}
