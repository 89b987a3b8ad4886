package oracle_test

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/sluice-rate/sluice/internal/oracle"
)

// used is one grant as a bucket or a fixed window sees it: what was never used is left out of net.
type used struct {
	oracle.Grant
	begin, net int64
	returns    []oracle.Return
}

// allUsed wants changes in the order of time.
func allUsed(h oracle.History) []used {
	var all []used
	for _, g := range h.Grants {
		u := used{Grant: g, begin: g.At, net: g.Permits}
		if g.AtOnce {
			u.begin = min(g.At, g.Arrived)
		}
		for _, r := range h.Returns {
			if r.ID == g.ID {
				u.returns = append(u.returns, r)
				u.net = max(0, u.net-r.Permits)
			}
		}
		all = append(all, u)
	}
	return all
}

// stretchAt is the place of the configuration in force at t; the first holds since ever.
func stretchAt(h oracle.History, t int64) int {
	k := 0
	for i, c := range h.Changes {
		if i > 0 && c.At <= t {
			k = i
		}
	}
	return k
}

// mayBe tells whether u may be judged by configuration k.
func mayBe(h oracle.History, u used, k int) bool {
	newest := stretchAt(h, u.begin)
	since := max(u.Arrived, u.begin-h.Params.Look)
	return k == newest || k < newest && h.Changes[k+1].At >= since
}

// naiveBucket tries every span that ends at a grant, and gives the begin of each that ends one with too much in it.
func naiveBucket(h oracle.History, bursts []int64) []int64 {
	all := allUsed(h)
	slices.SortStableFunc(all, func(a, b used) int {
		if a.begin != b.begin {
			return int(a.begin - b.begin)
		}
		return int(a.Arrived - b.Arrived)
	})
	var found []int64
	for i, b := range all {
		right := b.net == 0
		for m := range h.Changes {
			fits := mayBe(h, b, m)
			sum := new(big.Rat)
			for j := i; j >= 0 && fits; j-- {
				a := all[j]
				sum.Add(sum, big.NewRat(a.net, 1))
				most := given(h, m, a.begin, b.begin)
				burst := slices.Max(bursts[min(m, stretchAt(h, a.begin)) : m+1])
				fits = a.net == 0 || sum.Cmp(most.Add(most, big.NewRat(burst, 1))) <= 0
			}
			right = right || fits
		}
		if !right {
			found = append(found, b.begin)
		}
	}
	slices.Sort(found)
	return found
}

// given is what the rates give in [a, b), microsecond by microsecond of a coarse raster, if configuration m had been the last.
func given(h oracle.History, m int, a, b int64) *big.Rat {
	sum := new(big.Rat)
	for t := a; t < b; t += raster {
		c := h.Changes[min(m, stretchAt(h, t))]
		sum.Add(sum, big.NewRat(raster*c.Rate, c.Interval))
	}
	return sum
}

// naiveWindows gives the begin of each grant that overfills its window, for windows that are given for each grant, in any order.
func naiveWindows(h oracle.History, all []used, window []int64) []int64 {
	var found []int64
	for i, u := range all {
		var sum, rate int64
		for j, o := range all {
			if window[j] == window[i] && (o.Arrived < u.Arrived || o.Arrived == u.Arrived && j <= i) {
				sum += o.net
			}
		}
		for k, c := range h.Changes {
			if mayBe(h, u, k) {
				rate = max(rate, c.Rate)
			}
		}
		if u.net > 0 && sum > rate {
			found = append(found, u.begin)
		}
	}
	slices.Sort(found)
	return found
}

func gridOf(all []used, interval int64) []int64 {
	var window []int64
	for _, u := range all {
		window = append(window, u.begin/interval)
	}
	return window
}

// runsOf wants the grants in the order of arrival. It looks for what is in use at each arrival among all that came before. A
// window is named for its run as well as for its begin, since a run may begin anew within the last window of one that was returned.
func runsOf(all []used, interval int64) []int64 {
	var window, begin []int64
	run, base := 0, int64(0)
	first := 0 // grant of the run
	for i, u := range all {
		inUse := false
		for j := first; j < i; j++ {
			left := all[j].Permits
			for _, r := range all[j].returns {
				if r.At <= u.Arrived && r.At >= all[j].Arrived {
					left -= r.Permits
				}
			}
			inUse = inUse || left > 0 && begin[j]+interval > u.Arrived
		}
		if !inUse {
			run, base, first = run+1, (u.Arrived+oracle.Grain-1)/oracle.Grain*oracle.Grain, i
		}
		w := base
		for w+interval <= u.begin {
			w += interval
		}
		begin = append(begin, w)
		window = append(window, int64(run)<<32+w)
	}
	return window
}

func text(h oracle.History) string {
	s := fmt.Sprintf("%+v\n", h.Params)
	for _, e := range h.Events() {
		s += e.String() + "\n"
	}
	return s
}
