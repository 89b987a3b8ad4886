package memengine

import (
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/internal/ledger"
)

// limiter is what is stored under one name. A limiter without configuration can still have states: those of
// other clients, which count until they expire.
type limiter struct {
	configured bool
	config     sluice.Config
	expires    int64             // microseconds of the store clock; 0: never
	states     map[string]*state // by client; "" is the one that all share
}

// state is a ledger with its own end, which is never before the last grant has left the window.
type state struct {
	ledger.State
	expires int64
}

func (l *limiter) empty() bool { return !l.configured && len(l.states) == 0 }

// expire drops what has come to its end.
func (l *limiter) expire(now int64) {
	if l.expires != 0 && l.expires <= now {
		l.configured, l.expires = false, 0
	}
	for client, s := range l.states {
		if s.expires != 0 && s.expires <= now {
			delete(l.states, client)
		}
	}
}

func (l *limiter) rate() ledger.Config { return ledgerConfig(l.config) }

// belief is always right: whoever changes the rate here counts all states anew.
func (l *limiter) belief() ledger.Belief { return ledger.Belief{Config: l.rate()} }

func ledgerConfig(c sluice.Config) ledger.Config {
	return ledger.Config{Rate: c.Rate.Permits, Interval: c.Rate.Interval.Milliseconds()}
}

// slot is under which client the state is kept that counts in this mode.
func slot(mode sluice.Mode, client string) string {
	if mode == sluice.PerClient {
		return client
	}
	return ""
}

// state is the one that counts for a client, made when there is none.
func (l *limiter) state(client string) *state {
	client = slot(l.config.Mode, client)
	s := l.states[client]
	if s == nil {
		s = &state{}
		if l.states == nil {
			l.states = make(map[string]*state)
		}
		l.states[client] = s
	}
	return s
}

// used begins the keep-alive anew, and gives the client's state its end.
func (l *limiter) used(client string, now int64) {
	s := l.state(client)
	var last int64
	if n := len(s.Entries); n > 0 {
		last = s.Entries[n-1].Score
	} else if !s.Known {
		delete(l.states, slot(l.config.Mode, client)) // nothing was written
	}
	if l.config.KeepAlive > 0 {
		l.expires = now + l.config.KeepAlive.Microseconds()
	}
	var life int64 // of the configuration, in milliseconds
	switch {
	case l.expires != 0:
		life = max(1, (l.expires-now)/1000)
	case l.config.Mode == sluice.PerClient:
		life = 2 * l.rate().Interval
	}
	if s.expires = 0; life > 0 {
		s.expires = now + 1000*ledger.Lifetime(l.rate(), now, life, last)
	}
}

func (l *limiter) take(now int64, takes []sluice.Take) []sluice.Answer {
	answers := make([]sluice.Answer, len(takes))
	if !l.configured {
		for i := range answers {
			answers[i].Err = sluice.ErrNotInitialized
		}
		return answers
	}
	client := takes[0].Key.Client
	requests := make([]ledger.Request, len(takes))
	for i, t := range takes {
		requests[i] = ledger.Request{Member: member(t.Receipt), MaxWait: t.MaxWait.Microseconds()}
	}
	decided, _ := l.state(client).Take(l.rate(), now, l.belief(), requests)
	for i, a := range decided {
		answers[i] = l.answer(a, takes[i], now)
	}
	l.used(client, now)
	return answers
}

func (l *limiter) answer(a ledger.Answer, t sluice.Take, now int64) sluice.Answer {
	if a.Status == ledger.TooMany {
		return sluice.Answer{Err: &sluice.ExceedsRateError{Limiter: t.Key.Limiter, Permits: t.Receipt.Permits(), Rate: l.config.Rate}}
	}
	d := sluice.Decision{
		Permits:    t.Receipt.Permits(),
		Remaining:  a.Remaining,
		ResetAfter: time.Duration(a.Reset) * time.Microsecond,
		Limit:      l.config.Rate,
		At:         time.UnixMicro(now),
	}
	wait := time.Duration(a.Wait) * time.Microsecond
	if a.Status == ledger.Granted {
		d.Allowed, d.Wait, d.Receipt, d.Date = true, wait, t.Receipt, d.At.Add(wait)
	} else {
		d.RetryAfter = wait
	}
	return sluice.Answer{Decision: d}
}
