package demo

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/sluice-rate/sluice"
)

// fixedScene is a moment with everything in it: permits that count and one that is back, two in line, one refused.
func fixedScene() scene {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return scene{
		now:  ms(7300),
		rate: sluice.Per(3, 5*time.Second),
		ledger: []entry{
			{id: [16]byte{1}, who: "ann", permits: 1, from: ms(3000)},
			{id: [16]byte{2}, who: "cas", permits: 2, from: ms(5500)},
			{id: [16]byte{3}, who: "ann", permits: 1, from: ms(8000), waits: true},
			{id: [16]byte{4}, who: "cas", permits: 2, from: ms(10500), waits: true},
		},
		workers: []state{
			{name: "ann", last: queued, permits: 1, since: ms(6000), until: ms(8000), tally: tally{taken: 2, inLine: ms(1200)}},
			{name: "ben", last: refused, permits: 1, since: ms(7000), until: ms(10500), tally: tally{taken: 1, refusals: 2}},
			{name: "cas", last: queued, permits: 2, since: ms(6500), until: ms(10500), tally: tally{taken: 4, unused: 1, inLine: ms(3100)}},
		},
		log: []event{
			{at: ms(2000), who: "ben", kind: took, permits: 1, free: 1},
			{at: ms(3000), who: "ann", kind: took, permits: 1, free: 0},
			{at: ms(5500), who: "cas", kind: turn, permits: 2, wait: ms(3100)},
			{at: ms(6000), who: "ann", kind: queued, permits: 1, wait: ms(2000)},
			{at: ms(6500), who: "cas", kind: queued, permits: 2, wait: ms(4000)},
			{at: ms(7000), who: "ben", kind: refused, permits: 1, wait: ms(3500)},
			{at: ms(7000), who: "ben", kind: returned, permits: 1, wait: ms(5000)},
		},
	}
}

// fixedBars is the board of the fixed scene, on which a permit has come back a moment ago.
func fixedBars() []bar {
	s := fixedScene()
	b := board{bars: []bar{{id: [16]byte{9}, who: "ben", lane: 1, from: 2000 * time.Millisecond, to: 5500 * time.Millisecond}}}
	return b.update(s)
}

func TestDraw(t *testing.T) {
	tests := []struct {
		file          string
		width, height int
		colour        bool
	}{
		{"picture-80x24.txt", 79, 23, false},
		{"picture-120x40.txt", 119, 39, false},
		{"picture-60x19.txt", 59, 18, false},
		{"picture-colour.txt", 79, 23, true},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			lines := draw(fixedScene(), fixedBars(), tt.width, tt.height).lines(tt.colour)
			if len(lines) > tt.height {
				t.Errorf("%d lines, want at most %d", len(lines), tt.height)
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); !tt.colour && n > tt.width {
					t.Errorf("a line of %d characters, want at most %d", n, tt.width)
				}
			}
			Golden(t, tt.file, strings.Join(lines, "\n")+"\n")
		})
	}
}

func TestDraw_before_anything_has_happened(t *testing.T) {
	s := scene{rate: sluice.Per(3, 5*time.Second), free: 3}
	for _, w := range workers {
		s.workers = append(s.workers, state{name: w.name, last: -1})
	}
	Golden(t, "picture-empty.txt", strings.Join(draw(s, nil, 79, 23).lines(false), "\n")+"\n")
}

func TestGauge(t *testing.T) {
	tests := []struct {
		part, whole time.Duration
		want        string
	}{
		{0, 4, "▱▱▱▱▱▱▱▱▱▱▱▱"},
		{1, 4, "▰▰▰▱▱▱▱▱▱▱▱▱"},
		{4, 4, "▰▰▰▰▰▰▰▰▰▰▰▰"},
		{5, 4, "▰▰▰▰▰▰▰▰▰▰▰▰"},
		{-1, 4, "▱▱▱▱▱▱▱▱▱▱▱▱"},
		{0, 0, "▰▰▰▰▰▰▰▰▰▰▰▰"},
	}
	for _, tt := range tests {
		if got := gauge(tt.part, tt.whole); got != tt.want {
			t.Errorf("gauge(%d, %d) = %s, want %s", tt.part, tt.whole, got, tt.want)
		}
	}
}
