package sluice

import "time"

// Decision is the answer to a take. A refusal is a decision, not an error; it has changed nothing.
type Decision struct {
	Allowed bool
	// Permits is how many were asked for: all of them are granted, or none.
	Permits int64
	// Remaining is how many more could be had at this moment; 0 while callers wait in line.
	Remaining int64
	// RetryAfter, on a refusal, is the moment from which this call would have passed had nobody else come; else 0.
	RetryAfter time.Duration
	// ResetAfter is when the whole rate is free again if nobody takes any more; on a refusal, at the latest.
	ResetAfter time.Duration
	// Wait is how far in the future the grant is dated: 0 for one that may be used at once. Acquire and
	// TryAcquireFor have waited it out when they return, and say here how long that took.
	Wait time.Duration
	// Limit is the rate that was in force.
	Limit Rate
	// Receipt names the grant, for Refund. Zero on a refusal.
	Receipt Receipt
	// At is the moment of the decision by the store's clock, to the microsecond.
	At time.Time
	// Date is from when on the permits may be used, by the store's clock: At, or the date of a reservation. After a wait it
	// is the date that the reservation had in the end. Zero on a refusal.
	Date time.Time
}
