package sluice

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// bill is the charges of one call.
type bill []Charge

// check says what is wrong with the charges, all of it, or nil. Each is to be taken up to so many times.
func (b bill) check(units int64) error {
	if len(b) == 1 && b[0].fits(units) {
		return nil
	}
	var problems problems
	if len(b) == 0 {
		problems.add("charges", "none", "at least one")
	}
	if len(b) > maxCharges {
		problems.add("charges", len(b), fmt.Sprintf("at most %d in one call", maxCharges))
	}
	free := true
	for i, c := range b {
		problems.join(c.validate())
		if units > 1 && c.permits <= MaxPermits && c.permits > MaxPermits/units {
			problems.add("permits", c.permits, fmt.Sprintf("at most %d: they are asked for up to %d times", MaxPermits/units, units))
		}
		for _, other := range b[:i] {
			if c.made && other.Slot() == c.Slot() {
				problems.add("charges", c.key, fmt.Sprintf("charged once: %v and %v count together; give one of them a Name", other.limit, c.limit))
			}
		}
		free = free && c.permits == 0
	}
	if free && units > 1 && len(problems) == 0 {
		problems.add("permits", 0, "at least 1 in one of the charges")
	}
	return problems.err()
}

// maxCharges bounds the time of one script.
const maxCharges = 64

// fits is whether there is nothing wrong with a charge.
func (c Charge) fits(units int64) bool {
	return c.validate() == nil && c.permits > 0 && c.permits <= MaxPermits/units
}

// receipt makes the receipt of a call.
func (b bill) receipt(units int64, patience time.Duration) Receipt {
	return newReceipt(max(1, b[0].permits*units), patience, false)
}

func (b bill) String() string {
	keys := make([]string, len(b))
	for i, c := range b {
		keys[i] = fmt.Sprintf("%q (%v)", c.key, c.limit)
	}
	return strings.Join(keys, ", ")
}

func (b bill) wrap(verb string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("sluice: %s: %s: %w", b, verb, err)
}

func (b bill) line() lineID {
	var s strings.Builder
	for _, c := range b {
		fmt.Fprintf(&s, "%q %q %q %v %v %d %d\n", c.tag, c.key, c.limit.Name, c.limit.Rate, c.limit.Algorithm, c.limit.Burst, c.permits)
	}
	return lineID{bill: s.String()}
}

func (b bill) look(ctx context.Context, e Engine, receipts []Receipt) ([]Sight, error) {
	return e.LookAt(ctx, b, receipts)
}

func (b bill) giveBack(ctx context.Context, e Engine, returns []Return) ([]int64, error) {
	receipts := make([]Receipt, len(returns))
	for i, r := range returns {
		receipts[i] = r.Receipt
	}
	return e.Refund(ctx, b, receipts)
}
