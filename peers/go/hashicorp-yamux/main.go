// The peer on hashicorp/yamux over plain TCP.
package main

import (
	"errors"
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

type session struct {
	*yamux.Session
	config *yamux.Config
}

func (s session) Open() (peer.Stream, error) {
	opened, err := s.OpenStream()
	return stream{opened, s.config}, err
}

func (s session) Accept() (peer.Stream, error) {
	accepted, err := s.AcceptStream()
	return stream{accepted, s.config}, err
}

func (s session) Ping() error {
	_, err := s.Session.Ping()
	return err
}

func (s session) Closed() <-chan struct{} { return s.CloseChan() }

func begin(socket net.Conn, isClient bool) (peer.Session, error) {
	create := yamux.Server
	if isClient {
		create = yamux.Client
	}

	config := yamux.DefaultConfig()
	made, err := create(socket, config)
	return session{made, config}, err
}

func resetCode(err error) (code uint32, isReset bool) {
	return 0, errors.Is(err, yamux.ErrConnectionReset)
}

func main() {
	peer.Serve(peer.PlainTCP{Begin: begin}, resetCode)
}
