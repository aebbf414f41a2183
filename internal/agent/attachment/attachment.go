// Package attachment fetches the files that people attached to an issue on GitHub. It takes the addresses that the
// issue shows, and returns pictures, encoded again, plain text, and the names of all other files. It sends no token.
package attachment

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ralph-loop/ralph/internal/lib/clean"
	"github.com/ralph-loop/ralph/internal/lib/pattern"
)

const (
	maxFiles = 10
	maxBytes = 10 << 20 // of a file
	maxHops  = 5        // redirects
	patience = time.Minute
)

// File is an attachment.
type File struct {
	Label  string // the name that it has on GitHub
	Name   string // of the file to write, such as attachment-1.png
	Data   []byte
	Digest string // of what GitHub has
	Why    string // it was not taken
}

// Digests returns those of the files that were taken.
func Digests(all []File) []string {
	var digests []string
	for _, file := range all {
		if file.Why == "" {
			digests = append(digests, file.Digest)
		}
	}
	return digests
}

// Known leaves out the files with other digests.
func Known(all []File, digests []string) []File {
	var known []File
	for _, file := range all {
		if file.Why == "" && !slices.Contains(digests, file.Digest) {
			file = File{Label: file.Label, Why: "it was not attached when the plan was made"}
		}
		known = append(known, file)
	}
	return known
}

// Fetcher fetches from GitHub alone. Transport reaches public addresses and Server.
type Fetcher struct {
	Server    *url.URL // GitHub's own pages
	Transport http.RoundTripper
}

// All fetches the files among addresses. A file that cannot be fetched says why.
func (f Fetcher) All(ctx context.Context, addresses []string) []File {
	var all []File
	seen := map[string]bool{}
	for _, address := range addresses {
		link, err := url.Parse(address)
		if err != nil || !f.attached(link) || seen[link.Path] {
			continue
		}
		seen[link.Path] = true
		if len(all) == maxFiles {
			return append(all, File{
				Label: labelOf(link),
				Why:   fmt.Sprintf("only %d attachments are fetched", maxFiles),
			})
		}
		all = append(all, f.take(ctx, link, len(all)+1))
	}
	return all
}

func labelOf(link *url.URL) string { return clean.Inline(path.Base(link.Path), 100) }

// take fetches a file. It says why if the file cannot be fetched or used.
func (f Fetcher) take(ctx context.Context, link *url.URL, number int) File {
	file := File{Label: labelOf(link), Name: fmt.Sprintf("attachment-%d", number)}
	data, err := f.fetch(ctx, link)
	if err != nil {
		file.Why = err.Error()
		return file
	}
	file.Digest = fmt.Sprintf("%x", sha256.Sum256(data))
	content, extension, err := harmless(data)
	if err != nil {
		file.Why = err.Error()
		return file
	}
	file.Data = content
	file.Name += extension
	return file
}

var (
	// hosts are GitHub's own for what people attach, beside the server with its pages.
	hosts = []string{"user-images.githubusercontent.com", "private-user-images.githubusercontent.com"}
	// stores are the hosts to which GitHub redirects.
	stores = pattern.Of(`^(?:objects\.githubusercontent\.com|` +
		`github-production-(?:user-asset|repository-file)-[0-9a-f]+\.s3\.amazonaws\.com)$`)
	pages = pattern.Of(`^/user-attachments/(?:assets|files)/|^/[^/]+/[^/]+/(?:assets|files)/\d+/`)
)

// attached reports whether a link is of something that people attached. A server may resolve "..", and answer with
// another page.
func (f Fetcher) attached(link *url.URL) bool {
	if link.User != nil || path.Clean(link.Path) != link.Path || strings.Contains(link.Path, `\`) {
		return false
	}
	if link.Scheme == "https" && slices.Contains(hosts, link.Host) {
		return true
	}
	return link.Scheme == f.Server.Scheme && link.Host == f.Server.Host && pages.MatchString(link.Path)
}

func isStore(link *url.URL) bool {
	return link.Scheme == "https" && link.User == nil && stores.MatchString(link.Host)
}

var errElsewhere = errors.New("it is not on GitHub")

func (f Fetcher) fetch(ctx context.Context, link *url.URL) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := http.Client{Transport: f.Transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > maxHops {
			return errElsewhere
		}
		if !f.attached(next.URL) && !isStore(next.URL) {
			return errElsewhere
		}
		return nil
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link.String(), nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	switch {
	case errors.Is(err, errElsewhere):
		return nil, errElsewhere
	case err != nil: // whose words may hold a signed address
		return nil, errors.New("GitHub could not be reached")
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GitHub answered %d", answer.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, maxBytes+1))
	switch {
	case err != nil:
		return nil, errors.New("the download was cut off")
	case len(data) > maxBytes:
		return nil, fmt.Errorf("it is larger than %d MiB", maxBytes>>20)
	}
	return data, nil
}
