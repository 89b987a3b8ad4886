package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/cmd/sluice/internal/survey"
)

// limiterShow is the command that says how a limiter stands.
func (a *app) limiterShow() *cli.Command {
	return &cli.Command{
		Name:        "show",
		Usage:       "say how a limiter stands, and what is wrong with its keys",
		UsageText:   "sluice limiter show NAME [-redis URL] [-o text|json]",
		Description: limiterShowDescription,
		Flags:       limiterFlags(),
		Action:      a.runLimiterShow,
	}
}

func (a *app) runLimiterShow(ctx context.Context, c *cli.Command) error {
	limiter, err := name(c)
	if err != nil {
		return err
	}
	r := reader{c: c}
	json := r.json()
	if r.err != nil {
		return r.err
	}
	s, err := a.open(c)
	if err != nil {
		return err
	}
	defer s.Close()

	l, err := a.survey(ctx, s, limiter, survey.Read)
	if err != nil {
		return err
	}
	return a.answer(json, newShowAnswer(l))
}

// showAnswer is a limiter as it is printed. What is not known is zero, or "".
type showAnswer struct {
	Name        string           `json:"name"`
	Exists      bool             `json:"exists"` // it has a configuration
	Mode        string           `json:"mode"`
	Rate        int64            `json:"rate"` // permits
	IntervalMS  int64            `json:"interval_ms"`
	KeepAliveMS int64            `json:"keep_alive_ms"` // 0: none
	TTLMS       int64            `json:"ttl_ms"`        // 0: for ever
	Available   int64            `json:"available"`     // to a new client, where each has a budget
	Granted     int64            `json:"granted"`       // permits; of all clients together
	Waiting     int64            `json:"waiting"`       // callers; of all clients together
	Entries     int64            `json:"entries"`       // of all clients together
	Clients     []clientAnswer   `json:"clients"`
	Problems    []survey.Problem `json:"problems"`

	config sluice.Config
	left   bool
}

// clientAnswer is what is stored for one client.
type clientAnswer struct {
	ID        string `json:"id"`
	Value     string `json:"value"` // as it is stored; "" if it is not
	Available int64  `json:"available"`
	Granted   int64  `json:"granted"`
	Waiting   int64  `json:"waiting"`
	Entries   int64  `json:"entries"`
	TTLMS     int64  `json:"ttl_ms"` // of the ledger, or else of the value
}

func newShowAnswer(l *survey.Limiter) showAnswer {
	config := l.Stored.Config
	v := showAnswer{
		Name:        l.Name,
		Exists:      l.Stored.Exists(),
		Rate:        config.Rate.Permits,
		IntervalMS:  config.Rate.Interval.Milliseconds(),
		KeepAliveMS: config.KeepAlive.Milliseconds(),
		TTLMS:       milliseconds(l.Stored.TTL),
		Clients:     []clientAnswer{},
		Problems:    append([]survey.Problem{}, l.Problems()...),
		config:      config,
		left:        l.Left(),
	}
	if v.Exists {
		v.Mode = config.Mode.String()
	} else {
		v.TTLMS = 0 // of a key that is not a limiter's
	}
	if config.Mode == sluice.PerClient {
		v.Available = config.Rate.Permits
	}
	for _, p := range l.Pairs {
		v.Granted, v.Waiting, v.Entries = v.Granted+p.Granted, v.Waiting+p.Waiting, v.Entries+p.Entries
		if p.Client == "" {
			v.Available = p.Available
			continue
		}
		life := p.LedgerTTL
		if p.Entries == 0 {
			life = max(life, p.ValueTTL)
		}
		v.Clients = append(v.Clients, clientAnswer{p.Client, p.Value, p.Available, p.Granted, p.Waiting, p.Entries, milliseconds(life)})
	}
	return v
}

func (v showAnswer) String() string {
	var b strings.Builder
	switch {
	case !v.Exists && !v.left:
		return noSuch(v.Name)
	case !v.Exists:
		b.WriteString(shown(v.Name) + ": no such limiter, but something is there")
	default:
		b.WriteString(shown(v.Name) + ": " + describe(v.config))
	}
	b.WriteString("\n")
	facts := columns{w: &b}
	fact := func(name string, value any) { facts.write([]string{"", name, fmt.Sprint(value)}) }
	facts.widths = []int{0, len("available")}
	switch {
	case v.Exists && v.Mode == sluice.PerClient.String():
		fact("available", fmt.Sprintf("%d of %d to each new client", v.Available, v.Rate))
	case v.Exists:
		fact("available", fmt.Sprintf("%d of %d", v.Available, v.Rate))
	}
	fact("granted", permits(v.Granted))
	fact("waiting", people(v.Waiting, "caller", "callers"))
	fact("entries", v.Entries)
	if v.Exists {
		fact("expires", lifetime(fromMS(v.TTLMS)))
	}
	if len(v.Clients) > 0 {
		b.WriteString("\n")
		rows := [][]string{{"CLIENT", "AVAILABLE", "GRANTED", "WAITING", "ENTRIES", "VALUE", "EXPIRES"}}
		for _, c := range v.Clients {
			value := c.Value
			if value == "" {
				value = "-"
			}
			rows = append(rows, []string{shown(c.ID), itoa(c.Available), itoa(c.Granted), itoa(c.Waiting), itoa(c.Entries), shown(value), lifetime(fromMS(c.TTLMS))})
		}
		table := columns{w: &b, right: "lrrrrr"}
		table.write(rows...)
	}
	if len(v.Problems) == 0 {
		b.WriteString("\nno problems")
		return b.String()
	}
	fmt.Fprintf(&b, "\n%s:", people(int64(len(v.Problems)), "problem", "problems"))
	for _, p := range v.Problems {
		b.WriteString("\n" + wrap(p.String(), 98))
	}
	return b.String()
}

// people is a number of things in words.
func people(n int64, one, many string) string {
	switch n {
	case 0:
		return "none"
	case 1:
		return "1 " + one
	}
	return strconv.FormatInt(n, 10) + " " + many
}

const limiterShowDescription = `Shows what is stored under NAME: the configuration, what is in use and who waits, for each
client where each has a budget of its own, and in plain words what is wrong with the keys,
what comes of it and what to do. It writes nothing to Redis.

  available   permits that could be had now; 0 while callers wait in line
  granted     permits in use: of grants in the window
  waiting     callers in line
  entries     of the ledger, in the window: grants and those who wait

Examples:
  sluice limiter show mail
  sluice limiter show mail -o json | jq -r '.problems[]'
    {"name":"mail","exists":true,"mode":"overall","rate":3,"interval_ms":5000,
     "keep_alive_ms":0,"ttl_ms":0,"available":1,"granted":2,"waiting":0,"entries":2,
     "clients":[],"problems":[]}     in one line; a ttl_ms of 0 is for ever
  A client: {"id":"…","value":"1","available":1,"granted":2,"waiting":0,"entries":2,
     "ttl_ms":9120}

Exit status: 0 shown, with or without problems, 2 there is no such limiter, 1 error.`
