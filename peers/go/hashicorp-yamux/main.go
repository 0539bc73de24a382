// The peer on hashicorp/yamux over plain TCP.
package main

import (
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/yamux"

	"peers/peer"
)

type stream struct {
	*yamux.Stream
	config *yamux.Config
}

var resets sync.Mutex

// Its Close closes one direction only.
func (s stream) CloseWrite() error { return s.Close() }

// The one way to make it reset a stream: a close that the other side does not answer in time.
func (s stream) Reset(uint32) error {
	resets.Lock()
	defer resets.Unlock()

	timeout := s.config.StreamCloseTimeout
	s.config.StreamCloseTimeout = time.Millisecond
	defer func() { s.config.StreamCloseTimeout = timeout }()

	return s.Close()
}

type connection struct {
	*yamux.Session
	config *yamux.Config
}

func (c connection) Open() (peer.Stream, error) {
	opened, err := c.OpenStream()
	return stream{opened, c.config}, err
}

func (c connection) Ping() error {
	_, err := c.Session.Ping()
	return err
}

func (c connection) Closed() <-chan struct{} { return c.CloseChan() }

func begin(socket net.Conn, make func(io.ReadWriteCloser, *yamux.Config) (*yamux.Session, error)) (peer.Connection, error) {
	config := yamux.DefaultConfig()
	config.LogOutput = io.Discard

	session, err := make(socket, config)
	if err != nil {
		return nil, err
	}

	go func() {
		for {
			accepted, err := session.AcceptStream()
			if err != nil {
				return
			}
			go peer.Accept(stream{accepted, config})
		}
	}()

	return connection{session, config}, nil
}

func describe(err error) string {
	switch {
	case err == nil:
		return "end"
	case errors.Is(err, yamux.ErrConnectionReset):
		return "reset"
	default:
		return "error " + err.Error()
	}
}

func main() {
	peer.Serve(peer.PlainTCP{
		Client: func(socket net.Conn) (peer.Connection, error) {
			return begin(socket, func(c io.ReadWriteCloser, config *yamux.Config) (*yamux.Session, error) {
				return yamux.Client(c, config)
			})
		},
		Server: func(socket net.Conn) (peer.Connection, error) {
			return begin(socket, func(c io.ReadWriteCloser, config *yamux.Config) (*yamux.Session, error) {
				return yamux.Server(c, config)
			})
		},
	}, describe)
}
