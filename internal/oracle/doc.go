// Package oracle judges the recorded history of one rate limiter against the
// laws that a limiter must keep. It is written from the laws and knows nothing
// of any limiter's code; it imports the standard library only.
//
// A [History] holds what happened: grants, returns, releases, changes of the
// configuration, and what the store said was free ([Claim]). Times are int64
// microseconds of the store clock. [Judge] runs every judgement:
//
//   - [Exact], law 1: no window [t, t+interval) of dates holds more permits
//     than the rate.
//   - [ExactWent], law 1: the same by the moments at which callers really went
//     on, and no caller goes early.
//   - [Conserving], law 2: what the store says is free is the rate less what
//     is in the window; nothing is given back that was not there.
//   - [Fair], law 5: nobody who arrived later passes a waiter.
//   - [Once], law 6: no receipt is granted twice or given back twice.
//
// Limits of other kinds have judgements of their own in the place of Exact, which
// Judge does not run: [Bucket] for a token bucket, [Aligned] and [Fixed] for
// windows on a grid and from the first call.
//
// A history that cannot be judged (no configuration, a grant of no permits) is
// a violation of "law 0", and then nothing else is judged.
//
// # Windows
//
// A window is judged at its last grant. If [t, t+interval) holds too much, so
// does the window that ends with its last grant; so one check a grant finds
// every overfull window. The check at a grant of date d sums the permits dated
// in (d-interval, d], which is [t, t+interval) for t = d-interval+1: two
// grants exactly one interval apart do not meet, one microsecond less and they
// do. Grants of one date are summed in the order of arrival.
//
// # Changes of the configuration
//
// Let a grant arrive at a and be dated d. It is right if it is right under at
// least one configuration that was in force at some moment from
// max(a, d-Look) to d. (Both ends count, and so does a configuration that
// ended at the very first of these moments: within one microsecond the order
// is not known.) It follows that
//
//   - a raised rate binds (and helps) from the moment it is raised, for it is
//     in force at d;
//   - a lowered rate binds from that moment on: whoever arrives after it, or
//     is dated more than Look after it, is judged by it, and what was used
//     before it still counts. Only a promise made before it and dated within
//     Look after it may stand under the old rate, since its owner may not
//     learn of a new date in time.
//
// This is narrower than taking the highest rate anywhere near a window: that
// would let a store ignore a lowered rate for a whole interval.
//
// "Right under configuration c" means: the permits that are dated in
// (d-interval of c, d] and are not gone do not exceed the rate of c. A permit
// is gone
//
//   - if it had left the window under a configuration before c while that was
//     in force: dated x, it had left under interval i, in force until e, if
//     x+i <= e. A ledger has dropped such a grant, so a longer interval cannot
//     bring it back;
//   - if it is dated before a [Change] with Reset at or before c;
//   - if it was released at or before d;
//   - if it was returned at any time: such a permit was never used.
//
// So a longer interval binds at once for everything still in the window when
// it came, and a shorter one frees at once what is older. A window that
// straddles a change is judged by the more generous of the two configurations,
// but only for promises made before the change and due within Look; "either"
// is meant strictly: the old rate never goes with the new interval.
//
// A change of the rate and a change of the interval are one kind of event.
// The first change is the initial configuration and holds from the beginning
// of time, whatever its date.
//
// # Rounding
//
// Stores date a grant that is made at once by rounding its moment up to the
// millisecond ([Grain]). So a grant dated within a millisecond of its arrival
// is taken as made at once: it may go from its arrival on, and it cannot be
// passed. It may still have waited a little, and so the windows take it at its
// date.
//
// If the recorder knows that a grant was made at once, it sets [Grant.AtOnce]
// and the judgement is sharper: the window that ends with this grant ends at
// its arrival, while the windows that begin with it begin at its date. Thus a
// store that rounds both ways to its own advantage is found. It is needed where
// there are Resets, for a Reset between arrival and date forgets such a grant
// (it is then dated as it arrived).
//
// Dates finer than a microsecond may be rounded either way, if always the same.
//
// # What it does not do
//
// It does not judge laws 3, 4, 7, 8 and 9, nor liveness: a limiter that never
// grants anything passes. It knows only the final date of a waiter, not the
// dates between; where two could have been the oldest for a [Release], it takes
// one that fits what came back by receipts. One history is one limiter.
package oracle
