package githttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// Update is one ref that a push moves.
type Update struct {
	Ref string
	Old string // all zeros: the ref is new
	New string // all zeros: the ref is deleted
}

// request is the head of a push: its updates and how to answer them.
type request struct {
	updates []Update
	banded  bool // the client reads messages and the report from one stream
}

var errPacket = errors.New("malformed packet line")

// readUpdates reads the packet lines before the pack.
func readUpdates(body io.Reader) (request, error) {
	var found request
	for {
		line, err := readPacket(body)
		if errors.Is(err, io.EOF) && len(found.updates) == 0 {
			// An empty body is how git probes for authentication.
			return found, nil
		}
		if err != nil || line == "" {
			return found, err
		}
		command, capabilities, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x00")
		found.banded = found.banded || strings.Contains(capabilities, "side-band-64k")
		if fields := strings.Fields(command); len(fields) == 3 {
			found.updates = append(found.updates, Update{Old: fields[0], New: fields[1], Ref: fields[2]})
		}
	}
}

// readPacket reads one packet line; a flush is empty.
func readPacket(body io.Reader) (string, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(body, head); err != nil {
		return "", err
	}
	size, err := strconv.ParseUint(string(head), 16, 16)
	if err != nil || size > 0 && size < 4 {
		return "", errPacket
	}
	if size == 0 {
		return "", nil
	}
	line := make([]byte, size-4)
	if _, err := io.ReadFull(body, line); err != nil {
		return "", err
	}
	return string(line), nil
}

func packet(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// decline answers a push as a pre-receive hook would: nothing is taken, the
// culprit carries the reason. Of a reason in several lines that is the last; the
// others are said before it, as they stand.
func (q request) decline(w http.ResponseWriter, culprit, reason string) {
	said := "error: " + reason
	if last := strings.LastIndex(reason, "\n"); last >= 0 {
		said, reason = reason[:last], reason[last+1:]
	}
	report := packet("unpack ok\n")
	for _, update := range q.updates {
		why := "pre-receive hook declined"
		if update.Ref == culprit {
			why = reason
		}
		report += packet("ng " + update.Ref + " " + why + "\n")
	}
	report += "0000"
	if q.banded {
		report = packet("\x02"+said+"\n") + packet("\x01"+report) + "0000"
	}
	w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("Content-Length", strconv.Itoa(len(report)))
	// A client that went away is its own test's business.
	_, _ = io.WriteString(w, report)
}

// usual is where distributions keep git's own programs.
var usual = []string{
	"/usr/lib/git-core", "/usr/libexec/git-core", "/usr/local/libexec/git-core", "/opt/homebrew/opt/git/libexec/git-core",
	"/Library/Developer/CommandLineTools/usr/libexec/git-core",
}

// Find returns the first git-http-backend that exists: the candidate, then the
// usual ones; nothing when there is none.
func Find(candidate string) string {
	places := []string{candidate}
	for _, dir := range usual {
		places = append(places, dir+"/git-http-backend")
	}
	for _, place := range places {
		if info, err := os.Stat(place); err == nil && info.Mode().IsRegular() {
			return place
		}
	}
	return ""
}

// configured hands settings to git by its environment, where they count as
// given on the command line, which safe.directory insists on.
func configured(settings []string) []string {
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings))}
	for i, setting := range settings {
		key, value, _ := strings.Cut(setting, "=")
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, value))
	}
	return env
}
