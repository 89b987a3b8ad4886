package redisengine_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/sluice-rate/sluice/internal/redistest"
)

// stampedConn is a client that can say when a script ran, by the server's clock and in the order of its work: TIME and the
// script go as one transaction, so nothing happens between the two. It does so for calls whose context asks for it.
type stampedConn struct{ *redistest.Conn }

type stampKey struct{}

// Most scripts say themselves at which moment they ran, in this place of a reply of at least so many. It is more exact than TIME
// before them: the millisecond can have changed in between, and with it what had left the window.
const moment, moments = 1, 5

// withStamp asks for the moment of the first call with this context, in microseconds.
func withStamp(ctx context.Context) (context.Context, *int64) {
	at := new(int64)
	return context.WithValue(ctx, stampKey{}, at), at
}

// outcome is a redisengine.Reply.
type outcome struct {
	reply any
	err   error
}

func (o outcome) Result() (any, error) { return o.reply, o.err }

func (c stampedConn) Eval(ctx context.Context, script string, keys []string, args ...any) outcome {
	return c.call(ctx, "EVAL", script, keys, args)
}

func (c stampedConn) EvalSha(ctx context.Context, sha1 string, keys []string, args ...any) outcome {
	return c.call(ctx, "EVALSHA", sha1, keys, args)
}

func (c stampedConn) call(ctx context.Context, name, script string, keys []string, args []any) outcome {
	cmd := []any{name, script, len(keys)}
	for _, k := range keys {
		cmd = append(cmd, k)
	}
	cmd = append(cmd, args...)
	at, asked := ctx.Value(stampKey{}).(*int64)
	if !asked || *at != 0 {
		reply, err := c.Do(ctx, cmd...)
		return outcome{reply, err}
	}
	replies, err := transaction(ctx, c.Conn, []any{"TIME"}, cmd)
	if err != nil {
		return outcome{nil, err}
	}
	if err, failed := replies[1].(redistest.Error); failed {
		return outcome{nil, err}
	}
	if list, ok := replies[1].([]any); ok && len(list) >= moments {
		*at, _ = list[moment].(int64)
		return outcome{replies[1], nil}
	}
	*at, err = micros(replies[0])
	return outcome{replies[1], err}
}

// transaction runs commands as one.
func transaction(ctx context.Context, conn *redistest.Conn, cmds ...[]any) ([]any, error) {
	all := append([][]any{{"MULTI"}}, cmds...)
	replies, err := conn.Pipeline(ctx, append(all, []any{"EXEC"}))
	if err != nil {
		return nil, err
	}
	done, ok := replies[len(replies)-1].([]any)
	if !ok || len(done) != len(cmds) {
		return nil, fmt.Errorf("the transaction gave %v", replies)
	}
	return done, nil
}

// micros is the reply of TIME.
func micros(reply any) (int64, error) {
	pair, ok := reply.([]any)
	if !ok || len(pair) != 2 {
		return 0, fmt.Errorf("TIME is %v", reply)
	}
	s, err := strconv.ParseInt(fmt.Sprint(pair[0]), 10, 64)
	if err != nil {
		return 0, err
	}
	us, err := strconv.ParseInt(fmt.Sprint(pair[1]), 10, 64)
	return s*1_000_000 + us, err
}

const (
	mostGrants = 2000 // that a ledger keeps; one call more may lie there for each who waits
	memberSize = 21
)

// permitsOf is how many permits an entry of the ledger holds.
func permitsOf(member string) int64 {
	return int64(binary.LittleEndian.Uint32([]byte(member[len(member)-4:])))
}

// audit compares the value of a limiter with its ledger, in one moment, and says what is wrong. id is the client whose
// they are; "" for what all share.
func audit(ctx context.Context, conn *redistest.Conn, name, id string) (problem string, err error) {
	value, permits := "{"+name+"}:value", "{"+name+"}:permits"
	if id != "" {
		value, permits = value+":"+id, permits+":"+id
	}
	replies, err := transaction(ctx, conn, []any{"HGET", name, "rate"}, []any{"GET", value}, []any{"TIME"}, []any{"ZRANGE", permits, 0, -1, "WITHSCORES"})
	if err != nil {
		return "", err
	}
	rate, err := strconv.ParseInt(fmt.Sprint(replies[0]), 10, 64)
	if err != nil {
		return "", err
	}
	now, err := micros(replies[2])
	if err != nil {
		return "", err
	}
	entries, _ := replies[3].([]any)
	var held int64
	grants := 0
	for i := 0; i < len(entries); i += 2 {
		member, _ := entries[i].(string)
		if len(member) != memberSize {
			return fmt.Sprintf("entry %q is not of this library", member), nil
		}
		held += permitsOf(member)
		score, err := strconv.ParseFloat(fmt.Sprint(entries[i+1]), 64)
		if err != nil {
			return "", err
		}
		if score*1000 <= float64(now) {
			grants++
		}
	}
	if replies[1] == nil && len(entries) == 0 {
		return "", nil // not used yet
	}
	if is := fmt.Sprint(replies[1]); is != strconv.FormatInt(rate-held, 10) {
		return fmt.Sprintf("law 2: the value is %s with %d permits in the ledger and a rate of %d", is, held, rate), nil
	}
	// Waiters whose date has come are grants, and nothing is merged before the next take.
	if grants > mostGrants+parts*mostCallers {
		return fmt.Sprintf("law 7: %d grants in the ledger", grants), nil
	}
	return "", nil
}
