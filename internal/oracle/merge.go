package oracle

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Merge makes one history of the parts that several processes recorded, each
// kind of event sorted by time. The Params are those of the first part. A
// change that several parts have, equal in everything, is one change: each
// process may write down the configuration it knows.
func Merge(parts ...History) History {
	var all History
	for i, p := range parts {
		if i == 0 {
			all.Params = p.Params
		}
		all.Changes = append(all.Changes, p.Changes...)
		all.Grants = append(all.Grants, p.Grants...)
		all.Returns = append(all.Returns, p.Returns...)
		all.Releases = append(all.Releases, p.Releases...)
		all.Claims = append(all.Claims, p.Claims...)
	}
	sortByTime(all.Changes)
	sortByTime(all.Grants)
	sortByTime(all.Returns)
	sortByTime(all.Releases)
	sortByTime(all.Claims)
	all.Changes = unique(all.Changes)
	return all
}

// ReadFiles reads the files of several processes and merges them. Errors are as
// those of [Read] and name the file.
func ReadFiles(names ...string) (History, error) {
	parts := make([]History, len(names))
	var errs []error
	for i, name := range names {
		errs = append(errs, parts[i].readFile(name))
	}
	return Merge(parts...), errors.Join(errs...)
}

func (h *History) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("oracle: read: %w", err)
	}
	defer f.Close() // only read from: nothing to lose
	return h.read(name, f)
}

func sortByTime[E Event](events []E) {
	slices.SortStableFunc(events, func(a, b E) int { return cmp.Compare(a.Time(), b.Time()) })
}

// unique drops repeated changes. Between equal ones there may be others of the
// same moment.
func unique(changes []Change) []Change {
	seen := make(map[Change]bool, len(changes))
	return slices.DeleteFunc(changes, func(c Change) bool {
		dup := seen[c]
		seen[c] = true
		return dup
	})
}
