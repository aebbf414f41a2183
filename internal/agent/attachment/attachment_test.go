package attachment_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-loop/ralph/internal/agent/attachment"
	"github.com/ralph-loop/ralph/internal/lib/clean"
)

// web answers for the hosts that it knows, and notes what was asked.
type web struct {
	answers map[string]string // by address; one that begins with http is a redirect
	asked   []string
	shown   []string // credentials
}

func (w *web) RoundTrip(r *http.Request) (*http.Response, error) {
	w.asked = append(w.asked, r.URL.String())
	w.shown = append(w.shown, r.Header.Get("Authorization")+r.Header.Get("Cookie"))
	body, found := w.answers[r.URL.String()]
	answer := &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Request: r}
	switch {
	case !found:
		answer.StatusCode = http.StatusNotFound
	case strings.HasPrefix(body, "http"):
		answer.StatusCode = http.StatusFound
		answer.Header.Set("Location", body)
	}
	answer.Body = io.NopCloser(strings.NewReader(body))
	return answer, nil
}

// all fetches what a page shows.
func (w *web) all(t *testing.T, page string) []attachment.File {
	t.Helper()
	server, err := url.Parse("https://github.com")
	if err != nil {
		t.Fatal(err)
	}
	return attachment.Fetcher{Server: server, Transport: w}.All(t.Context(), clean.FromHTML(page, 0).Addresses)
}

func drawn() image.Image {
	picture := image.NewRGBA(image.Rect(0, 0, 3, 2))
	picture.Set(1, 1, color.RGBA{R: 200, A: 255})
	return picture
}

func encoded(t *testing.T, encode func(io.Writer, image.Image) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := encode(&out, drawn()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// bomb returns a PNG that says it has so many pixels.
func bomb(t *testing.T, width, height uint32) string {
	t.Helper()
	data := []byte(encoded(t, png.Encode))
	binary.BigEndian.PutUint32(data[16:], width)
	binary.BigEndian.PutUint32(data[20:], height)
	binary.BigEndian.PutUint32(data[29:], crc32.ChecksumIEEE(data[12:29]))
	return string(data)
}

const assets = "https://github.com/user-attachments/assets/"

// A file that a person does not see on the page would instruct the agent alone.
func TestHiddenFiles(t *testing.T) {
	w := &web{answers: map[string]string{assets + "seen": "text", assets + "hidden": "text"}}
	hidden := assets + "hidden"
	got := w.all(t, `<a href="`+hidden+`"></a><a href="`+hidden+`"> &#8203;<b></b></a><img width="1" src="`+hidden+`"><img height="0%" src="`+hidden+`">
<sub><sub><sup><code><a href="`+hidden+`">a</a></code></sup></sub></sub><a href="`+assets+`seen"><i></i> <b>log</b></a><ruby><rp><a href="`+hidden+`">a</a></rp></ruby>`)
	if len(got) != 1 || got[0].Label != "seen" {
		t.Errorf("%+v", got)
	}
}

// Only GitHub's hosts are asked, without a credential, wherever a redirect leads.
func TestHostsThatAreAsked(t *testing.T) {
	pixels := encoded(t, png.Encode)
	w := &web{answers: map[string]string{
		assets + "a": "https://github-production-user-asset-6210df.s3.amazonaws.com/1?sig=x",
		"https://github-production-user-asset-6210df.s3.amazonaws.com/1?sig=x": pixels,
		"https://private-user-images.githubusercontent.com/2.png?jwt=a&b":      pixels,
		assets + "evil":  "https://evil.example/x",
		assets + "plain": "http://user-images.githubusercontent.com/x",
		assets + "meta":  "https://169.254.169.254/latest",
		assets + "loop":  assets + "loop",
		assets + "up":    assets + "../../x",
	}}
	got := w.all(t, `<a href="`+assets+`a"><img src="`+assets+`a"></a>
<img src="https://private-user-images.githubusercontent.com/2.png?jwt=a&amp;b">
<img src="https://evil.example/user-attachments/assets/1"> <img src="http://github.com/user-attachments/assets/1">
<img src="`+assets+`../../x"> <img src="`+assets+`%2e%2e/%2E./y"> <img src="`+assets+`..\..\z">
<img src="https://ada:pass@github.com/user-attachments/assets/1"> <a href="https://github.com/octo/shop/issues/1">
<img src="https://github-production-user-asset-6210df.s3.amazonaws.com/1"> src=`+assets+`bare
<img src="`+assets+`evil"><img src="`+assets+`plain"><img src="`+assets+`meta"><img src="`+assets+`loop"><img src="`+assets+`gone"><img src="`+assets+`up">`)
	var why []string
	for _, f := range got {
		why = append(why, f.Label+": "+f.Why)
	}
	want := []string{
		"a: ", "2.png: ", "evil: it is not on GitHub", "plain: it is not on GitHub", "meta: it is not on GitHub", "loop: it is not on GitHub", "gone: GitHub answered 404",
		"up: it is not on GitHub",
	}
	if diff := cmp.Diff(want, why); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	for _, asked := range w.asked {
		if strings.Contains(asked, "evil.example") || strings.Contains(asked, "169.254") || strings.HasPrefix(asked, "http:") {
			t.Errorf("%s was asked", asked)
		}
	}
	if slices.ContainsFunc(w.shown, func(s string) bool { return s != "" }) {
		t.Errorf("credentials were shown: %q", w.shown)
	}
}

// What a file is, its content says. Pictures are their pixels and nothing else.
func TestContent(t *testing.T) {
	secret := "hidden words behind the picture"
	tests := map[string]struct{ data, name, why string }{
		"png":           {encoded(t, png.Encode) + secret, "attachment-1.png", ""},
		"jpeg":          {encoded(t, func(w io.Writer, i image.Image) error { return jpeg.Encode(w, i, nil) }) + secret, "attachment-1.jpg", ""},
		"gif":           {encoded(t, func(w io.Writer, i image.Image) error { return gif.Encode(w, i, nil) }) + secret, "attachment-1.png", ""},
		"text":          {"line\r\n\u200b\x1b[31mred", "attachment-1.txt", ""},
		"page":          {"<html><script>x</script>", "", "it is neither"},
		"long text":     {strings.Repeat("word ", 100_000), "", "it is neither"},
		"bomb":          {bomb(t, 9_000, 9_000), "", "9000 × 9000 pixels"},
		"many scans":    {encoded(t, func(w io.Writer, i image.Image) error { return jpeg.Encode(w, i, nil) }) + strings.Repeat("\xff\xda\x00\x02", 101), "", "too many scans"},
		"broken":        {encoded(t, png.Encode)[:50], "", "the picture is broken"},
		"larger":        {strings.Repeat("a", 10<<20+1), "", "larger than 10 MiB"},
		"nothing there": {"", "attachment-1.txt", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &web{answers: map[string]string{assets + "x": test.data}}
			got := w.all(t, `<img src="`+assets+`x">`)
			if len(got) != 1 || !strings.Contains(got[0].Why, test.why) || (got[0].Why == "") != (test.why == "") {
				t.Fatalf("files = %+v", got)
			}
			f := got[0]
			if test.why != "" {
				if f.Data != nil {
					t.Error("it has data")
				}
				return
			}
			if f.Name != test.name || bytes.Contains(f.Data, []byte(secret)) || bytes.ContainsAny(f.Data[:min(len(f.Data), 3)], "\x1b") {
				t.Errorf("%s holds %q", f.Name, f.Data)
			}
			if strings.HasSuffix(f.Name, ".txt") {
				if string(f.Data) != strings.NewReplacer("\r", "", "\u200b", "", "\x1b", "").Replace(test.data) {
					t.Errorf("text = %q", f.Data)
				}
				return
			}
			picture, _, err := image.Decode(bytes.NewReader(f.Data))
			if err != nil || picture.Bounds() != drawn().Bounds() {
				t.Errorf("%v, %v", picture, err)
			}
		})
	}
}

func TestAttachmentsAreFew(t *testing.T) {
	w := &web{answers: map[string]string{}}
	page := ""
	for i := range 30 {
		page += `<img src="` + assets + strings.Repeat("x", i+1) + `">`
	}
	got := w.all(t, page)
	if len(w.asked) != 10 || len(got) != 11 || !strings.Contains(got[10].Why, "only 10") {
		t.Errorf("%d asked, %d files, the last %+v", len(w.asked), len(got), got[len(got)-1])
	}
}
