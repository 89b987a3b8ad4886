package enginetest

import (
	"errors"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
)

// severalLimiters takes from several limiters in one call, which one after the other: the answers are those of serial
// execution, in the order of the takes, and what is wrong with one concerns that one alone.
func (h Harness) severalLimiters(t *testing.T) {
	w := newWorld(t, h)
	for _, name := range []string{"a", "b"} {
		_, err := w.of("self").Limiter(name).TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(3, time.Second)})
		must(t, err)
	}
	take := func(name string, n int64, patience time.Duration) sluice.Take {
		return sluice.Take{Key: sluice.Key{Limiter: name, Client: "self"}, Receipt: receiptFor(n, patience), MaxWait: patience}
	}
	takes := []sluice.Take{
		take("a", 2, 0), take("b", 3, 0), take("none", 1, 0), take("a", 2, 0), take("a", 4, 0), take("b", 1, time.Minute), take("a", 1, 0),
	}
	answers, err := w.engine.Take(t.Context(), takes)
	must(t, err)
	if len(answers) != len(takes) {
		t.Fatalf("%d answers to %d takes", len(answers), len(takes))
	}
	for i, want := range []string{
		"granted, 1 left", "granted, 0 left", "not initialized", "refused, retry in 1s, 1 left", "more than 3/1s",
		"granted in 1s, 0 left", "granted, 0 left",
	} {
		a := answers[i]
		if got := w.decision(takes[i].Receipt.Permits(), a.Decision, a.Err, false); got != want {
			t.Errorf("take %d: %s, want %s", i, got, want)
		}
		if a.Decision.Allowed && a.Decision.Receipt != takes[i].Receipt {
			t.Errorf("take %d has the receipt %v, want %v", i, a.Decision.Receipt, takes[i].Receipt)
		}
	}
	var exceeds *sluice.ExceedsRateError
	if !errors.As(answers[4].Err, &exceeds) || exceeds.Limiter != "a" || exceeds.Permits != 4 {
		t.Errorf("the error is %v, want one on 4 permits of a", answers[4].Err)
	}
}
