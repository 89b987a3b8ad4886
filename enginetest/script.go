package enginetest

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// arrow stands between a command and its answer.
const arrow = "=>"

// step is one command of a scenario with the answer that is expected.
type step struct {
	line int
	text string // as written, without the answer
	want string

	verb string
	args []string
	opts map[string]string
}

// parse reads a scenario. What is no command, comments and empty lines, stays with the step that follows as lead.
func parse(file string) (steps []step, leads []string, err error) {
	var lead strings.Builder
	for i, line := range strings.Split(strings.TrimRight(file, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "    "):
			if len(steps) == 0 || lead.Len() > 0 {
				return nil, nil, fmt.Errorf("line %d: an answer without a command", i+1)
			}
			s := &steps[len(steps)-1]
			s.want = strings.TrimPrefix(s.want+"\n"+strings.TrimSpace(line), "\n")
		case line == "" || line[0] == '#':
			lead.WriteString(line + "\n")
		default:
			text, want, _ := strings.Cut(line, arrow)
			s := step{line: i + 1, text: strings.TrimSpace(text), want: strings.TrimSpace(want), opts: make(map[string]string)}
			words := strings.Fields(s.text)
			s.verb = words[0]
			for _, w := range words[1:] {
				if name, value, found := strings.Cut(w, "="); found {
					s.opts[name] = value
				} else {
					s.args = append(s.args, w)
				}
			}
			steps, leads = append(steps, s), append(leads, lead.String())
			lead.Reset()
		}
	}
	return steps, append(leads, lead.String()), nil
}

// render is the file with these answers.
func render(steps []step, leads, answers []string) []byte {
	var b bytes.Buffer
	for i, s := range steps {
		b.WriteString(leads[i])
		switch answer := answers[i]; {
		case answer == "":
			b.WriteString(s.text + "\n")
		case strings.Contains(answer, "\n") || len(answer) > 100:
			b.WriteString(s.text + "\n    " + strings.ReplaceAll(answer, "\n", "\n    ") + "\n")
		default:
			fmt.Fprintf(&b, "%-31s %s %s\n", s.text, arrow, answer)
		}
	}
	b.WriteString(leads[len(steps)])
	return b.Bytes()
}

// badStep is what is wrong with a step's own text; reading it panics with one, and scenario.run reports it.
type badStep string

func (s *step) badf(format string, args ...any) badStep {
	return badStep(fmt.Sprintf("%d: %s: ", s.line, s.text) + fmt.Sprintf(format, args...))
}

func (s *step) arg(i int) string {
	if i >= len(s.args) {
		panic(s.badf("argument %d is missing", i+1))
	}
	return s.args[i]
}

func (s *step) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		panic(s.badf("%v", err))
	}
	return n
}

func (s *step) duration(text string) time.Duration {
	d, err := time.ParseDuration(strings.TrimPrefix(text, "+"))
	if err != nil {
		panic(s.badf("%v", err))
	}
	return d
}

func (s *step) opt(name, otherwise string) string {
	if value, found := s.opts[name]; found {
		return value
	}
	return otherwise
}

// has reports whether a bare word such as "reset" stands among the arguments.
func (s *step) has(word string) bool { return slices.Contains(s.args, word) }

// must ends a test on an error that cannot come.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
