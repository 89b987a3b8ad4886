package demo

import (
	"fmt"
	"time"
)

// kind is what happened.
type kind int

const (
	took     kind = iota // permits, at once
	queued               // for permits that come later
	movedUp              // in the queue, since somebody gave back
	turn                 // has come: the queued permits may be used
	refused              // nothing taken
	gaveBack             // permits that were not used
	left                 // the queue
	returned             // to the limiter: the interval is over
	wentHome             // the worker has ended
)

// event is one thing that happened to one worker.
type event struct {
	at      time.Duration // since the demo began, by the store's clock
	who     string
	kind    kind
	permits int64
	wait    time.Duration // until the turn comes, how long it took to come, or by how much it comes sooner
	free    int64         // permits that could be had afterwards
}

// text says what happened, without when and to whom.
func (e event) text() string {
	switch e.kind {
	case took:
		return fmt.Sprintf("takes %d", e.permits)
	case queued:
		return fmt.Sprintf("waits in line for %d, turn in %s", e.permits, seconds(e.wait))
	case movedUp:
		return fmt.Sprintf("moves up by %s", seconds(e.wait))
	case turn:
		return fmt.Sprintf("takes %d, after %s in line", e.permits, seconds(e.wait))
	case refused:
		return fmt.Sprintf("is refused %d, to be had in %s", e.permits, seconds(e.wait))
	case gaveBack:
		return fmt.Sprintf("gives %d back unused", e.permits)
	case left:
		return "leaves the line"
	case returned:
		return fmt.Sprintf("%d back, taken %s ago", e.permits, seconds(e.wait))
	default:
		return "goes home"
	}
}

// String is the event as a line.
func (e event) String() string {
	return fmt.Sprintf("%7s  %s  %-36s %d free", seconds(e.at), e.who, e.text(), e.free)
}

// seconds is d to a tenth of a second.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
