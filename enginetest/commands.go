package enginetest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-rate/sluice"
)

// A command does its step and gives the answer, "" if there is nothing to say.
type command func(w *world, s *step) string

// decisions are the commands that change the ledger by a script of ours; a refusal of theirs leaves no trace.
var decisions = map[string]command{
	"take": take, "wait": wait, "reserve": reserve, "batch": batch, "resend": resend, "poll": poll,
	"refund": refund, "cancel": cancel, "release": release, "look": look,
}

// changes are those that change the configuration or the fate of the limiter.
var changes = map[string]command{
	"rate": configure, "set": configure, "update": configure,
	"expire": expire, "persist": persist, "delete": remove, "rename": rename,
}

var reads = map[string]command{
	"available": available, "ledger": listLedger, "config": showConfig, "exists": showExists, "ttl": showTTL,
}

var settings = map[string]command{
	"limiter": setLimiter, "skew": setSkew, "at": moveTo, "sleep": sleep, "clock": stepClock,
}

func (w *world) do(s *step) string {
	w.client = s.opt("client", "self")
	if c := decisions[s.verb]; c != nil {
		return w.decide(c, s)
	}
	if c := changes[s.verb]; c != nil {
		answer := c(w, s)
		w.conserved()
		w.meddled = w.meddled || s.opt("mode", "") == "client" // the other clients' keys are counted anew at their next call
		return answer
	}
	if c := charges[s.verb]; c != nil {
		return w.decide(c, s)
	}
	if c := chargeReads[s.verb]; c != nil {
		return w.untouched(func() string { return c(w, s) })
	}
	if c := reads[s.verb]; c != nil {
		return w.untouched(func() string { return c(w, s) })
	}
	if c := settings[s.verb]; c != nil {
		return c(w, s)
	}
	if c := meddling[s.verb]; c != nil {
		return c(w, s)
	}
	panic(s.badf("there is no such command"))
}

// decide runs a decision. Any but a grant must leave no trace, and all must leave the value equal to what the ledger says.
func (w *world) decide(c command, s *step) string {
	before := w.written()
	answer := c(w, s)
	refused := s.verb != "release" // which tidies up what has left the window, whether it frees anything or not
	for line := range strings.SplitSeq(answer, "\n") {
		refused = refused && isRefusal(line)
		if charges[s.verb] != nil {
			break // the rest is about the parts
		}
	}
	if refused && !w.stepped && !w.meddled && !w.keepAlive && before != w.written() {
		w.Errorf("%s: %s, and yet it has written", w.at, answer)
	}
	if !strings.HasPrefix(answer, "more than") && !strings.HasPrefix(answer, "invalid") && !strings.HasPrefix(answer, "corrupt") {
		w.meddled = false
	}
	w.conserved()
	return answer
}

// isRefusal reports whether an answer says that nothing was done.
func isRefusal(answer string) bool {
	return strings.HasPrefix(answer, "refused") || strings.HasPrefix(answer, "more than") ||
		strings.HasPrefix(answer, "invalid") || answer == "freed 0" || answer == "not initialized"
}

func take(w *world, s *step) string {
	n := s.number(s.arg(0))
	d, err := w.limiter().TryAcquire(w.Context(), n)
	w.call(s.opt("as", ""), d, 0)
	return w.decision(n, d, err, s.has("reset"))
}

func wait(w *world, s *step) string {
	n, patience := s.number(s.arg(0)), s.duration(s.arg(1))
	d, err := w.ask(sluice.Take{Key: w.key(), Receipt: receiptFor(n, patience), MaxWait: patience})
	w.call(s.opt("as", ""), d, patience)
	return w.decision(n, d, err, s.has("reset"))
}

func reserve(w *world, s *step) string {
	n, patience := s.number(s.arg(0)), s.duration(s.arg(1))
	r, err := w.limiter().Reserve(w.Context(), n, patience)
	if err != nil {
		return w.failure(err)
	}
	w.call(s.opt("as", ""), r.Decision, patience)
	w.reservations[s.opt("as", "")] = r
	if r.Delay() != r.Decision.Wait {
		w.Errorf("%s: Delay is %v, want the wait of the decision, %v", w.at, r.Delay(), r.Decision.Wait)
	}
	return w.decision(n, r.Decision, nil, s.has("reset"))
}

func batch(w *world, s *step) string {
	takes := make([]sluice.Take, len(s.args))
	for i, a := range s.args {
		permits, patience, waits := strings.Cut(a, ":")
		if waits {
			takes[i].MaxWait = s.duration(patience)
		}
		takes[i].Key, takes[i].Receipt = w.key(), receiptFor(s.number(permits), takes[i].MaxWait)
	}
	answers, err := w.engine.Take(w.Context(), takes)
	if err != nil {
		return w.failure(err)
	}
	lines := make([]string, len(takes))
	for i, a := range answers {
		if label, named := s.opts["as"]; named {
			w.call(label+strconv.Itoa(i+1), a.Decision, takes[i].MaxWait)
		}
		lines[i] = w.decision(takes[i].Receipt.Permits(), a.Decision, a.Err, false)
	}
	return strings.Join(lines, "\n")
}

func resend(w *world, s *step) string {
	t := w.labelled(s, 0)
	d, err := w.ask(t)
	return w.decision(t.Receipt.Permits(), d, err, s.has("reset"))
}

// poll takes N once in each period for each of the clients in turn, and says how many were granted.
func poll(w *world, s *step) string {
	n, every, span := s.number(s.arg(0)), s.duration(s.opt("every", "10ms")), s.duration(s.opt("for", "1s"))
	clients := strings.Split(s.opt("clients", w.client), ",")
	granted, asked := make(map[string]int), 0
	for end := w.clock.since() + span; w.clock.since() < end; w.pass(every) {
		asked++
		for _, w.client = range clients {
			d, err := w.limiter().TryAcquire(w.Context(), n)
			if answer := w.decision(n, d, err, false); err != nil {
				return answer
			}
			if d.Allowed {
				granted[w.client]++
			}
		}
	}
	if len(clients) == 1 {
		return fmt.Sprintf("granted %d of %d", granted[w.client], asked)
	}
	var lines []string
	for _, c := range clients {
		lines = append(lines, fmt.Sprintf("%s granted %d of %d", c, granted[c], asked))
	}
	return strings.Join(lines, ", ")
}

func refund(w *world, s *step) string {
	t := w.labelled(s, 0)
	if len(s.args) < 2 {
		freed, err := w.limiter().Refund(w.Context(), t.Receipt)
		return w.either(fmt.Sprintf("freed %d", freed), err)
	}
	freed, rest, err := w.limiter().RefundN(w.Context(), t.Receipt, s.number(s.arg(1)))
	if label, named := s.opts["as"]; named {
		t.Receipt = rest
		w.takes[label], w.labels[rest.ID()] = t, label
	}
	return w.either(fmt.Sprintf("freed %d", freed), err)
}

func cancel(w *world, s *step) string {
	r := w.reservations[s.arg(0)]
	if r == nil {
		panic(s.badf("no reservation goes by this label"))
	}
	return w.either("cancelled", r.Cancel(w.Context()))
}

func release(w *world, s *step) string {
	freed, err := w.limiter().Release(w.Context(), s.number(s.arg(0)))
	return w.either(fmt.Sprintf("freed %d", freed), err)
}

func look(w *world, s *step) string {
	receipts := make([]sluice.Receipt, len(s.args))
	for i := range s.args {
		receipts[i] = w.labelled(s, i).Receipt
	}
	sights, err := w.engine.Look(w.Context(), w.key(), receipts)
	if err != nil {
		return w.failure(err)
	}
	lines := make([]string, len(sights))
	for i, sight := range sights {
		switch {
		case sight.Gone:
			lines[i] = s.args[i] + " gone"
		case !sight.At.Equal(w.clock.now().Add(sight.Wait)):
			w.Errorf("%s: %s is due at %v and in %v", w.at, s.args[i], sight.At, sight.Wait)
		default:
			lines[i] = s.args[i] + " in " + sight.Wait.String()
		}
	}
	return strings.Join(lines, ", ")
}

// labelled is the take that an argument names.
func (w *world) labelled(s *step, i int) sluice.Take {
	t, found := w.takes[s.arg(i)]
	if !found {
		panic(s.badf("no grant goes by the label %q", s.arg(i)))
	}
	return t
}

func available(w *world, s *step) string {
	n, err := w.limiter().Available(w.Context())
	return w.either(strconv.FormatInt(n, 10), err)
}

func listLedger(w *world, s *step) string {
	var entries []sluice.Entry
	for e, err := range w.limiter().Ledger(w.Context()) {
		if err != nil {
			return w.failure(err)
		}
		entries = append(entries, e)
	}
	// Grants of one millisecond come in any order; those who wait in it come in theirs.
	slices.SortStableFunc(entries, func(a, b sluice.Entry) int {
		if a.Kind == sluice.KindReservation || !a.At.Equal(b.At) {
			return a.At.Compare(b.At)
		}
		return cmp.Compare(w.label(a), w.label(b))
	})
	lines := make([]string, len(entries))
	for i, e := range entries {
		lines[i] = fmt.Sprintf("%s %d", w.moment(e.At), e.Permits) + w.label(e)
		if e.Kind != sluice.KindGrant {
			lines[i] += " " + string(e.Kind)
		}
	}
	if len(lines) == 0 {
		return "empty"
	}
	return strings.Join(lines, "\n")
}

// label is the label of an entry behind a space, or nothing.
func (w *world) label(e sluice.Entry) string {
	if label, named := w.labels[e.Receipt.ID()]; named && !e.Receipt.IsZero() {
		return " " + label
	}
	return ""
}

func showConfig(w *world, s *step) string {
	c, err := w.limiter().Config(w.Context())
	return w.either(configText(c), err)
}

func showExists(w *world, s *step) string {
	yes, err := w.limiter().Exists(w.Context())
	return w.either(strconv.FormatBool(yes), err)
}

func showTTL(w *world, s *step) string {
	d, err := w.limiter().TTL(w.Context())
	return w.either(lifetime(d), err)
}

func setLimiter(w *world, s *step) string {
	w.name = s.arg(0)
	return ""
}

func setSkew(w *world, s *step) string {
	w.skew[s.arg(0)] = s.duration(s.arg(1))
	return ""
}

func moveTo(w *world, s *step) string {
	d := s.duration(s.arg(0)) - w.clock.since()
	if d < 0 {
		panic(s.badf("it is %v already", w.clock.since()))
	}
	w.pass(d)
	return ""
}

func sleep(w *world, s *step) string {
	w.pass(s.duration(s.arg(0)))
	w.stepped = false
	return ""
}

// stepClock is a step that an administrator makes, or a fail-over to a server with another clock.
func stepClock(w *world, s *step) string {
	w.clock.move(s.duration(s.arg(0)))
	w.meddled, w.stepped = true, true
	return ""
}
