package cli

import (
	"strconv"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/sluice-rate/sluice"
)

// flag is a flag with a value. Values are read by us, not by the library, so that what is wrong with one is said in
// the words of package sluice. In the usage, the part in backquotes stands for the value, and \n breaks the line.
func flag(name, usage string) cli.Flag { return &cli.StringFlag{Name: name, Usage: usage} }

func outputFlag() cli.Flag {
	return flag("o", "`text|json` form of the answer (default text)")
}

// reader reads the values of flags and keeps the first error.
type reader struct {
	c   *cli.Command
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) set(flag string) bool { return r.c.IsSet(flag) }

// count reads a number of permits; whether that many can be asked for, the limiter says.
func (r *reader) count(flag string, unset int64) int64 {
	if !r.set(flag) {
		return unset
	}
	text := r.c.String(flag)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		r.fail(&sluice.InvalidError{Field: "-" + flag, Value: text, Want: "a whole number"})
	}
	return n
}

// duration reads a duration that is not negative.
func (r *reader) duration(flag string) time.Duration {
	if !r.set(flag) {
		return 0
	}
	text := r.c.String(flag)
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > sluice.MaxInterval {
		r.fail(&sluice.InvalidError{Field: "-" + flag, Value: text, Want: `a duration with a unit, such as "10s" or "1h30m", not negative and not above 100 years`})
	}
	return d
}

func (r *reader) rate(flag string) sluice.Rate {
	if !r.set(flag) {
		return sluice.Rate{}
	}
	rate, err := sluice.ParseRate(r.c.String(flag))
	r.fail(err)
	return rate
}

func (r *reader) mode(flag string) sluice.Mode {
	if !r.set(flag) {
		return sluice.Overall
	}
	mode, err := sluice.ParseMode(r.c.String(flag))
	r.fail(err)
	return mode
}

func (r *reader) receipt(flag string) sluice.Receipt {
	if !r.set(flag) {
		return sluice.Receipt{}
	}
	receipt, err := sluice.ParseReceipt(r.c.String(flag))
	if err == nil && receipt.IsZero() {
		err = &sluice.InvalidError{Field: "-" + flag, Value: "", Want: "40 hexadecimal digits"}
	}
	r.fail(err)
	return receipt
}

// json reports whether the answer is wanted as JSON.
func (r *reader) json() bool {
	switch form := r.c.String("o"); {
	case !r.set("o") || form == "text":
		return false
	case form != "json":
		r.fail(&sluice.InvalidError{Field: "-o", Value: form, Want: `"text" or "json"`})
	}
	return true
}
