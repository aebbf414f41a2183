package attachment

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/ralph-loop/ralph/internal/lib/clean"
)

const (
	maxSide   = 10_000
	maxPixels = 16_000_000 // 320 MB in memory, as a progressive JPEG in four colours
	maxScans  = 100        // passes over all pixels that a JPEG may ask for; real ones have about ten
	maxText   = 256 << 10
)

// harmless decides by the content, not by the name or the server.
func harmless(data []byte) ([]byte, string, error) {
	switch kind := http.DetectContentType(data); {
	case kind == "image/png":
		return picture(data, ".png", png.DecodeConfig, png.Decode)
	case kind == "image/jpeg" && bytes.Count(data, []byte{0xff, 0xda}) > maxScans:
		return nil, "", errors.New("the picture has too many scans")
	case kind == "image/jpeg":
		return picture(data, ".jpg", jpeg.DecodeConfig, jpeg.Decode)
	case kind == "image/gif": // its first picture
		return picture(data, ".png", gif.DecodeConfig, gif.Decode)
	case strings.HasPrefix(kind, "text/plain") && utf8.Valid(data) && len(data) <= maxText:
		return []byte(clean.Visible(string(data))), ".txt", nil
	}
	return nil, "", errors.New("it is neither a picture (PNG, JPEG, GIF) nor a short plain text")
}

// picture encodes the pixels again: nothing else of the file stays.
func picture(
	data []byte, extension string,
	config func(io.Reader) (image.Config, error), decode func(io.Reader) (image.Image, error),
) ([]byte, string, error) {
	size, err := config(bytes.NewReader(data))
	if err != nil {
		return nil, "", errors.New("the picture is broken")
	}
	if size.Width > maxSide || size.Height > maxSide || size.Width*size.Height > maxPixels {
		return nil, "", fmt.Errorf("the picture has %d × %d pixels, which is too much", size.Width, size.Height)
	}
	pixels, err := decode(bytes.NewReader(data))
	if err != nil {
		return nil, "", errors.New("the picture is broken")
	}
	var out bytes.Buffer
	if extension == ".jpg" {
		err = jpeg.Encode(&out, pixels, &jpeg.Options{Quality: 90})
	} else {
		err = png.Encode(&out, pixels)
	}
	if err != nil || out.Len() > maxBytes {
		return nil, "", errors.New("the picture cannot be encoded again")
	}
	return out.Bytes(), extension, nil
}
