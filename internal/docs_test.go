package internal_test

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
	bar     = regexp.MustCompile(`(?:^|[^\\])\|`)
	code    = regexp.MustCompile("`[^`]*`")
	target  = regexp.MustCompile(`\]\([^)]*\)`)
	word    = regexp.MustCompile(`\S*[\p{L}\p{N}]\S*`)

	fence   = regexp.MustCompile("^ *```|^<!-- /?generated")
	unplain = regexp.MustCompile(`(?i:\b(?:whoever|whomever|whatever|whichever|be it|as it is said|(?:comes|came) of it|none is unless)\b)|\b[Nn]obody\b`)
	written = []string{".go", ".md", ".txtar", ".html", ".yml", ".yaml", ".sh", ".json", ".css"}
)

// anchors returns the names that GitHub gives to a page's headings.
func anchors(page string) []string {
	var names []string
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		text := dropped.ReplaceAllString(strings.ToLower(found[1]), "")
		names = append(names, strings.ReplaceAll(text, " ", "-"))
	}
	return names
}

// A reader who follows a link within the project finds the page and the heading.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, page := range pages(t) {
		text := read(t, page)
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(found[1] + found[2])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if target.Scheme != "" {
				continue
			}
			to := page
			if target.Path != "" {
				to = filepath.Join(filepath.Dir(page), target.Path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links %s: %v", page, target, err)
			} else if target.Fragment != "" && !slices.Contains(anchors(read(t, to)), target.Fragment) {
				t.Errorf("%s links %s, which is no heading of %s", page, target, to)
			}
		}
	}
}

// README and quickstart are read in minutes, and each page of docs/ and docs/dev/ is in the index of its folder.
func TestPagesAreShortAndIndexed(t *testing.T) {
	for _, page := range []string{"../README.md", "../docs/quickstart.md"} {
		if words := len(strings.Fields(read(t, page))); words > 700 {
			t.Errorf("%s has %d words, at most 700", page, words)
		}
	}
	for _, page := range pages(t) {
		dir, name := filepath.Split(page)
		if dir == "../" || name == "README.md" {
			continue
		}
		if lines := strings.Count(read(t, page), "\n"); lines > 400 {
			t.Errorf("%s has %d lines, at most 400", page, lines)
		}
		if name != strings.ToLower(name) {
			t.Errorf("%s is not in lower case", page)
		}
		if !strings.Contains(read(t, dir+"README.md"), "("+name+")") {
			t.Errorf("%sREADME.md does not list %s", dir, name)
		}
	}
}

// The user's pages are few, short, shown by examples, and in the index.
func TestUserPagesAreFewAndHaveExamples(t *testing.T) {
	const mostPages, mostWords, leastExamples = 21, 20_000, 3 // examples for 1,000 words
	found, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	index := read(t, "../docs/README.md")
	count, words, examples := 0, 0, 0
	for _, page := range append(found, "../README.md") {
		name := filepath.Base(page)
		if page == "../docs/README.md" {
			continue
		}
		text := read(t, page)
		words += len(strings.Fields(text))
		examples += fencedBlocks(text)
		if page == "../README.md" {
			continue
		}
		count++
		if !strings.Contains(index, "]("+name+")") {
			t.Errorf("docs/README.md does not link %s", name)
		}
	}
	if count > mostPages {
		t.Errorf("docs/ has %d pages, at most %d", count, mostPages)
	}
	if words > mostWords {
		t.Errorf("docs/ and README.md have %d words, at most %d", words, mostWords)
	}
	if examples*1000 < leastExamples*words {
		t.Errorf("docs/ and README.md have %d examples in %d words, at least %d for 1,000", examples, words, leastExamples)
	}
}

// fencedBlocks counts the blocks of code of a page. A block in a block does not count.
func fencedBlocks(page string) int {
	count, open := 0, ""
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case open == "" && len(ticks) >= 3:
			open = ticks
			count++
		case open != "" && line == open:
			open = ""
		}
	}
	return count
}

// The README says what its readers need to know before they trust ralph with a token.
func TestReadmeSaysWhatToTrust(t *testing.T) {
	readme := read(t, "../README.md")
	_, box, _ := strings.Cut(readme, "> **Status and trust**\n")
	box, _, _ = strings.Cut(box, "\n\n")
	for _, topic := range []string{"Tried", "Not tried", "Not for", "Permissions", "To remove it", "License"} {
		if !strings.Contains(box, "> - **"+topic+":** ") {
			t.Errorf("the box of README.md says nothing of %q", topic)
		}
	}
	permissions := regexp.MustCompile(`(?m)^ +[a-z-]+: (?:write|read)(.*)$`).FindAllStringSubmatch(readme, -1)
	if len(permissions) == 0 {
		t.Error("README.md lists no permission")
	}
	for _, found := range permissions {
		if !strings.Contains(found[1], "# ") {
			t.Errorf("README.md does not say what a permission is for: %s", found[0])
		}
	}
}

// A cell of a table is a fact of at most 15 words, where a piece of code is one.
func TestCellsAreShort(t *testing.T) {
	for _, page := range pages(t) {
		fenced := false
		for line := range strings.Lines(read(t, page)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				fenced = !fenced
			}
			if fenced || !strings.HasPrefix(line, "|") {
				continue
			}
			for _, cell := range bar.Split(code.ReplaceAllString(target.ReplaceAllString(line, ""), "name"), -1) {
				if words := word.FindAllString(cell, -1); len(words) > 15 {
					t.Errorf("%s: a cell has %d words, at most 15: %s", page, len(words), cell)
				}
			}
		}
	}
}

// A line of a page is wrapped at 120 columns. Code, tables and what is generated are not.
func TestPagesAreWrapped(t *testing.T) {
	for _, page := range pages(t) {
		fenced := false
		for line := range strings.Lines(read(t, page)) {
			line = strings.TrimSuffix(line, "\n")
			if fence.MatchString(line) {
				fenced = !fenced
			}
			if columns := utf8.RuneCountInString(line); columns > 120 && !fenced && !strings.HasPrefix(strings.TrimSpace(line), "|") {
				t.Errorf("%s: a line has %d columns, at most 120: %s", page, columns, line)
			}
		}
	}
}

// No text and no name has a word that a reader has to look twice at.
func TestWordsArePlain(t *testing.T) {
	if !unplain.MatchString("as nobody knows") || unplain.MatchString("http.NoBody") {
		t.Fatal("the pattern does not find what it should")
	}
	seen := 0
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && base != "." && (base == "node_modules" || base == "dist" || base[0] == '.' && base != ".github"):
			return fs.SkipDir
		case d.IsDir() || !slices.Contains(written, path.Ext(name)) || name == "internal/docs_test.go":
			return nil
		}
		seen++
		number := 0
		for line := range strings.Lines(read(t, filepath.Join("..", name))) {
			if number++; unplain.MatchString(line) {
				t.Errorf("%s:%d: %s", name, number, strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil || seen < 1000 {
		t.Errorf("read %d files: %v", seen, err)
	}
}

func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{"..", "../docs", "../docs/dev", "*"} {
		found, err := filepath.Glob(dir + "/*.md")
		if err != nil || len(found) == 0 {
			t.Fatalf("%s has %d pages: %v", dir, len(found), err)
		}
		all = append(all, found...)
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
