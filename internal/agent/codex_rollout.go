package agent

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ralph-loop/ralph/internal/stream"
	"github.com/ralph-loop/ralph/internal/untrusted"
)

// rollouts are the files in which Codex notes the usage of a thread after each request; its output has that only at the
// end of a turn. An agent may write to them, so maxRollout limits each reading.
type rollouts struct {
	dir   string // of its sessions
	price pricing
	model string // that a flag or the order names

	mu     sync.Mutex
	thread string
	day    string              // the folder where it begins
	files  map[string]*rollout // by name: an agent can rename folders
	unread unread
	told   stream.Usage
}

// unread counts what Codex printed of a model while its files told nothing. They may be elsewhere, full, closed, switched
// off or removed, now or by an earlier turn. It writes all calls of an answer first, and then nothing until all have ended.
type unread struct{ items, before, after int }

const (
	unreadItems = 10
	unreadTimes = 10 // that its files were read without more lines: five seconds, before an item and after the last
)

func (u *unread) said() {
	if u.before > unreadTimes {
		u.items++
	}
}

func (u *unread) read(grew bool) {
	if u.before++; u.items >= unreadItems {
		u.after++
	}
	if grew {
		*u = unread{}
	}
}

// isLost reports whether it is not known any more what the agent uses.
func (u *unread) isLost() bool { return u.after > unreadTimes }

// lastWords returns the end of an agent without a result: its files will tell no more.
func lastWords(printed Decoder, files interface{ Follow() []stream.Item }, ended func()) []stream.Item {
	items := printed.End()
	if len(items) == 0 {
		return nil
	}
	ended()
	return append(files.Follow(), items...)
}

type rollout struct {
	followed

	model string // the first, which Codex names before a command can
	used  stream.Usage
}

const maxRollout = 8 << 20

func (r *rollouts) setThread(thread string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.thread = thread
}

// said notes that the output has something of a model.
func (r *rollouts) said() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unread.said()
}

// Follow reads what was added, and gives what was used so far where that has changed.
func (r *rollouts) Follow() []stream.Item {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.thread == "" {
		return nil
	}
	sum, left := stream.Spent{Cost: stream.Cost{Known: true}}, mostTime
	r.unread.read(r.readFiles(&left))
	for _, name := range slices.Sorted(maps.Keys(r.files)) { // also those that an agent has removed
		if file := r.files[name]; file.used != (stream.Usage{}) {
			sum = sum.Plus(r.price.spent(cmp.Or(file.model, r.model), file.used))
		}
	}
	if sum.Usage == r.told && !r.unread.isLost() {
		return nil
	}
	r.told, sum.Boundless = sum.Usage, sum.Boundless || r.unread.isLost()
	return []stream.Item{sum}
}

// readFiles reports whether files of the thread have more lines, and all were read: an agent can make any number.
func (r *rollouts) readFiles(left *untrusted.Patience) (grew bool) {
	for _, path := range r.findFiles(left) {
		name := filepath.Base(path)
		file := r.files[name]
		switch {
		case file != nil:
		case len(r.files) >= maxRecent:
			return false
		default:
			file = &rollout{}
			r.files[name] = file
		}
		left.Spend(func() { grew = file.readNewLines(path) || grew })
	}
	return grew
}

// findFiles returns the thread's file, and those that an agent calls so. They lie in folders by year, month and day.
func (r *rollouts) findFiles(left *untrusted.Patience) []string {
	days := subfolders(subfolders(subfolders([]string{r.dir}, left), left), left)
	days = slices.DeleteFunc(days, func(day string) bool { return day < r.day })
	files := slices.DeleteFunc(subfolders(days, left), func(path string) bool {
		return !strings.HasSuffix(path, "-"+r.thread+".jsonl")
	})
	if r.day == "" && len(files) > 0 {
		r.day = filepath.Dir(files[0])
	}
	return files
}

// An agent can make many folders, and links that lead to them through many others.
var (
	mostPaths = 64 << 20 // bytes of paths that are kept at a time
	mostTime  = untrusted.Patience(5 * time.Second)
)

func subfolders(folders []string, patience *untrusted.Patience) (all []string) {
	left := mostPaths
	for _, folder := range folders {
		var entries []os.DirEntry
		patience.Spend(func() { entries, _ = untrusted.ReadDir(folder) }) // one that cannot be read has nothing to tell
		for _, entry := range entries {
			path := filepath.Join(folder, entry.Name())
			if left -= len(path); left < 0 {
				return all
			}
			all = append(all, path)
		}
	}
	return all
}

func (f *rollout) readNewLines(path string) (grew bool) {
	data := f.newLines(path)
	for line := range bytes.Lines(data) {
		f.parseLine(line)
	}
	return len(data) > 0
}

// followed is a file to which an agent's program adds lines.
type followed struct {
	file os.FileInfo
	read int64 // up to here
}

// newLines returns the whole lines that were added.
func (f *followed) newLines(path string) []byte {
	file, err := untrusted.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close() //nolint:errcheck // it was only read
	info, err := file.Stat()
	if err != nil {
		return nil
	}
	skip := f.read > 0 && info.Size()-f.read > maxRollout // no agent writes so much at a time
	switch {
	case f.file != nil && !os.SameFile(f.file, info), info.Size() < f.read:
		f.read = 0 // an agent replaced it, or made it shorter
	case skip:
		f.read = info.Size() - maxRollout
	}
	f.file = info
	data, err := io.ReadAll(io.NewSectionReader(file, f.read, maxRollout))
	if err != nil {
		return nil
	}
	end := bytes.LastIndexByte(data, '\n') + 1
	if end == 0 && len(data) == maxRollout {
		end = len(data) // a line that is too long to be one of those that count
	}
	f.read += int64(end)
	if data = data[:end]; skip {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data
}

type rolloutLine struct {
	Payload struct {
		Type  string `json:"type"`
		Model string `json:"model"`
		Info  struct {
			Total codexUsage `json:"total_token_usage"`
		} `json:"info"`
	} `json:"payload"`
	Type string `json:"type"`
}

func (f *rollout) parseLine(line []byte) {
	if !bytes.Contains(line, []byte(`"token_count"`)) && !bytes.Contains(line, []byte(`"turn_context"`)) {
		return
	}
	var parsed rolloutLine
	ok := readLine(line, &parsed)
	switch total := parsed.Payload.Info.Total.plain(); {
	case !ok:
	case parsed.Type == "turn_context":
		f.model = cmp.Or(f.model, truncate(parsed.Payload.Model, maxID))
	case parsed.Payload.Type == "token_count" && total != (stream.Usage{}):
		f.used = f.used.Max(total.Plausible()) // an agent can write it, too
	}
}
