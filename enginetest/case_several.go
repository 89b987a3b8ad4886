package enginetest

import (
	"time"

	"github.com/sluice-rate/sluice"
)

// severalCases are those of several limits in one call.
var severalCases = []symptom{
	{"a call that a narrow limit refuses does not eat a wide one", func(s *scene) {
		s.eachAlgorithm(func(a sluice.Algorithm) {
			org := sluice.Limit{Rate: sluice.Per(10, time.Minute), Algorithm: a}
			integrator := sluice.Limit{Rate: sluice.Per(5, time.Minute), Algorithm: a, Name: "integrator"}
			key := a.String()
			send := func(who string, n int) (allowed int) {
				for range n {
					if s.took(org.Charge(key).With(key), integrator.Charge(key+who).With(key)) {
						allowed++
					}
				}
				return allowed
			}
			for _, c := range []struct {
				who        string
				sent, want int
			}{{"1", 8, 5}, {"2", 5, 5}, {"3", 1, 0}} {
				if got := send(c.who, c.sent); got != c.want {
					s.Errorf("%v: integrator %s: %d of %d allowed, want %d", a, c.who, got, c.sent, c.want)
				}
			}
			s.left(org.Charge(key).With(key), 0)
			s.left(integrator.Charge(key+"3").With(key), 5)
		})
	}},
	{"a call on two keys takes from both or from neither", func(s *scene) {
		s.eachAlgorithm(func(x sluice.Algorithm) {
			s.eachAlgorithm(func(y sluice.Algorithm) {
				a := sluice.Limit{Rate: sluice.Per(10, time.Minute), Algorithm: x}.Charge("a" + x.String() + y.String())
				b := sluice.Limit{Rate: sluice.Per(1, time.Minute), Algorithm: y}.Charge("b" + x.String() + y.String())
				if first, again := s.took(a, b), s.took(a, b); !first || again {
					s.Errorf("%v and %v: allowed %v, then %v, want once", x, y, first, again)
				}
				s.left(a, 9)
				s.left(b, 0)
			})
		})
	}},
	{"a rate a second and another a day on one key", func(s *scene) {
		s.eachAlgorithm(func(a sluice.Algorithm) {
			second := sluice.Limit{Rate: sluice.Per(10, time.Second), Algorithm: a}.Charge("account")
			day := sluice.Limit{Rate: sluice.Per(250, 24*time.Hour)}.Charge("account" + a.String())
			allowed := 0
			for range 25 {
				for range 11 {
					if s.took(second, day) {
						allowed++
					}
				}
				s.clock.move(time.Second)
			}
			if allowed != 250 {
				s.Errorf("%v: %d allowed of 11 a second for 25 s, want 250", a, allowed)
			}
			s.left(day, 0)
			s.clock.move(time.Second)
			if s.took(second, day) {
				s.Errorf("%v: call 251 of the day is allowed, want refused", a)
			}
		})
	}},
}

func (s *scene) eachAlgorithm(play func(a sluice.Algorithm)) {
	for _, a := range []sluice.Algorithm{sluice.SlidingWindow, sluice.TokenBucket, sluice.FixedWindow, sluice.AlignedWindow} {
		play(a)
	}
}

// took takes charges and says whether they were had.
func (s *scene) took(charges ...sluice.Charge) bool {
	s.Helper()
	o, err := s.of("self").Take(s.Context(), charges...)
	must(s, err)
	return o.Allowed
}

// left sees how many permits a key has left under a limit.
func (s *scene) left(c sluice.Charge, want int64) {
	s.Helper()
	o, err := s.of("self").Peek(s.Context(), c)
	must(s, err)
	if o.Remaining != want {
		s.Errorf("%s under %v has %d left, want %d", c.Key(), c.Limit(), o.Remaining, want)
	}
}
