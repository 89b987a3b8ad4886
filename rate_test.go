package sluice_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

func TestParseRate(t *testing.T) {
	const day = 24 * time.Hour
	tests := map[string]sluice.Rate{
		"3/5s":               sluice.Per(3, 5*time.Second),
		" 3 / 5s ":           sluice.Per(3, 5*time.Second),
		"100/m":              sluice.Per(100, time.Minute),
		"1/1h30m":            sluice.Per(1, 90*time.Minute),
		"1000/d":             sluice.Per(1000, day),
		"1000/7d":            sluice.Per(1000, 7*day),
		"5/250ms":            sluice.Per(5, 250*time.Millisecond),
		"1/36500d":           sluice.Per(1, sluice.MaxInterval),
		"1/1ms":              sluice.Per(1, time.Millisecond),
		"9007199254740991/s": sluice.Per(sluice.MaxRate, time.Second),
	}
	for s, want := range tests {
		got, err := sluice.ParseRate(s)
		if err != nil || got != want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", s, got, err, want)
		}
		if again, err := sluice.ParseRate(got.String()); err != nil || again != got {
			t.Errorf("ParseRate(%q), which is what String gives, = %v, %v, want %v", got.String(), again, err, got)
		}
	}
}

func TestParseRateSaysWhatIsWrong(t *testing.T) {
	tests := map[string]string{
		"":                   "permits, a slash",
		"3":                  "permits, a slash",
		"x/5s":               "whole number",
		"3.5/5s":             "whole number",
		"/5s":                "whole number",
		"3/":                 "unit",
		"3/5":                "unit",
		"3/five":             "unit",
		"3/99999d":           "at most",
		"0/5s":               "rate.permits",
		"-3/5s":              "rate.permits",
		"9007199254740992/s": "rate.permits",
		"3/0s":               "rate.interval",
		"3/-5s":              "rate.interval",
		"3/-99999d":          "at least",
		"3/999us":            "rate.interval",
		"3/1500us":           "whole number of milliseconds",
		"3/9999999d":         "at most",
		"0/0s":               "rate.interval",
	}
	for s, want := range tests {
		_, err := sluice.ParseRate(s)
		var invalid *sluice.InvalidError
		if !errors.Is(err, sluice.ErrInvalid) || !errors.As(err, &invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseRate(%q) = %v, want an InvalidError that says %q", s, err, want)
		}
	}
}

func FuzzParseRate(f *testing.F) {
	for _, s := range []string{"3/5s", "100/m", "1000/7d", "0/0", "/", "1/1e9s", "1/9223372036854775807ns"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := sluice.ParseRate(s)
		if err != nil {
			return
		}
		if r.Permits < 1 || r.Permits > sluice.MaxRate || r.Interval < sluice.MinInterval || r.Interval > sluice.MaxInterval {
			t.Errorf("ParseRate(%q) = %v without an error, out of bounds", s, r)
		}
		if again, err := sluice.ParseRate(r.String()); err != nil || again != r {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", r.String(), again, err, r)
		}
	})
}

func TestReceiptsSurviveText(t *testing.T) {
	l := sluice.New(memengine.New(nil)).Limiter("x")
	if _, err := l.TrySetRate(t.Context(), sluice.Config{Rate: sluice.Per(math.MaxUint32, time.Hour)}); err != nil {
		t.Fatal(err)
	}
	d, err := l.TryAcquire(t.Context(), math.MaxUint32)
	if err != nil || d.Receipt.Permits() != math.MaxUint32 {
		t.Fatalf("receipt of %d permits, %v, want %d", d.Receipt.Permits(), err, uint32(math.MaxUint32))
	}
	text, err := json.Marshal(d.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	var back sluice.Receipt
	if err := json.Unmarshal(text, &back); err != nil || back != d.Receipt {
		t.Errorf("receipt %v came back from %s as %v, %v", d.Receipt, text, back, err)
	}
	if freed, err := l.Refund(t.Context(), back); err != nil || freed != math.MaxUint32 {
		t.Errorf("Refund of it = %d, %v, want all", freed, err)
	}
	if r, err := sluice.ParseReceipt(""); err != nil || !r.IsZero() || r.String() != "" {
		t.Errorf(`ParseReceipt("") = %v, %v, want the zero receipt`, r, err)
	}
	for _, s := range []string{"x", "00", strings.Repeat("g", 40), strings.Repeat("0", 42)} {
		if _, err := sluice.ParseReceipt(s); !errors.Is(err, sluice.ErrInvalid) {
			t.Errorf("ParseReceipt(%q) = %v, want ErrInvalid", s, err)
		}
	}
}

func TestClientIDIsAUUIDUnlessSet(t *testing.T) {
	engine := memengine.New(nil)
	a, b := sluice.New(engine).ID(), sluice.New(engine).ID()
	if a == b || len(a) != 36 || a[14] != '4' || strings.Count(a, "-") != 4 || strings.ToLower(a) != a {
		t.Errorf("client ids %q and %q, want two different UUIDs of version 4 in lower case", a, b)
	}
	if id := sluice.New(engine, sluice.WithClientID("me")).ID(); id != "me" {
		t.Errorf("client id %q, want the one that was set", id)
	}
}
