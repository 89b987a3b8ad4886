package enginetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-rate/sluice"
)

// decision says how a take of n permits fared, and sees that the decision makes sense in itself.
func (w *world) decision(n int64, d sluice.Decision, err error, reset bool) string {
	if err != nil {
		return w.failure(err)
	}
	text := said(d, reset)
	sane := d.Receipt.IsZero() && d.Wait == 0 && d.Date.IsZero() && d.RetryAfter > 0
	if d.Allowed {
		sane = d.Receipt.Permits() == n && d.Date.Equal(d.At.Add(d.Wait)) && d.RetryAfter == 0
	}
	if !sane {
		w.Errorf("%s: the decision contradicts itself: %+v", w.at, d)
	}
	if d.Permits != n || !d.At.Equal(w.clock.now()) {
		w.Errorf("%s: the decision is on %d permits at %v, want %d at %v", w.at, d.Permits, d.At, n, w.clock.now())
	}
	return text
}

// failure says what kind of error it is, by the types and sentinels that a caller would match.
func (w *world) failure(err error) string {
	var invalid *sluice.InvalidError
	var exceeds *sluice.ExceedsRateError
	var corrupt *sluice.CorruptError
	switch {
	case errors.Is(err, sluice.ErrNotInitialized):
		return "not initialized"
	case errors.As(err, &exceeds) && errors.Is(err, sluice.ErrExceedsRate):
		return fmt.Sprintf("more than %v", exceeds.Rate)
	case errors.As(err, &corrupt) && errors.Is(err, sluice.ErrCorrupt):
		return fmt.Sprintf("corrupt: %s %s", corrupt.Key, corrupt.Problem)
	case errors.As(err, &invalid) && errors.Is(err, sluice.ErrInvalid):
		return "invalid: " + strings.ReplaceAll(strings.ReplaceAll(err.Error(), "sluice: ", ""), "\n", "; ")
	}
	w.Errorf("%s: the error has no type of ours: %v", w.at, err)
	return "error: " + err.Error()
}

// either gives the answer of a call that fails or has one.
func (w *world) either(answer string, err error) string {
	if err != nil {
		return w.failure(err)
	}
	return answer
}

// moment is a time of the store's clock in milliseconds from the start.
func (w *world) moment(t time.Time) string { return "@" + millis(t.Sub(w.clock.start)) }

func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', -1, 64)
}

// lifetime is a TTL to ten seconds: time in Redis does pass a little during a test.
func lifetime(d time.Duration) string {
	if d <= 0 {
		return "for ever"
	}
	return d.Round(10 * time.Second).String()
}

func configText(c sluice.Config) string {
	text := c.Rate.String()
	if c.Mode != sluice.Overall {
		text += " mode=" + c.Mode.String()
	}
	if c.KeepAlive != 0 {
		text += " keepalive=" + c.KeepAlive.String()
	}
	return text
}
