package attachment_test

import (
	"image/png"
	"net/url"
	"strings"
	"testing"
	"unicode"

	"github.com/ralph-loop/ralph/internal/agent/attachment"
)

// FuzzAll holds that only GitHub is asked, without credentials, and that a file is taken
// whole or with a reason.
func FuzzAll(f *testing.F) {
	f.Add(`<a href="https://github.com/user-attachments/files/1/a.txt">`, "text")
	var picture strings.Builder
	if err := png.Encode(&picture, drawn()); err != nil {
		f.Fatal(err)
	}
	f.Add(`<img src="https://user-images.githubusercontent.com/1/a.png">`, picture.String())
	f.Add(`<img src="https://github.com/user-attachments/assets/../../x">`, "https://example.com/")
	f.Fuzz(func(t *testing.T, page, body string) {
		w := &web{answers: map[string]string{}}
		for m := range strings.SplitSeq(page, `"`) {
			w.answers[m] = body
		}
		files := w.all(t, page)
		for i, asked := range w.asked {
			at, err := url.Parse(asked)
			if err != nil || at.User != nil || !strings.HasSuffix(at.Hostname(), "github.com") && !strings.HasSuffix(at.Hostname(), ".githubusercontent.com") &&
				!strings.HasSuffix(at.Hostname(), ".s3.amazonaws.com") || w.shown[i] != "" {
				t.Errorf("%q was asked, with %q", asked, w.shown[i])
			}
		}
		if len(files) > 11 {
			t.Errorf("%d files", len(files))
		}
		for _, file := range files {
			check(t, file)
		}
	})
}

func check(t *testing.T, file attachment.File) {
	t.Helper()
	if (file.Data == nil) == (file.Why == "") || strings.ContainsAny(file.Name, "/\\") {
		t.Errorf("%q has %d bytes, because of %q", file.Name, len(file.Data), file.Why)
	}
	if strings.ContainsFunc(file.Label, unicode.IsControl) {
		t.Errorf("the label %q", file.Label)
	}
}
