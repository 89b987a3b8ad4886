package enginetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-rate/sluice"
)

// charges are the commands on limits that travel with the call. A charge is written [N*]KEY@RATE and, after commas, what else the limit
// has: an algorithm, burst:N, name:X, and tag:X of the charge. Of several charges in one call each has its line in the answer.
var charges = map[string]command{
	"charge": charge, "recharge": recharge, "upto": upto, "repay": repay, "lookat": lookAt,
}

var chargeReads = map[string]command{"peek": peek}

// parseCharge reads a charge.
func parseCharge(s *step, text string) sluice.Charge {
	who, what, found := strings.Cut(text, "@")
	if !found {
		panic(s.badf("%q is no charge: [N*]KEY@RATE,…", text))
	}
	n := int64(1)
	if times, key, several := strings.Cut(who, "*"); several {
		n, who = s.number(times), key
	}
	words := strings.Split(what, ",")
	rate, _ := sluice.ParseRate(words[0]) // a bad one is for the limiter to refuse
	limit, tag := sluice.Limit{Rate: rate}, ""
	for _, w := range words[1:] {
		switch name, value, _ := strings.Cut(w, ":"); name {
		case "burst":
			limit.Burst = s.number(value)
		case "name":
			limit.Name = value
		case "tag":
			tag = value
		default:
			a, err := sluice.ParseAlgorithm(name)
			if err != nil {
				panic(s.badf("%v", err))
			}
			limit.Algorithm = a
		}
	}
	return limit.ChargeN(who, n).With(tag)
}

func parseCharges(s *step, args []string) []sluice.Charge {
	list := make([]sluice.Charge, len(args))
	for i, a := range args {
		list[i] = parseCharge(s, a)
	}
	return list
}

// charge takes at once, or with for=D as soon as possible within D.
func charge(w *world, s *step) string {
	list := parseCharges(s, s.args)
	patience := s.duration(s.opt("for", "0s"))
	o, err := w.of(w.client).Book(w.Context(), patience, list...)
	w.callBy(s, sluice.Call{Charges: list, MaxWait: patience}, o)
	return w.outcome(s, list, o, err)
}

// callBy names what was granted.
func (w *world) callBy(s *step, c sluice.Call, o sluice.Outcome) {
	if label := s.opt("as", ""); label != "" && o.Allowed {
		c.Receipt = o.Receipt
		w.calls[label] = c
	}
}

func (w *world) called(s *step, i int) sluice.Call {
	c, found := w.calls[s.arg(i)]
	if !found {
		panic(s.badf("no call goes by the label %q", s.arg(i)))
	}
	return c
}

// recharge sends a call again.
func recharge(w *world, s *step) string {
	c := w.called(s, 0)
	rulings, err := w.engine.Charge(w.Context(), []sluice.Call{c})
	must(w, err)
	return w.outcome(s, c.Charges, rulings[0].Outcome, rulings[0].Err)
}

func upto(w *world, s *step) string {
	list := parseCharges(s, s.args[1:])
	o, err := w.of(w.client).TakeUpTo(w.Context(), s.number(s.arg(0)), list...)
	w.callBy(s, sluice.Call{Charges: list}, o)
	answer := w.outcome(s, list, o, err)
	if o.Allowed {
		answer = strconv.FormatInt(o.Units, 10) + " times " + answer
	}
	return answer
}

func peek(w *world, s *step) string {
	list := parseCharges(s, s.args)
	o, err := w.of(w.client).Peek(w.Context(), list...)
	if !o.Receipt.IsZero() {
		w.Errorf("%s: a peek has a receipt", w.at)
	}
	return w.outcome(s, list, o, err)
}

func repay(w *world, s *step) string {
	c := w.called(s, 0)
	freed, err := w.of(w.client).Refund(w.Context(), c.Receipt, c.Charges...)
	return w.either(fmt.Sprintf("freed %d", freed), err)
}

// lookAt looks after reservations, which were made for the charges of the first.
func lookAt(w *world, s *step) string {
	receipts := make([]sluice.Receipt, len(s.args))
	for i := range s.args {
		receipts[i] = w.called(s, i).Receipt
	}
	sights, err := w.engine.LookAt(w.Context(), w.called(s, 0).Charges, receipts)
	if err != nil {
		return w.failure(err)
	}
	lines := make([]string, len(sights))
	for i, sight := range sights {
		lines[i] = s.args[i] + " in " + sight.Wait.String()
		if sight.Gone {
			lines[i] = s.args[i] + " gone"
		}
	}
	return strings.Join(lines, ", ")
}

// outcome says how a call fared, and sees that the outcome makes sense in itself.
func (w *world) outcome(s *step, list []sluice.Charge, o sluice.Outcome, err error) string {
	if err != nil {
		return w.failure(err)
	}
	w.sane(list, o)
	lines := []string{said(o.Decision, s.opt("show", "") == "reset")}
	if len(list) > 1 {
		for i, p := range o.Parts {
			lines = append(lines, list[i].Key()+"@"+list[i].Limit().Rate.String()+": "+said(p, false))
		}
	}
	return strings.Join(lines, "\n")
}

func said(d sluice.Decision, reset bool) string {
	text := "refused, retry in " + d.RetryAfter.String()
	switch {
	case d.Allowed && d.Wait > 0:
		text = "granted in " + d.Wait.String()
	case d.Allowed:
		text = "granted"
	}
	text += fmt.Sprintf(", %d left", d.Remaining)
	if reset {
		text += ", full in " + d.ResetAfter.String()
	}
	return text
}

func (w *world) sane(list []sluice.Charge, o sluice.Outcome) {
	w.Helper()
	right := len(o.Parts) == len(list) && o.At.Equal(w.clock.now()) && (o.RetryAfter > 0) == !o.Allowed && (o.Units > 0) == o.Allowed
	longest := time.Duration(0)
	for i, p := range o.Parts {
		longest = max(longest, p.RetryAfter)
		right = right && p.Remaining >= 0 && p.Limit == list[i].Limit().Rate && p.Remaining <= list[i].Limit().Most()
		right = right && (p.Allowed == (p.RetryAfter == 0)) && p.Permits == list[i].Permits()*max(1, o.Units)
	}
	right = right && longest <= o.RetryAfter
	if o.Allowed {
		right = right && o.Date.Equal(o.At.Add(o.Wait)) && longest == 0
	} else {
		right = right && o.Receipt.IsZero() && o.Wait == 0 && o.Date.IsZero()
	}
	if !right {
		w.Errorf("%s: the outcome contradicts itself: %+v", w.at, o)
	}
}
