package oracle_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

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

// naiveBucket fills a bucket anew for each grant, and gives the begin of each that overfills it.
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
			right = right || mayBe(h, b, m) && levelOf(h, bursts, m, all[:i+1]).Cmp(big.NewRat(bursts[m], 1)) <= 0
		}
		if !right {
			found = append(found, b.begin)
		}
	}
	slices.Sort(found)
	return found
}

// levelOf is what is in use when the last of some grants begins, if configuration m had been the last one. It goes step by step of
// the raster; but for a single configuration it tries every span.
func levelOf(h oracle.History, bursts []int64, m int, all []used) *big.Rat {
	if level := new(big.Rat); m == 0 {
		c, sum, end := h.Changes[0], int64(0), all[len(all)-1].begin
		for _, a := range slices.Backward(all) {
			sum += a.net
			excess := big.NewRat(sum*c.Interval-c.Rate*(end-a.begin), c.Interval)
			if excess.Cmp(level) > 0 {
				level = excess
			}
		}
		return level
	}
	level, k, t := new(big.Rat), 0, all[0].begin
	for i, a := range all {
		for ; ; t += raster {
			for k < m && h.Changes[k+1].At <= t {
				k++
			}
			if t == a.begin {
				break
			}
			flow := new(big.Rat)
			for _, c := range h.Changes[k : m+1] {
				if r := big.NewRat(raster*c.Rate, c.Interval); r.Cmp(flow) > 0 {
					flow = r
				}
			}
			level.Sub(level, flow)
			if level.Sign() < 0 {
				level.SetInt64(0)
			}
		}
		level.Add(level, big.NewRat(a.net, 1))
		earlier := k < m || a.Arrived < h.Changes[k].At
		if most := big.NewRat(slices.Min(bursts[k:m+1]), 1); i < len(all)-1 && a.net > 0 && earlier && level.Cmp(most) > 0 {
			level = most
		}
	}
	return level
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

// canLay tells whether windows can be laid: it tries all places of the raster for each cut.
func canLay(h oracle.History, all []used, interval int64) bool {
	var first, last int64 = 1 << 40, 0
	for _, u := range all {
		first, last = min(first, u.begin, u.Arrived), max(last, u.begin)
	}
	cuts := map[int64]bool{first: true}
	for cut := first; cut <= last; cut += raster {
		if !cuts[cut] {
			continue
		}
		var sum, rate int64
		for end := cut; ; end += raster {
			if end >= cut+interval {
				cuts[end] = true
			}
			if end > last {
				return true
			}
			for _, u := range all {
				if u.begin == end && u.net > 0 {
					sum += u.net
					for k, c := range h.Changes {
						if mayBe(h, u, k) {
							rate = max(rate, c.Rate)
						}
					}
				}
			}
			if sum > rate {
				break
			}
		}
	}
	return false
}

func text(h oracle.History) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%+v\n", h.Params)
	for _, e := range h.Events() {
		fmt.Fprintln(&s, e)
	}
	return s.String()
}
