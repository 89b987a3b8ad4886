package sluice

import (
	"context"
	"time"
)

// Engine decides. It is the seam between the limiter and its store: package memengine decides in this
// process, package redisengine in Redis, and other engines can wrap them. Most programs only pass one to New.
//
// An engine is safe for concurrent use. Its errors match the sentinels of this package. It may trust its
// arguments: the limiter has checked them.
type Engine interface {
	Decider
	Keeper
	Charger
}

// Decider is the busy half of an engine: what callers do on every request. Each call is one round trip a limiter.
type Decider interface {
	// Take decides takes in order, as if each came alone after the one before: the answers are those of serial
	// execution. Each is granted whole, dated in the future if its patience allows, or refused without a trace.
	// Takes of one key go in one trip and one atomic step; takes of several keys are not atomic together.
	// The error says that the store failed; what concerns one take alone is in its Answer.
	Take(ctx context.Context, takes []Take) ([]Answer, error)

	// GiveBack returns permits to one limiter, in order, in one atomic step, and says how many each return
	// freed: 0 for a grant that has left the window, was merged with its neighbours, or was never made.
	GiveBack(ctx context.Context, key Key, returns []Return) ([]int64, error)

	// Look asks for the dates of reservations, in the order of the line, which lets them move up into what has become free in
	// the meantime: those that the caller names to as early as now, those of others not nearer than LookPeriod.
	Look(ctx context.Context, key Key, receipts []Receipt) ([]Sight, error)
}

// Keeper is the quiet half: configuration and upkeep. Each call is one round trip and atomic.
type Keeper interface {
	// Configure stores a configuration. For TrySet it reports whether there was none before, for
	// Update whether there was one; for Set always true.
	Configure(ctx context.Context, key Key, how Change, config Config) (bool, error)

	// Inspect reads. It writes nothing, not even what it finds to be wrong.
	Inspect(ctx context.Context, key Key, page Page) (Snapshot, error)

	// Alter changes how long the limiter lives, or under which name. It reports whether there was one to change.
	Alter(ctx context.Context, key Key, fate Fate) (bool, error)
}

// Charger decides under limits that travel with the call. Each method is one round trip; on a cluster one for each hash slot
// among the charges of a call. What lies in one slot is decided in one atomic step. A call whose charges lie in several is undone by
// refunds where it is not granted in all.
type Charger interface {
	// Charge decides calls in order, as if each came alone after the one before. The error says that the store failed;
	// what concerns one call alone is in its Ruling.
	Charge(ctx context.Context, calls []Call) ([]Ruling, error)

	// LookAt asks for the dates of reservations that were made for these charges, in the order of the line, and moves each to as early as it can be had
	// now. It moves no others.
	LookAt(ctx context.Context, charges []Charge, receipts []Receipt) ([]Sight, error)

	// Refund takes grants of these charges back, and says how many permits each freed, over all charges: 0 for one that no longer counts, was merged,
	// or was never made.
	Refund(ctx context.Context, charges []Charge, receipts []Receipt) ([]int64, error)

	// Reset forgets what the keys of these charges have used.
	Reset(ctx context.Context, charges []Charge) error
}

// Call asks for all its charges, or for none.
type Call struct {
	Charges []Charge
	Receipt Receipt
	MaxWait time.Duration // 0: at once or not at all. At most MaxInterval
	Units   int64         // as many times the charges as can be had at once, up to this; 0: once
	Peek    bool          // only say what the answer would be, and write nothing
}

// Ruling is the outcome of one call, or why there is none: an *ExceedsRateError.
type Ruling struct {
	Outcome Outcome
	Err     error
}

// LookPeriod is how far ahead of now a reservation's date is a promise that others may not move. A
// process with waiters looks at least this often, so that it knows of every move before it is due.
const LookPeriod = time.Second

// Key says which state is meant: a limiter's, and for a PerClient limiter whose.
type Key struct {
	Limiter string
	Client  string
}

// Take asks for the permits that the receipt names, to be had within MaxWait.
type Take struct {
	Key     Key
	Receipt Receipt
	MaxWait time.Duration // 0: at once or not at all. At most MaxInterval
}

// Answer is the decision on one take, or why there is none: ErrNotInitialized, an *ExceedsRateError or a *CorruptError.
type Answer struct {
	Decision Decision
	Err      error
}

// Return gives back Permits of the grant that Receipt names, or of the oldest grants if it names none.
type Return struct {
	Receipt Receipt
	Permits int64
}

// Sight is what a look saw of one reservation.
type Sight struct {
	At   time.Time     // its date by the store's clock
	Wait time.Duration // until then; 0 or less when it has come
	Gone bool          // it is not in the ledger: given back, reset, or the limiter was deleted and made anew
	// Settled says that the line is in order up to this reservation. A look goes some way only; the next one goes
	// on from the first that is not.
	Settled bool
}

// Change says how a configuration is stored.
type Change int

const (
	TrySet Change = iota // only if there is none
	Set                  // in any case; grants are forgotten unless nothing changes, reservations are kept
	Update               // only if there is one; grants are kept
)

// Page asks for a part of the ledger, oldest first. The zero value asks for none of it.
type Page struct {
	Limit  int    // how many entries at most
	Cursor string // Snapshot.Next of the page before; "" for the first
}

// Snapshot is a limiter as it is in the store.
type Snapshot struct {
	Exists    bool
	Config    Config
	Available int64         // free permits, counted from the ledger where the cached value is missing or wrong
	TTL       time.Duration // how long the limiter lives if it is not used; 0: for ever
	Entries   []Entry       // the page that was asked for
	Next      string        // the cursor of the next page; "" when this was the last
	At        time.Time     // the moment by the store's clock
}

// Fate is what Alter does to a limiter. Exactly one field is set.
type Fate struct {
	ExpireIn time.Duration // forget it after this time
	ExpireAt time.Time     // forget it at this moment of the store's clock
	Persist  bool          // keep it for ever
	Delete   bool          // forget it now
	Rename   string        // move it, with its ledger, to this name, over what is there
}
