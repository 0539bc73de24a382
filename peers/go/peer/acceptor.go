package peer

// What the peer does with the streams that the other side opens: as their first line says, or what a benchmark measures.

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
)

// receiver is what is done with each stream that is accepted.
type receiver func(Stream) error

// onStream holds the receiver of the streams that come from now on.
var onStream atomic.Value

// hangEnds receives what a read of each stream of job `hang` returned at last.
var hangEnds = make(chan error, 1000)

func init() {
	onStream.Store(receiver(doJob))
}

// Accept does what is to be done with a stream.
func Accept(stream Stream) {
	if err := onStream.Load().(receiver)(stream); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stream.Reset(0)
	}
}

// doJob does what the first line says.
func doJob(stream Stream) error {
	reader := bufio.NewReader(stream)
	line, err := reader.ReadString('\n')

	if err == nil {
		words := strings.Fields(line)
		err = do(stream, reader, words[0], numbersOf(words[1:]))
	}
	if err != nil {
		return fmt.Errorf("job %q: %w", line, err)
	}

	return nil
}

func do(stream Stream, reader *bufio.Reader, job string, numbers []int) error {
	switch job {
	case "echo":
		if _, err := io.Copy(stream, reader); err != nil {
			return err
		}
		return stream.CloseWrite()
	case "hash":
		hash := sha256.New()
		if err := copyPaced(hash, reader, numbers[0]); err != nil {
			return err
		}
		return sendLast(stream, hash.Sum(nil))
	case "source":
		digest, err := sendPattern(stream, numbers[0], paceBytes)
		if err != nil {
			return err
		}
		if err := sendLast(stream, digest); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, reader)
		return err
	case "exchange":
		// sends before it reads more, as the opener does
		sentDigest, err := sendPattern(stream, numbers[0], paceBytes)
		if err != nil {
			return err
		}
		read := sha256.New()
		if err := copyPaced(read, reader, 0); err != nil {
			return err
		}
		return sendLast(stream, read.Sum(sentDigest))
	case "hang":
		if _, err := stream.Write([]byte{1}); err != nil {
			return err
		}
		_, err := io.Copy(io.Discard, reader)
		hangEnds <- err
		return nil
	case "reset":
		return stream.Reset(uint32(numbers[0]))
	}

	return fmt.Errorf("there is no job %s", job)
}

// sendLast closes the stream behind what it sends.
func sendLast(stream Stream, bytes []byte) error {
	if _, err := stream.Write(bytes); err != nil {
		return err
	}

	return stream.CloseWrite()
}
