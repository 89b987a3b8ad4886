package demo

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Where things are in the picture.
const (
	minWidth  = 60
	maxWidth  = 120
	minHeight = 19
	maxEvents = 9

	margin    = 10 // left of the lanes
	rowTop    = 2  // the upper edge of the window
	rowFree   = 8  // below the lanes, where the rate is 3
	rowPeople = 10
	rowEvents = 14
)

const (
	bold = "1"
	dim  = "2"
)

// draw draws a scene: above, the lanes, which slide to the left, in them the window and what is to come; below, who does what; and what
// has happened last. It is never larger than width and height.
func draw(s scene, bars []bar, width, height int) *canvas {
	width = min(width, maxWidth)
	events := min(len(s.log), maxEvents, height-rowEvents)
	c := newCanvas(width, rowEvents+max(0, events))
	x := c.text(1, 0, bold, "sluice demo")
	x = c.text(x, 0, dim, ": "+title(s))
	c.beside(x, 0, bold, seconds(s.now))

	drawLanes(c, s, bars)
	drawFree(c, s)
	for i, w := range s.workers {
		drawWorker(c, rowPeople+i, s.now, w)
	}
	for i := range max(0, events) {
		e := s.log[len(s.log)-1-i]
		style := colour(e.who)
		if i > 0 {
			style = dim
		}
		c.text(1, rowEvents+i, style, e.String())
	}
	return c
}

// scale maps time to columns: the window to the left of now, as much time again to the right.
type scale struct {
	now, window time.Duration
	left, half  int
}

func (sc scale) column(t time.Duration) int {
	return sc.left + int(math.Floor(float64(t-sc.now+sc.window)/float64(sc.window)*float64(sc.half)))
}

func drawLanes(c *canvas, s scene, bars []bar) {
	lanes := int(s.rate.Permits)
	sc := scale{now: s.now, window: s.rate.Interval, left: margin, half: (c.width - margin - 1) / 2}
	now := sc.column(s.now)
	frame(c, sc, rowTop, rowTop+1+lanes, s.rate.Interval)
	for lane := range lanes {
		c.text(1, rowTop+1+lane, dim, fmt.Sprintf("permit %d", lane+1))
	}
	for _, b := range bars {
		drawBar(c, sc, b, rowTop+1+b.lane)
	}
	for y := rowTop + 1; y <= rowTop+lanes; y++ {
		c.text(now, y, bold, "│")
	}
}

// frame draws the window's edges and the seconds.
func frame(c *canvas, sc scale, top, bottom int, window time.Duration) {
	now := sc.column(sc.now)
	for _, y := range []int{top, bottom} {
		c.fill(sc.left, now, y, dim, '─')
	}
	heading := fmt.Sprintf(" the window: the last %v ", window)
	c.text(sc.left+(sc.half-len(heading))/2, top, dim, heading)
	c.text(now, top, bold, "┬ now")
	c.text(now, bottom, bold, "┴")
	for n := -window; n <= window; n += time.Second {
		x := sc.column(sc.now + n)
		if n < 0 {
			c.text(x, bottom, dim, "┴")
		}
		if label := fmt.Sprintf("%+d s", n/time.Second); n != 0 && x+2 < c.width {
			c.text(x-1, bottom+1, dim, label)
		}
	}
}

// drawBar draws one permit: what has been, what counts in the window, until when it is taken, or the place in line.
func drawBar(c *canvas, sc scale, b bar, y int) {
	style := colour(b.who)
	begin, end, now := sc.column(b.from), max(sc.column(b.to), sc.column(b.from)+1), sc.column(sc.now)
	from, to := max(begin, sc.left), min(end, sc.left+2*sc.half+1)
	switch {
	case b.ended:
		c.fill(from, to, y, dim, '·')
		style = dim
	case b.waits:
		c.fill(from, to, y, style, '░')
	default:
		c.fill(from, min(to, now), y, style, '█')
		c.fill(max(from, now), to, y, style, '▒')
	}
	if label := b.who; begin >= sc.left && to-begin > len(label)+1 {
		c.text(begin, y, style, label+" ")
	}
}

func drawFree(c *canvas, s scene) {
	x := c.text(1, rowFree, dim, "free now  ")
	for n := range s.rate.Permits {
		if n < s.free {
			x = c.text(x, rowFree, "1;32", "● ")
		} else {
			x = c.text(x, rowFree, dim, "○ ")
		}
	}
	x = c.text(x+1, rowFree, "", fmt.Sprintf("%d of %d", s.free, s.rate.Permits))
	c.beside(x, rowFree, dim, "█ taken  ▒ until it is back  ░ in line  · back")
}

func drawWorker(c *canvas, y int, now time.Duration, w state) {
	c.text(1, y, colour(w.name)+";1", w.name)
	x := c.text(margin, y, colour(w.name), w.doing(now))
	c.beside(x, y, dim, fmt.Sprintf("%d taken, %d refused, %s in line", w.taken, w.refusals, seconds(w.inLine)))
}

// doing says what a worker does at the moment.
func (w state) doing(now time.Duration) string {
	left := max(0, w.until-now)
	switch w.last {
	case took, turn:
		return fmt.Sprintf("works with %d", w.permits)
	case queued:
		return fmt.Sprintf("waits for %d %s %s", w.permits, gauge(now-w.since, w.until-w.since), seconds(left))
	case refused:
		return fmt.Sprintf("was refused %d, to be had in %s", w.permits, seconds(left))
	case gaveBack:
		return fmt.Sprintf("works, has given %d back", w.permits)
	case wentHome:
		return "has gone home"
	}
	return "rests"
}

// gauge shows how much of a wait is over.
func gauge(part, whole time.Duration) string {
	const width = 12
	n := width
	if part < whole {
		n = int(max(0, part) * width / whole)
	}
	return strings.Repeat("▰", n) + strings.Repeat("▱", width-n)
}

// colour is that of a worker.
func colour(who string) string {
	for _, w := range workers {
		if w.name == who {
			return w.colour
		}
	}
	return ""
}
