// Package demo shows a limiter at work: three workers compete for 3 permits per 5 seconds, in this process, with nothing to install. They
// use the library as programs do; what is shown comes from the ledger and from what the engine decided.
package demo

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/sluice-rate/sluice"
	"github.com/sluice-rate/sluice/memengine"
)

// The demo ends when all have gone home and their permits are back: one interval after closing time at the latest.
const (
	closing = 16 * time.Second
	apart   = 100 * time.Millisecond // between one's closing time and the next one's, so that their order is certain
	refresh = 50 * time.Millisecond
)

// Options say how the demo is shown. Out is required.
type Options struct {
	Out io.Writer
	// Live draws a picture that moves, for a terminal. Otherwise each event is a line.
	Live bool
	// Colour allows colours in the picture.
	Colour bool
	// Size is how large the terminal is at the moment, in characters. A picture that does not fit is not drawn: then each event
	// is a line. It is needed for Live.
	Size func() (width, height int)
}

// display shows the demo as it goes.
type display interface {
	show(s scene) error
	close() error
}

// Run plays the demo; it takes some twenty seconds. When ctx ends it stops, and returns the context's error.
func Run(ctx context.Context, o Options) error {
	w := &witness{rate: sluice.Per(3, 5*time.Second), begin: time.Now(), Engine: memengine.New(nil)}
	limiter := sluice.New(w).Limiter("demo")
	if err := limiter.SetRate(ctx, sluice.Config{Rate: w.rate}); err != nil {
		return err
	}
	d := o.display()
	err := errors.Join(play(ctx, w, limiter, d), d.close())
	if err != nil {
		return err
	}
	_, err = io.WriteString(o.Out, w.summary())
	return err
}

// play lets the workers work and shows it until all is over.
func play(ctx context.Context, w *witness, limiter *sluice.Limiter, d display) error {
	c := w.hire(ctx)
	defer c.dismiss()
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	for home := c.home; ; {
		s, err := w.scene(ctx, limiter)
		if err == nil {
			err = d.show(s)
		}
		if err != nil || home == nil && s.free == w.rate.Permits {
			return err
		}
		select {
		case <-tick.C:
		case <-home:
			if home = nil; c.err != nil {
				return c.err
			}
		}
	}
}

// crew is the workers at work.
type crew struct {
	cancel context.CancelFunc
	home   chan struct{} // closed when all have gone home
	err    error         // what went wrong; valid from then on
}

// hire sends the workers to work. They go home at closing time, when ctx ends or when they are dismissed.
func (w *witness) hire(ctx context.Context) *crew {
	ctx, cancel := context.WithCancel(ctx)
	c := &crew{cancel: cancel, home: make(chan struct{})}
	errs := make([]error, len(workers))
	var all sync.WaitGroup
	for i, worker := range workers {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, closing+time.Duration(i)*apart)
			defer cancel()
			errs[i] = worker.run(ctx, sluice.New(w, sluice.WithClientID(worker.name)).Limiter("demo"))
			w.goesHome(worker.name)
		})
	}
	go func() { // until all have gone home
		all.Wait()
		c.err = errors.Join(errs...)
		close(c.home)
	}()
	return c
}

// dismiss sends the workers home and waits until they are.
func (c *crew) dismiss() {
	c.cancel()
	<-c.home
}
