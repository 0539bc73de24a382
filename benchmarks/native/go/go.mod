module go-yamux

go 1.26.0

require github.com/libp2p/go-yamux/v5 v5.1.0

require github.com/libp2p/go-buffer-pool v0.1.0 // indirect
