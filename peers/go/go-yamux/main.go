// The peer on go-yamux over plain TCP.
package main

import (
	"context"
	"errors"
	"net"

	"github.com/libp2p/go-yamux/v5"

	"peers/peer"
)

type stream struct{ *yamux.Stream }

func (s stream) Reset(code uint32) error { return s.ResetWithError(code) }

type session struct{ *yamux.Session }

func (s session) Open() (peer.Stream, error) {
	opened, err := s.OpenStream(context.Background())
	return stream{opened}, err
}

func (s session) Accept() (peer.Stream, error) {
	accepted, err := s.AcceptStream()
	return stream{accepted}, err
}

func (s session) Ping() error {
	_, err := s.Session.Ping()
	return err
}

func (s session) Closed() <-chan struct{} { return s.CloseChan() }

// begin leaves all as it comes: the default configuration.
func begin(socket net.Conn, isClient bool) (peer.Session, error) {
	create := yamux.Server
	if isClient {
		create = yamux.Client
	}

	made, err := create(socket, yamux.DefaultConfig(), nil)
	return session{made}, err
}

func resetCode(err error) (code uint32, isReset bool) {
	if reset, ok := errors.AsType[*yamux.StreamError](err); ok && reset.Remote {
		return reset.ErrorCode, true
	}

	return 0, false
}

func main() {
	peer.Serve(peer.PlainTCP{Begin: begin}, resetCode)
}
