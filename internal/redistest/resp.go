package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Error is an error reply of the server, word for word: "NOSCRIPT No matching script…".
type Error string

// Error returns the server's words.
func (e Error) Error() string { return string(e) }

// RedisError does nothing. It marks replies of a server, as opposed to errors on the
// way, in the manner of go-redis.
func (Error) RedisError() {}

// encode writes the commands as RESP arrays of bulk strings.
func encode(cmds [][]any) ([]byte, error) {
	var b []byte
	for _, args := range cmds {
		if len(args) == 0 {
			return nil, errors.New("empty command")
		}
		b = appendHead(b, '*', len(args))
		for _, arg := range args {
			text, err := argument(arg)
			if err != nil {
				return nil, err
			}
			b = appendHead(b, '$', len(text))
			b = append(b, text...)
			b = append(b, "\r\n"...)
		}
	}
	return b, nil
}

func appendHead(b []byte, kind byte, n int) []byte {
	b = append(b, kind)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, "\r\n"...)
}

// argument returns arg as the server gets it, in the spelling of go-redis.
func argument(arg any) (string, error) {
	switch v := arg.(type) {
	case string:
		return v, nil
	case []byte:
		return string(v), nil
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	default:
		return "", fmt.Errorf("cannot send an argument of type %T", arg)
	}
}

// decode reads one reply. An error reply is a value here; the error is for a broken
// connection or protocol.
func decode(r *bufio.Reader) (any, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return nil, fmt.Errorf("malformed reply %q", line)
	}
	kind, text := line[0], line[1:len(line)-2]
	switch kind {
	case '+':
		return text, nil
	case '-':
		return Error(text), nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		return nil, fmt.Errorf("malformed reply %q", line)
	case kind == ':':
		return n, nil
	case kind == '$' && n < 0, kind == '*' && n < 0:
		return nil, nil
	case kind == '$':
		return decodeBulk(r, n)
	case kind == '*':
		return decodeArray(r, n)
	}
	return nil, fmt.Errorf("reply %q is not RESP2", line)
}

func decodeBulk(r *bufio.Reader, n int64) (any, error) {
	b := make([]byte, n+2)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	if string(b[n:]) != "\r\n" {
		return nil, fmt.Errorf("bulk reply of %d bytes does not end there", n)
	}
	return string(b[:n]), nil
}

func decodeArray(r *bufio.Reader, n int64) (any, error) {
	list := []any{}
	for range n {
		v, err := decode(r)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
