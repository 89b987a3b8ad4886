package legacy

import (
	"errors"
	"math"
	"slices"
	"time"

	"github.com/sluice-rate/sluice"
)

// line is the callers of one client who wait for a window of one limiter to end, in order of arrival. It is there as long as they are, and so
// is its goroutine, which asks for them when the window has ended: one after the other, and only for those for whom enough can be left.
//
// Each of them wants more than the window has left. So who comes while it lasts may ask at once, and takes nothing from those in the line;
// who comes when it has ended stands behind them. All fields are guarded by Client.mu.
type line struct {
	waiters []*waiter
	ends    time.Time     // the window, by our clock, and never earlier than it does; it is past while they are asked for
	sooner  chan struct{} // holds a token when ends has come nearer, or the last waiter has left
}

// waiter is one caller in the line.
type waiter struct {
	permits int64
	limit   time.Time // up to when a window may last for which it waits
	try     func() (sluice.Decision, error)
	ended   func() bool // its context has, or is about to
	answer  chan answer // has room for one

	// Guarded by Client.mu.
	asking bool // its try is under way
	gone   bool // its caller does not wait for another
}

type answer struct {
	decision sluice.Decision
	err      error
}

// join puts w at the end of the line if the window has ended for which that waits: then they come first. Else it reports false, and w may
// ask by itself.
func (c *Client) join(name string, w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ln := c.lines[name]
	if ln == nil || time.Until(ln.ends) > 0 {
		return false
	}
	ln.waiters = append(ln.waiters, w)
	return true
}

// enter puts w, which was refused in a window that ends then, at the end of the line; made if there is none.
func (c *Client) enter(name string, w *waiter, ends time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	ln := c.lines[name]
	if ln == nil {
		ln = &line{ends: ends, sooner: make(chan struct{}, 1)}
		c.lines[name] = ln
		go c.serve(name, ln) // until the last waiter has left
	}
	ln.waiters = append(ln.waiters, w)
	if ends.Before(ln.ends) { // the limiter was made anew, or the two have seen different windows
		ln.ends = ends
		ln.wake()
	}
}

// leave takes w out of the line, unless it has got an answer, or is about to.
func (c *Client) leave(name string, w *waiter) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.gone = true
	ln := c.lines[name]
	if w.asking || ln == nil || !ln.remove(w) {
		return false
	}
	if len(ln.waiters) == 0 {
		ln.wake()
	}
	return true
}

func (ln *line) wake() {
	select {
	case ln.sooner <- struct{}{}:
	default:
	}
}

func (ln *line) remove(w *waiter) bool {
	i := slices.Index(ln.waiters, w)
	if i >= 0 {
		ln.waiters = slices.Delete(ln.waiters, i, i+1)
	}
	return i >= 0
}

// tell gives w its answer. Client.mu is held.
func (ln *line) tell(w *waiter, a answer) {
	if ln.remove(w) {
		w.answer <- a
	}
}

// serve sleeps until the window ends, asks, and so on until nobody waits any more.
func (c *Client) serve(name string, ln *line) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		c.mu.Lock()
		over := len(ln.waiters) == 0
		if over {
			delete(c.lines, name)
		}
		left := time.Until(ln.ends)
		c.mu.Unlock()
		switch {
		case over:
			return
		case left <= 0:
			c.ask(ln)
		default:
			timer.Reset(left)
			select {
			case <-timer.C:
			case <-ln.sooner:
			}
		}
	}
}

// ask asks for those who can be served by what is left of the window, as far as that is known: again and again for the first of them. When the
// window ends meanwhile, more is left than before, and the first is the first of all again.
func (c *Client) ask(ln *line) {
	known := view{last: sluice.Decision{Remaining: math.MaxInt64, Limit: sluice.Rate{Permits: math.MaxInt64}}}
	for {
		w := c.next(ln, known)
		if w == nil {
			return
		}
		d, err := w.try()
		if err == nil {
			known = view{d, time.Now().Add(d.ResetAfter)}
		}
		c.answered(ln, w, d, err)
	}
}

// view is what is known of the window: the last decision, and when it ends by our clock.
type view struct {
	last sluice.Decision
	ends time.Time
}

// next is the first in line who does not want more than is left, or wants more than the rate, and has to hear that. When there is none, all wait for
// the end of the window; those for whom that is too late are refused, as they would be if they asked.
func (c *Client) next(ln *line, known view) *waiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range ln.waiters {
		if w.permits <= known.last.Remaining || w.permits > known.last.Limit.Permits {
			w.asking = true
			return w
		}
	}
	ln.ends = known.ends
	for _, w := range slices.Clone(ln.waiters) {
		if known.ends.After(w.limit) {
			d := known.last
			d.Allowed, d.Permits, d.RetryAfter, d.Date = false, w.permits, d.ResetAfter, time.Time{}
			ln.tell(w, answer{decision: d})
		}
	}
	return nil
}

// answered notes the answer to a try. A failure that each of them would meet is told to all: to ask a store that is down once for each
// would let the last of a long line wait for minutes.
func (c *Client) answered(ln *line, w *waiter, d sluice.Decision, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w.asking = false
	switch {
	case err != nil && !w.ended() && concernsAll(err):
		for _, w := range slices.Clone(ln.waiters) {
			ln.tell(w, answer{err: err})
		}
	case err != nil, d.Allowed, w.gone:
		ln.tell(w, answer{d, err})
	}
}

// concernsAll reports whether an error is not one caller's own, of its number of permits. What comes of a context that has ended cannot be told
// from the error: a client whose connection has the context's deadline calls it a timeout of the network.
func concernsAll(err error) bool {
	return errors.Is(err, sluice.ErrStoreUnavailable) || errors.Is(err, sluice.ErrNotInitialized) || errors.Is(err, sluice.ErrCorrupt)
}
