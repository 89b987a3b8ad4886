package sluice

import "time"

// Outcome is the answer to a call with one or several charges. A refusal is an outcome, not an error; it has changed nothing.
type Outcome struct {
	// Decision is that on the whole call. Where the charges differ, its Permits, Limit, Remaining and ResetAfter are those of the
	// charge that stops the caller: on a refusal the one that lasts longest, else the one with the fewest permits remaining.
	Decision
	// Units is how many times the charges were granted: 1, or what TakeUpTo got; 0 on a refusal.
	Units int64
	// Parts is what was found for each charge, in their order. Its Allowed says whether that charge alone would have passed, and its
	// RetryAfter when.
	Parts []Decision
}

// Refused is the places in Parts of the charges that would not have passed.
func (o *Outcome) Refused() []int {
	var places []int
	for i := range o.Parts {
		if !o.Parts[i].Allowed {
			places = append(places, i)
		}
	}
	return places
}

// stopper is the part that stops the caller.
func (o *Outcome) stopper() *Decision {
	stops := &o.Parts[0]
	for i := range o.Parts[1:] {
		p := &o.Parts[i+1]
		switch {
		case p.RetryAfter != stops.RetryAfter:
			if p.RetryAfter > stops.RetryAfter {
				stops = p
			}
		case p.Remaining < stops.Remaining:
			stops = p
		}
	}
	return stops
}

// Outcome makes the outcome of a call from what was found for its charges. It is meant for engines.
func (c Call) Outcome(granted bool, units int64, wait time.Duration, at time.Time, parts []Decision) Outcome {
	o := Outcome{Decision: Decision{At: at}, Parts: parts}
	stops := o.stopper()
	o.Permits, o.Limit, o.Remaining, o.ResetAfter = stops.Permits, stops.Limit, stops.Remaining, stops.ResetAfter
	if !granted {
		o.RetryAfter = wait
		return o
	}
	o.Allowed, o.Units, o.Wait, o.Date, o.Permits = true, units, wait, at.Add(wait), o.Permits*units
	if !c.Peek {
		o.Receipt = c.Receipt
	}
	for i := range parts {
		p := &parts[i]
		p.Allowed, p.RetryAfter = true, 0
		p.Permits *= units
		p.Wait, p.Date, p.Receipt = wait, o.Date, o.Receipt
	}
	return o
}
